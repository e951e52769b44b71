# SPDX-License-Identifier: GPL-2.0-or-later
set -e
mkdir "$WORK/log" "$WORK/log/there"
chmod 711 "$WORK"
chmod 755 "$WORK/log"
cat > "$WORK/user.yaml" <<EOT2
%YAML 1.1
---
outputs:
  - file-store: {version: 2, enabled: yes, force-filestore: yes, dir: new/filestore}
  - tls-store: {enabled: yes, certs-log-dir: certificates}
  - http-body-data: {enabled: yes, type: dir}
  - eve-log: {enabled: yes, filename: there/eve.json, types: [alert]}
EOT2
# Only the old user can read the capture: it is opened first. Everything is written as the new one.
install -m 600 "$QA/samples/quickstart.pcap" "$WORK/root.pcap"
"$IDS" -c "$WORK/user.yaml" -S /dev/null -l "$WORK/log" -r "$WORK/root.pcap" \
    --user nobody -k none > "$WORK/said" 2>&1 || cat "$WORK/said"
cd "$WORK/log"
owner() { stat -c %U "$1"; }
echo "filestore: $(owner new), $(find new/filestore -type d -user nobody | wc -l) directories of nobody"
echo "certificates: $(owner certificates)"
echo "bodies: $(owner http)"
echo "stored: $(find new/filestore -type f | wc -l), of another user: \
$(find new/filestore ! -user nobody | wc -l)"
echo "a directory that was there: $(owner there)"
