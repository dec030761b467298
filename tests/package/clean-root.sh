#!/bin/sh
# clean-root.sh DEBS-DIR ROOT: the packages in a real, clean Debian 12 (by hand: debootstrap takes minutes and the network),
# where no systemd runs; boot-root.sh is the same with one.
#   debootstrap --variant=minbase bookworm ROOT && sh tests/package/clean-root.sh DEBS ROOT
# Installs them with apt and so with everything they depend on, starts the daemon as the service would, talks to it, purges,
# and compares the root with what it was. Needs root.
set -eu
debs=$(cd "$1" && pwd) root=$2
fail() { echo "clean root: $*" >&2; exit 1; }
cp "$debs"/*.deb "$root/root/"
cp /etc/resolv.conf "$root/etc/resolv.conf"
in_root() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive HOME=/root "$@"; }
look() { # what a package may not leave: outside the caches and lists of apt and dpkg themselves
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./var/lib/apt -o -path ./var/cache/apt -o -path ./var/log \
        -o -path ./var/lib/dpkg -o -path ./root -o -path ./var/cache/ldconfig -o -path ./tmp \) -prune -o -print |
        grep -vE '^\./etc/(passwd|group|shadow|gshadow|ld\.so\.cache)-?$' | LC_ALL=C sort
        cat etc/passwd etc/group)
}
in_root apt-get update -qq
# What the packages depend on comes first, so that only the packages themselves are compared.
needs=$(for deb in "$debs"/*.deb; do dpkg-deb -f "$deb" Depends; done | tr ',' '\n' | sed 's/(.*//; s/ //g' | grep -vE 'cuzk|^$' | sort -u)
in_root apt-get install -y -qq --no-install-recommends $needs >/dev/null 2>&1
look >/tmp/clean-before.$$
in_root sh -c 'apt-get install -y --no-install-recommends /root/*.deb' >/tmp/clean-install.$$ 2>&1 || { tail -5 /tmp/clean-install.$$; fail "apt does not install them"; }
in_root id cuzk
[ "$(in_root stat -c '%U %a' /var/lib/cuzk)" = "cuzk 750" ] || fail "/var/lib/cuzk is not the user's"
in_root cuzk --version
in_root ldconfig -p | grep -q libcuzk.so.0 || fail "the library is not known to the loader"
in_root sh -c 'CUZK_CACHE=/var/cache/cuzk exec setpriv --reuid=cuzk --regid=cuzk --clear-groups cuzk-daemon --config /etc/cuzk/cuzk.toml' 2>/tmp/clean-log.$$ &
daemon=$!
for _ in $(seq 100); do in_root cuzk status >/dev/null 2>&1 && break; sleep 0.1; done
in_root cuzk status || { cat /tmp/clean-log.$$; fail "the daemon does not answer"; }
in_root cuzk top
[ -e "$root/var/lib/cuzk/jobs.db" ] || fail "there is no store"
pkill -TERM -P $daemon 2>/dev/null || kill -TERM $daemon
wait $daemon || fail "the daemon ended with status $?"
# Enabled where no systemd runs, as in an image that is being made: the purge takes that back as well.
if in_root sh -c 'command -v systemctl >/dev/null'; then in_root systemctl --quiet enable cuzk; fi
in_root apt-get purge -y -qq cuzk libcuzk0 libcuzk-dev >/dev/null 2>&1 || fail "apt does not purge them"
look >/tmp/clean-after.$$
diff /tmp/clean-before.$$ /tmp/clean-after.$$ || fail "purge leaves something behind"
rm -f /tmp/clean-*.$$
echo "clean root: installed, started as the user cuzk, answered, stopped, purged; nothing is left"
