# SPDX-License-Identifier: GPL-2.0-or-later
# stats-8.0.6 has the members of `stats` in the schema of Suricata 8.0.6, which allows no others.
set -e
run() { # directory, value of stats.engine
    mkdir -p "$WORK/$1"
    cat > "$WORK/$1.yaml" <<EOT
%YAML 1.1
---
stats: {decoder-events: yes, stream-events: yes}
exception-policy: auto
stream: {midstream: yes, memcap-policy: drop-flow, reassembly: {memcap-policy: drop-flow}}
defrag: {memcap-policy: drop-packet}
flow: {memcap-policy: drop-packet, elephant: {action: sample}}
app-layer: {error-policy: drop-flow, protocols: {llmnr: {enabled: yes}}}
outputs:
  - eve-log:
      enabled: yes
      filename: eve.json
      types: [alert, {stats: {totals: yes, threads: yes, deltas: yes, engine: $2}}]
  - file-store: {version: 2, enabled: yes}
  - pcap-log: {enabled: yes, filename: log.pcap}
logging: {outputs: [{file: {enabled: yes, type: json, filename: messages.json}}]}
EOT
    echo 'alert tcp any any -> any any (msg:"broken"; ttl:abc; sid:1;)' > "$WORK/broken.rules"
    "$IDS" -c "$WORK/$1.yaml" -S "$WORK/broken.rules" -l "$WORK/$1" --simulate-ips \
        -r "$QA/samples/quickstart.pcap" > /dev/null 2>&1
}

run as-it-is no
run asked yes
python3 "$CASE/members.py" "$CASE/stats-8.0.6" "$WORK" "$SRC/src"
