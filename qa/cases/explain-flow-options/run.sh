#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the command line refuses, and a flow that is not there.
flow=10.0.0.1:1-10.0.0.2:2
pcap=$SRC/qa/samples/quickstart.pcap
refuse() {
    $IDS -c "$SRC/suricata.yaml" -l "$OUT" "$@" 2>&1 && echo "taken: $*"
}
refuse --explain-flow 10.0.0.1 -r "$pcap"
refuse --explain-flow "$flow"
refuse --explain-flow "$flow" --explain 1 -r "$pcap"
refuse --json -r "$pcap"
$IDS -c "$SRC/suricata.yaml" -l "$OUT" -S /dev/null --explain-flow "$flow" -r "$pcap"
