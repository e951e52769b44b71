# SPDX-License-Identifier: GPL-2.0-or-later
set -e
run() { # directory, value of stats.engine
    mkdir -p "$WORK/$1"
    cat > "$WORK/$1.yaml" <<EOT
%YAML 1.1
---
outputs:
  - eve-log: {enabled: yes, filename: eve.json, types: [{stats: {engine: $2}}]}
logging: {outputs: [{file: {enabled: yes, type: json, filename: messages.json}}]}
EOT
    echo 'alert tcp any any -> any any (msg:"broken"; ttl:abc; sid:1;)' > "$WORK/broken.rules"
    "$IDS" -c "$WORK/$1.yaml" -S "$WORK/broken.rules" -l "$WORK/$1" \
        -r "$QA/samples/quickstart.pcap" > /dev/null 2>&1
}

run as-it-is no
run asked yes
python3 - "$WORK" <<'EOT'
import json, sys
def records(name):
    return [json.loads(line) for line in open(f"{sys.argv[1]}/{name}")]
stats = [e["stats"] for e in records("as-it-is/eve.json") if e["event_type"] == "stats"]
if stats and not any("engine" in s or "inner_lost" in s["decoder"] for s in stats):
    print("stats: no engine, nothing of the decoder that others have not")
if any("inner_lost" in e["stats"]["engine"] for e in records("asked/eve.json")
       if e["event_type"] == "stats"):
    print("asked for: engine")
messages = [e["engine"] for e in records("as-it-is/messages.json")]
print("message:", *sorted(set().union(*messages)))
if any("broken.rules:1:" in m.get("error", "") for m in messages):
    print("place: known")
EOT
