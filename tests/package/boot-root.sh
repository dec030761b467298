#!/bin/bash
# boot-root.sh DEBS-DIR ROOT [SRS-DIR]: the packages under a real systemd (by hand: it needs root and, the first time, the
# network). Makes a minimal Debian 12 in ROOT by debootstrap unless one is there, boots its systemd as process 1 of its own
# namespaces (nothing is mounted or started outside of them), and goes the whole way: install, enable, start, watch what the
# unit promises, upgrade, remove, purge, compare the root with what it was. With SRS-DIR (a 2 KiB test SRS, as cuzk setup
# porep-2k --test-srs makes it) a job is killed and proved after the restart.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "boot root: root is needed" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
debs=$(cd "$1" && pwd) root=$2 srs=${3:-}
log=$(mktemp -d)
boot="" init=""
fail() {
    echo "boot root: $*" >&2
    if [ -n "$init" ]; then inside journalctl --no-pager -n 30 >&2 || true; fi
    exit 1
}
step() { printf '%4d s  %s\n' $SECONDS "$*"; }
# A systemd that is process 1 obeys no ordinary signal; with it everything in its namespace ends.
end() {
    if [ -n "$init" ]; then kill -KILL "$init" 2>/dev/null || true; fi
    if [ -n "$boot" ]; then kill -KILL "$boot" 2>/dev/null || true; wait "$boot" 2>/dev/null || true; fi
    rm -rf "$log"
}
trap end EXIT
clean='env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive HOME=/root LC_ALL=C.UTF-8 SYSTEMD_PAGER='
inside() { nsenter --target "$init" --mount --uts --ipc --net --pid --cgroup --root --wd $clean "$@"; }
wait_for() { # wait_for SECONDS WHAT COMMAND...: until the command succeeds
    local n=$(($1 * 5)) what=$2
    shift 2
    while ! "$@" >/dev/null 2>&1; do
        n=$((n - 1))
        [ $n -gt 0 ] || fail "not in time: $what"
        sleep 0.2
    done
}

if [ ! -e "$root/usr/bin/dpkg" ]; then
    step "debootstrap"
    debootstrap --variant=minbase bookworm "$root" >"$log/debootstrap" || { tail -3 "$log/debootstrap"; fail "no Debian in $root"; }
fi
root=$(cd "$root" && pwd)
step "what the packages depend on, and systemd"
cp /etc/resolv.conf "$root/etc/resolv.conf"
needs=$(for deb in "$debs"/*.deb; do dpkg-deb -f "$deb" Depends; done | tr ',' '\n' | sed 's/(.*//; s/|.*//; s/ //g' | grep -vE 'cuzk|^$' | sort -u)
in_root() { chroot "$root" $clean "$@"; }
in_root apt-get update -qq &>/dev/null
in_root apt-get install -y -qq --no-install-recommends systemd dbus libnss-systemd $needs >"$log/needs" 2>&1 || { tail -3 "$log/needs"; fail "apt does not install $needs"; }

if grep -q '^Package: cuzk$' "$root/var/lib/dpkg/status"; then in_root apt-get purge -y -qq cuzk libcuzk0 &>/dev/null; fi # of an earlier run

step "boot"
cat >"$log/init" <<'END'
set -e
root=$1 log=$2 debs=$3 srs=$4
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/sys/fs/cgroup" 2>/dev/null || true
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for n in null zero full random urandom tty; do
    touch "$root/dev/$n"
    mount --bind "/dev/$n" "$root/dev/$n"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
mount -t tmpfs tmpfs "$root/dev/shm"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mkdir "$root/run/debs" "$root/run/srs"
mount --bind "$debs" "$root/run/debs"
[ -z "$srs" ] || mount --bind "$srs" "$root/run/srs"
cd "$root"
exec env -i container=chroot PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$root" /lib/systemd/systemd --log-target=journal
END
unshare --pid --mount --cgroup --uts --ipc --net --fork --kill-child sh "$log/init" "$root" "$log" "$debs" "$srs" >"$log/boot" 2>&1 </dev/null &
boot=$!
wait_for 10 "a process 1" grep -q . "/proc/$boot/task/$boot/children"
init=$(tr -d ' ' <"/proc/$boot/task/$boot/children")
state() { case $(inside systemctl is-system-running) in running | degraded) ;; *) return 1 ;; esac; }
wait_for 120 "systemd is up ($(cat "$log/boot"))" state
[ "$(inside cat /proc/1/comm)" = systemd ] || fail "process 1 is not systemd"
inside systemd-detect-virt --container >/dev/null || true
inside systemctl --version | head -1

look() { # outside what apt, dpkg, the loader, the log and systemd itself keep
    inside sh -c 'cd / && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./var/lib/apt -o -path ./var/cache/apt \
        -o -path ./var/log -o -path ./var/lib/dpkg -o -path ./root -o -path ./var/cache/ldconfig -o -path ./var/lib/systemd/catalog \
        -o -path ./tmp -o -path ./var/tmp \) -prune -o -print | grep -vE "^\./etc/(passwd|group|shadow|gshadow|ld\.so\.cache)-?$"
        find /run -name "*cuzk*"; cat /etc/passwd /etc/group' | LC_ALL=C sort
}
look >"$log/before"

step "install: nothing is started by itself"
inside sh -c 'apt-get install -y --no-install-recommends /run/debs/cuzk_*.deb /run/debs/libcuzk0_*.deb' >"$log/install" 2>&1 || { tail -5 "$log/install"; fail "apt does not install them"; }
inside cuzk --version
! inside systemctl is-active cuzk >/dev/null || fail "the service was started"
! inside systemctl is-enabled cuzk >/dev/null 2>&1 || fail "the service was enabled"
inside systemd-analyze verify --man=no cuzk.service || fail "systemd does not like the unit"
inside systemd-analyze security --no-pager cuzk.service | tail -1

step "enable and start"
if [ -n "$srs" ]; then
    inside sh -c 'mkdir -p /var/tmp/filecoin-proof-parameters && cp /run/srs/TEST-*032d3138* /var/tmp/filecoin-proof-parameters/'
    inside sed -i 's|^param_cache = .*|&\nallow_test = true|' /etc/cuzk/cuzk.toml
fi
inside systemctl enable --now cuzk || fail "it does not start"
show() { inside systemctl show -p "$1" --value cuzk; }
main() { show MainPID; }
[ "$(inside stat -c %U "/proc/$(main)")" = cuzk ] || fail "it does not run as the user cuzk"
[ "$(show WatchdogUSec)" = 1min ] || fail "there is no watchdog"
[ "$(inside stat -c '%U %a' /run/cuzk)" = "cuzk 750" ] || fail "/run/cuzk is not the user's"
inside cuzk status || fail "it does not answer"
inside cuzk top --once | head -1
inside test -e /var/lib/cuzk/jobs.db || fail "there is no store"
inside setpriv --reuid=cuzk --regid=cuzk --clear-groups cuzk doctor --cache-dir /var/cache/cuzk >"$log/doctor" || [ -z "$srs" ] || { cat "$log/doctor"; fail "the doctor finds a problem"; }
grep -E '^(problem|ok +(port|store|configuration))' "$log/doctor"

step "reload; hang, and be ended by the watchdog; start again"
inside systemctl reload cuzk
wait_for 20 "the configuration is read again" inside sh -c 'journalctl -u cuzk | grep -q "configuration read again"'
inside sh -c 'mkdir -p /run/systemd/system/cuzk.service.d && printf "[Service]\nWatchdogSec=4\nRestartSec=1\n" >/run/systemd/system/cuzk.service.d/quick.conf'
inside systemctl daemon-reload
inside systemctl restart cuzk
was=$(main)
inside sh -c "kill -STOP $was"
restarted() { [ "$(main)" != "$was" ] && [ "$(main)" != 0 ] && inside cuzk status; }
wait_for 120 "systemd ends a daemon that hangs and starts another" restarted
inside sh -c 'journalctl -u cuzk | grep -qi watchdog' || fail "the journal does not name the watchdog"
inside sh -c 'rm -r /run/systemd/system/cuzk.service.d && systemctl daemon-reload && systemctl restart cuzk'

if [ -n "$srs" ]; then
    step "a job that was accepted outlives a kill"
    xz -dc "$here/../data/porep-2k-v1_1-1/c1.json.xz" | inside sh -c 'cat >/tmp/c1.json'
    id=$(inside cuzk submit porep --c1 /tmp/c1.json --miner-id 1000)
    was=$(main)
    inside sh -c "kill -KILL $was"
    wait_for 120 "it starts again" restarted
    inside cuzk submit porep --c1 /tmp/c1.json --miner-id 1000 --wait --out /tmp/proof >"$log/again" || { cat "$log/again"; fail "the job is lost: $id"; }
    inside cuzk verify porep --c1 /tmp/c1.json --miner-id 1000 --params /var/tmp/filecoin-proof-parameters --allow-test-srs --proof /tmp/proof
fi

step "a configuration that cannot be used: no restart"
inside sh -c 'cp /etc/cuzk/cuzk.toml /tmp/kept && echo "[scheduler]
order = \"sideways\"" >>/etc/cuzk/cuzk.toml'
! inside systemctl restart cuzk 2>/dev/null || fail "it starts with an unusable configuration"
sleep 7 # more than RestartSec
[ "$(show ActiveState) $(show ExecMainStatus) $(show NRestarts)" = "failed 2 0" ] || fail "it is started again: $(show ActiveState) $(show ExecMainStatus) $(show NRestarts)"
inside cp /tmp/kept /etc/cuzk/cuzk.toml
inside systemctl reset-failed cuzk
inside systemctl start cuzk

step "upgrade: the service goes on"
was=$(main)
inside sh -c 'apt-get install -y --reinstall --no-install-recommends -o Dpkg::Options::=--force-confold /run/debs/cuzk_*.deb' >"$log/upgrade" 2>&1 || { tail -5 "$log/upgrade"; fail "no upgrade"; }
restarted || fail "the service is not restarted by an upgrade"
inside systemctl is-enabled cuzk >/dev/null || fail "an upgrade disables the service"

step "remove: stopped, disabled; jobs and configuration stay"
inside apt-get remove -y cuzk >"$log/remove" 2>&1 || { tail -5 "$log/remove"; fail "no removal"; }
! inside pidof cuzk-daemon || fail "the daemon still runs"
! inside find /etc/systemd/system -name 'cuzk*' | grep . || fail "the service is still enabled"
inside test -e /var/lib/cuzk/jobs.db -a -e /etc/cuzk/cuzk.toml || fail "remove took configuration or jobs"

step "purge: nothing is left"
inside apt-get purge -y cuzk libcuzk0 >"$log/purge" 2>&1 || { tail -5 "$log/purge"; fail "no purge"; }
inside systemctl reset-failed
! inside systemctl list-units --all --no-legend 'cuzk*' | grep . || fail "systemd still knows the unit"
look >"$log/after"
diff "$log/before" "$log/after" || fail "purge leaves something behind"
step "installed, started, hung, killed, upgraded, removed, purged; nothing is left"
