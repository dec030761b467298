#!/bin/sh
# check.sh SOURCE BUILD: makes the Debian packages, installs them into an empty root by dpkg, uses what is there, removes
# them again: nothing may be left. Needs root for the second half (without it only the packages' contents are checked).
set -eu
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "package: $*" >&2; exit 1; }
"$source/scripts/package" "$build" "$work/debs" >"$work/list"
for name in cuzk libcuzk0 libcuzk-dev; do
    grep -q "/${name}_[0-9.]*_[a-z0-9]*\.deb$" "$work/list" || fail "there is no package $name"
done
while read -r deb; do dpkg-deb --contents "$deb"; done <"$work/list" >"$work/contents"
for path in usr/bin/cuzk usr/bin/cuzk-bench usr/bin/cuzk-daemon lib/systemd/system/cuzk.service etc/cuzk/cuzk.toml \
    usr/share/man/man1/cuzk.1.gz usr/share/man/man1/cuzk-daemon.1.gz usr/share/man/man1/cuzk-bench.1.gz \
    usr/share/man/man5/cuzk.toml.5.gz usr/include/cuzk/cuzk.h; do
    grep -q " \./$path\$" "$work/contents" || fail "$path is in no package"
done
awk '{ print $2 }' "$work/contents" | grep -qv '^root/root$' && fail "a file is not root's"
grep -E '^-' "$work/contents" | awk '{ print $6 }' | sort | uniq -d | grep . && fail "a file is in two packages"
for deb in $(cat "$work/list"); do # every package says what it needs
    dpkg-deb -f "$deb" Depends | grep -q . || fail "$deb depends on nothing"
done
dpkg-deb -f "$work"/debs/cuzk_*.deb Depends | grep -q 'libgrpc29.*libprotobuf-c1\|libprotobuf-c1.*libgrpc29' || fail "cuzk does not depend on gRPC"

mkdir "$work/x" && dpkg-deb -x "$work"/debs/cuzk_*.deb "$work/x"
if command -v man >/dev/null; then
    for page in "$work"/x/usr/share/man/man*/*.gz; do
        LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings=w -l "$page" >"$work/page" 2>"$work/warnings"
        if [ -s "$work/warnings" ]; then head -5 "$work/warnings"; fail "$page has warnings"; fi
        grep -q NAME "$work/page" || fail "$page is no manual page"
    done
    man -l "$work/x/usr/share/man/man1/cuzk.1.gz" | grep -q 'top' || fail "the manual page lacks a command"
fi
if command -v systemd-analyze >/dev/null; then # the unit's program must exist where it says
    sed "s|=/usr/bin/cuzk-daemon|=$work/x/usr/bin/cuzk-daemon|" "$work/x/lib/systemd/system/cuzk.service" >"$work/cuzk.service"
    systemd-analyze verify --man=no "$work/cuzk.service" 2>"$work/verify" || true
    if grep -i 'cuzk.service' "$work/verify"; then fail "systemd does not like the unit"; fi
fi
"$work/x/usr/bin/cuzk" config check "$work/x/etc/cuzk/cuzk.toml" || fail "the packaged configuration is not valid"

[ "$(id -u)" = 0 ] || { echo "package: not root, so nothing is installed"; exit 0; }
root=$work/root
mkdir -p "$root/etc" "$root/var/cache" "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/triggers"
: >"$root/var/lib/dpkg/status"
echo "root:x:0:0:root:/root:/bin/sh" >"$root/etc/passwd"
echo "root:x:0:" >"$root/etc/group"
: >"$root/etc/shadow"
: >"$root/etc/gshadow"
look() { (cd "$root" && find . -path ./var/lib/dpkg -prune -o -path ./var/log -prune -o -print | grep -vE '^\./etc/(passwd|group|shadow|gshadow)-?$' | LC_ALL=C sort; cat etc/passwd etc/group); }
look >"$work/before"
# The root is empty: what the packages depend on is missing there and is not what is tested.
dpkg() { command dpkg --root="$root" --force-depends --force-script-chrootless "$@" >"$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log"; fail "dpkg $1"; }; }
dpkg --install $(cat "$work/list")
[ "$(command dpkg-query --admindir="$root/var/lib/dpkg" -W -f='${db:Status-Abbrev}' cuzk)" = "ii " ] || fail "cuzk is not configured"
grep -q '^cuzk:x:[0-9]*:[0-9]*:.*:/usr/sbin/nologin' "$root/etc/passwd" || fail "there is no user cuzk"
uid=$(awk -F: '$1 == "cuzk" { print $3 }' "$root/etc/passwd")
[ "$(stat -c '%u %a' "$root/var/lib/cuzk")" = "$uid 750" ] || fail "/var/lib/cuzk is not the user's"
"$root/usr/bin/cuzk" --version | grep -q cuzk
touch "$root/var/lib/cuzk/jobs.db" "$root/var/cache/cuzk/x"
dpkg --install "$work"/debs/cuzk_*.deb # over itself: an upgrade
[ -e "$root/var/lib/cuzk/jobs.db" ] || fail "an upgrade loses the jobs"
names=$(sed 's|.*/\([^_]*\)_.*|\1|' "$work/list" | tac)
dpkg --remove $names
[ -e "$root/etc/cuzk/cuzk.toml" ] && [ -e "$root/var/lib/cuzk/jobs.db" ] || fail "remove took configuration or jobs"
dpkg --purge $names
look >"$work/after"
diff "$work/before" "$work/after" || fail "purge leaves something behind"
echo "package: made, installed, used, purged; nothing is left"
