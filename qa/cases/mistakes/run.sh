# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the engine on each mistake; what it says, and its exit status, must be what `expected` has.
set -u
cd "$WORK" || exit 1
say() { printf '%b' "$2" > "$1"; }
tried() {
    echo "== $1"
    shift
    "$IDS" "$@" -l "$OUT" --set classification-file="$SRC/rules/classification.config" \
        --set reference-config-file="$SRC/rules/reference.config" > said 2>&1
    status=$?
    grep -E '^(Error|Warning)' said
    echo "exit $status"
}
read_file() { tried "$1" -c "$SRC/suricata.yaml" -S /dev/null -r "$1"; }
configured() { tried "$1" -T -c "$1" -S /dev/null; }
ruled() { tried "$*" -c "$SRC/suricata.yaml" -S one.rules "$@"; }

cp "$QA/samples/quickstart.pcap" sample.pcap
head -c 3000 sample.pcap > cut.pcap
head -c 60 sample.pcap > cut-early.pcap
printf 'this is no capture, whatever its name says' > garbage.pcap
: > empty.pcap
say tab.yaml '%YAML 1.1\n---\nvars:\n\taddress-groups:\n'
say indent.yaml '%YAML 1.1\n---\nvars:\n  address-groups:\n   A: "1.1.1.1"\n  B: x\n C: y\n'
say mode.yaml '%YAML 1.1\n---\nrunmode: nosuch\n'
say cpu.yaml '%YAML 1.1\n---\nthreading:\n  set-cpu-affinity: yes\n  cpu-affinity:\n'
printf '    - worker-cpu-set:\n        cpu: [ "0-x" ]\n' >> cpu.yaml
say include.yaml '%YAML 1.1\n---\ninclude: none.yaml\n'
say one.rules 'alert tcp any any -> any any (msg:"x"; conten:"a"; sid:1;)\n'

{
    for name in cut.pcap cut-early.pcap garbage.pcap empty.pcap none.pcap; do read_file $name; done
    if [ "$(id -u)" != 0 ]; then
        cp sample.pcap secret.pcap
        chmod 0 secret.pcap
        tried secret.pcap -c "$SRC/suricata.yaml" -S /dev/null -r secret.pcap |
            grep -q 'Permission denied' || echo "secret.pcap: not a word"
    fi
    for name in tab indent mode cpu include none; do configured $name.yaml; done
    ruled -T
    ruled -r sample.pcap --init-errors-fatal
    ruled -r empty.pcap
} > found
diff "$CASE/expected" found
