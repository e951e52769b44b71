# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# The world in which the commands of a page run: own mounts, network and processes. The engine is
# installed where the package has it, eth0, eth1 and eth2 have traffic from the other end of a cable,
# and one engine watches eth1. Nothing of this outlives the shell.
for program in ping ethtool iptables jq curl tcpdump logrotate; do
    command -v $program > /dev/null || { echo "no $program here"; exit 77; }
done
mount --make-rprivate / && mount -t tmpfs tmpfs "$WORK" || { echo "no mounts of one's own here"; exit 77; }
for directory in etc usr var run root tmp; do
    mkdir -p "$WORK/up/$directory" "$WORK/work/$directory"
done
mkdir "$WORK/page"
cp "$TOP"/qa/samples/quickstart.pcap "$WORK/page/trace.pcap"
for name in busy login; do cp "$WORK/page/trace.pcap" "$WORK/page/$name.pcap"; done
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TOP/qa:$TOP/qa/cases/explain-flow-streams \
    python3 -c 'import input, sys; input.capture().write(sys.argv[1])' "$WORK/page/overlap.pcap"
cp "$TOP/qa/plugins/guess.pcap" "$WORK/page"
rule='alert http any any -> any any (msg:"login"; http.method; content:"POST"; http.uri; content:"/login"; rev:1;'
echo "$rule classtype:misc-activity; sid:2012887;)" > "$WORK/page/local.rules"
echo 'alert tcp any any -> any any (msg:"extra"; content:"some words"; classtype:misc-activity; sid:9; rev:1;)' \
    > "$WORK/page/extra.rules"
cp -r "$TOP/suricata.yaml" "$TOP/rules" "$WORK/page"
mkdir -p "$WORK/page/build-release/src" && cp "$BUILD/src/ids" "$WORK/page/build-release/src"
for directory in etc usr var; do
    mount -t overlay overlay \
        -o "lowerdir=/$directory,upperdir=$WORK/up/$directory,workdir=$WORK/work/$directory" "/$directory" ||
        { echo "no overlay file systems here"; exit 77; }
done
mount -t proc proc /proc
mount --bind /sys /sys && mount -o remount,bind,ro /sys     # the machine's, and not this world's
case $TOP:$BUILD in                 # logs that the pages write to /tmp
*/tmp/*) ;;
*) mount -t tmpfs tmpfs /tmp ;;
esac
mount -t tmpfs tmpfs /run && mkdir -p /run/netns /run/ids

# As the package installs it, whatever the prefix that this build has.
directory_of() { "$BUILD/src/ids" --build-info | sed -n "s/^ *--$1  *//p"; }
id ids > /dev/null 2>&1 || useradd --system --user-group ids
make -s -C "$BUILD" install > "$WORK/install.log" 2>&1 || { cat "$WORK/install.log"; exit 1; }
for name in ids idsc; do ln -sf "$(directory_of prefix)/bin/$name" "/usr/bin/$name"; done
if [ "$(directory_of prefix)" != /usr ]; then
    for directory in log lib; do
        rm -rf "/var/$directory/ids" && ln -s "$(directory_of localstatedir)/$directory/ids" "/var/$directory"
    done
    rm -rf /etc/ids && ln -s "$(directory_of sysconfdir)/ids" /etc/ids
    rm -rf /usr/share/ids && ln -s "$(directory_of datarootdir)/ids" /usr/share/ids
    cp "$(directory_of sysconfdir)/logrotate.d/ids" /etc/logrotate.d/
fi
chown -R ids: "$(directory_of localstatedir)/log/ids"
mkdir -p /var/lib/suricata/rules && cp "$TOP/rules/sample.rules" /var/lib/suricata/rules/suricata.rules
mkdir -p /etc/suricata /usr/share/doc/ids/examples "$(directory_of localstatedir)/run/ids"
sed 's|^#default-rule-path:.*|default-rule-path: /var/lib/suricata/rules|' "$TOP/suricata.yaml" > /etc/suricata/suricata.yaml
cp "$TOP/qa/samples/quickstart.pcap" /usr/share/doc/ids/examples/
echo 'alert icmp any any -> any any (msg:"tutorial: ping"; itype:8; sid:1000001; rev:1;)' > /etc/ids/local.rules
cat "$WORK/page/local.rules" >> /etc/ids/local.rules       # doc/explain.md asks about it

# --- traffic --------------------------------------------------------------------------------------

ip link set lo up
ip netns add other
for n in 0 1 2; do
    ip link add "eth$n" type veth peer name "far$n" netns other
    ip link set "eth$n" up && ip -n other link set "far$n" up
done
ip addr add 192.0.2.2/24 dev eth1
ip -n other addr add 192.0.2.1/24 dev far1
ping -q -i 0.05 192.0.2.1 > /dev/null &
ids -c /etc/ids/ids.yaml -i eth1 --set metrics.enabled=yes --set unix-command.enabled=yes \
    -S /etc/ids/local.rules --set profiling.rules.active=no > "$WORK/engine.log" 2>&1 &
for _ in $(seq 150); do
    idsc uptime > /dev/null 2>&1 && break
    sleep 0.1
done
idsc uptime > /dev/null || { cat "$WORK/engine.log"; exit 1; }

# --- commands that behave otherwise here ----------------------------------------------------------

# A card has queues and descriptors to set, a cable between two namespaces has none.
ethtool() {
    case $1 in
    -L | -G) : ;;
    *) command ethtool "$@" ;;
    esac
}
mkdir "$WORK/bin"
for name in apt systemctl journalctl coredumpctl podman docker suricata-update ssh promtool \
        dpkg-buildpackage make modprobe dpdk-devbind.py dpdk-hugepages.py; do
    printf '#!/bin/sh\nexit 0\n' > "$WORK/bin/$name" && chmod +x "$WORK/bin/$name"
done
PATH=$WORK/bin:$PATH
# The peer's events are ours: the page compares two engines.
suricata() { ids "$@"; }
# What would capture until somebody ends it ends by itself; a run on a file or a test ends anyway.
ids() {
    local more=()
    [[ " $* " != *" /etc/ids/ids.yaml "* ]] || more=("${settings[@]}")
    case " $* " in
    *" -T "* | *" -r "* | *" --plan "* | *" --list"* | *" --lint"*) command ids "$@" "${more[@]}" ;;
    *) timeout --preserve-status --signal=INT 5 ids "$@" "${more[@]}" ;;
    esac
}
tail() {
    case $1 in
    -f) timeout 1 tail "$@" || [ $? = 124 ] ;;
    *) command tail "$@" ;;
    esac
}

# What journalctl would have said is not here to be found.
failed() {
    [ "$first" = journalctl ] || echo "FAILED $page:$at: $1"
}
end_of_page() {
    trap - ERR
    echo "END OF PAGE"
    kill -INT "$(jobs -p)" 2> /dev/null
    exit 0
}

cd "$WORK/page" || exit 1
at=0 first= settings=()
set -m
trap 'failed "$BASH_COMMAND"' ERR
