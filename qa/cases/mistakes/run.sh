# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the engine on each mistake; what it says, and its exit status, must be what `expected` has.
set -u
cd "$WORK" || exit 1
say() { printf '%b' "$2" > "$1"; }
tried() {
    echo "== $1"
    shift
    "$IDS" "$@" -l "$OUT" --set classification-file="$SRC/rules/classification.config" \
        --set reference-config-file="$SRC/rules/reference.config" \
        --set security.limit-noproc=no > said 2>&1
    status=$?
    grep -Ei '^(Error|Warning)' said
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
cat > threading.yaml <<'EOT'
%YAML 1.1
---
threading:
  set-cpu-affinity: yes
  detect-thread-ratio: -1
  cpu-affinity:
    worker-cpu-set:
      cpu: [ 99 ]
      mode: exclusiv
      threads: none
      prio: {high: [ 3 ], default: mediun}
    receive-cpu-set:
      cpu: [ "4-2" ]
    management-cpu-set:
      cpu: [ 0 ]
      prio: {low: [ 1 ]}
    nosuch-cpu-set: {cpu: [ 0 ]}
  stack-size: 1
EOT
cat > prio.yaml <<'EOT'
%YAML 1.1
---
threading:
  set-cpu-affinity: yes
  cpu-affinity:
    worker-cpu-set: {cpu: [ "1-3" ], prio: {low: [ 0 ], high: [ 2 ]}}
    management-cpu-set: {cpu: [ 0 ]}
    receive-cpu-set: {cpu: [ 0 ]}
EOT
cat > modes.yaml <<'EOT'
%YAML 1.1
---
runmodes:
  missing: [modules: receive decode, modules: detect output]
  receives-twice: [modules: receive decode, modules: receive stream detect output]
  order: [modules: decode receive stream detect output]
  below-none: [{modules: receive decode stream detect output, threads: -3}]
  no-module: [modules: receive decode stream detct output]
  no-list: {pices: []}
  cut-before-decode:
    - modules: receive
    - {modules: decode, threads: 4}
    - modules: stream detect output
  no-balance: [modules: receive decode, {modules: stream detect output, balance: hsh}]
  workers: [modules: receive decode stream detect output]
threading: {detect-thread-ratio: many}
EOT
cat > outputs.yaml <<'EOT'
%YAML 1.1
---
outputs:
  - dns-log: {enabled: yes}
  - eve-log: {enabled: yes, filetype: regulr}
  - eve-log: {enabled: yes, filename: other.json, threaded: yes, types: [alert, alrt]}
packet-alert-max: 300
EOT
printf '%%YAML 1.1\n---\nflow: {memcap: 12zb}\ndetect: {profile: hgh}\n' > fatal.yaml
printf '%%YAML 1.1\n---\nstats: {interval: soon}\n' > milder.yaml
gzip -nc sample.pcap | head -c 12 > cut.gz
say one.rules 'alert tcp any any -> any any (msg:"x"; conten:"a"; sid:1;)\n'

{
    for name in cut.pcap cut-early.pcap cut.gz garbage.pcap empty.pcap none.pcap; do read_file $name; done
    if [ "$(id -u)" != 0 ]; then
        cp sample.pcap secret.pcap
        chmod 0 secret.pcap
        tried secret.pcap -c "$SRC/suricata.yaml" -S /dev/null -r secret.pcap |
            grep -q 'Permission denied' || echo "secret.pcap: not a word"
    fi
    for name in tab indent mode cpu include none; do configured $name.yaml; done
    # CPUs of a machine that is always the same
    for name in threading prio modes; do
        tried $name.yaml --plan --topology "pack:1 core:4 pu:1" -c $name.yaml -S /dev/null \
            -r sample.pcap
    done
    configured outputs.yaml
    # with the first no run begins; with the second the default holds
    for name in fatal milder; do tried $name.yaml -c $name.yaml -S /dev/null -r sample.pcap; done
    ruled -T
    ruled -r sample.pcap --init-errors-fatal
    ruled -r empty.pcap
    tried "rules, but no detection" -c "$SRC/suricata.yaml" -S one.rules -r sample.pcap --disable-detection
} > found
diff "$CASE/expected" found
