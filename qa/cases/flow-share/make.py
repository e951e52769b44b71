# SPDX-License-Identifier: GPL-2.0-or-later
"""make.py FILE: twenty clients with flows that overlap, in plain frames, in VLANs, and in a tunnel
whose ends change; errors that quote a flow; fragments; idle times in which flows end."""
import struct
import sys

from pcapgen import Capture, TcpFlow, checksum, dns_query, http_request, http_response

SERVER = "192.0.2.80"


def in_tunnel(frame, end):
    """IP in IP, with another outer source for each packet."""
    tunnel = Capture()
    tunnel.ip(f"172.16.0.{end}", "172.16.1.1", 4, frame[14:])
    return tunnel.frames[0][1]


capture = Capture()
flows = []
for i in range(20):
    client = f"10.0.0.{i + 1}"
    flow = TcpFlow(capture, client, 40000 + i, SERVER, 80)
    flow.open()
    flow.to_server(http_request(f"a{i}.example", f"/{i}"))
    capture.udp(client, 40000, SERVER, 53, dns_query(i, f"b{i}.example"))
    flows.append(flow)
for i, flow in enumerate(flows):          # a router answers with an error that quotes the query
    quoted = Capture()
    quoted.udp(f"10.0.0.{i + 1}", 40000, SERVER, 53, b"query")
    error = struct.pack(">BBHI", 3, 1, 0, 0) + quoted.frames[0][1][14:]
    error = error[:2] + struct.pack(">H", checksum(error)) + error[4:]
    capture.ip(f"203.0.113.{i}", f"10.0.0.{i + 1}", 1, error)
    for at, more in ((0, True), (8, False)):
        capture.ip(f"10.0.0.{i + 1}", SERVER, 17, bytes(8), fragment=at, more=more, ident=i + 9)
for flow in flows[::2]:
    flow.to_client(http_response(b"hello"))
    flow.close()
capture.wait(400)
for i in range(20):
    capture.udp(f"10.0.0.{i + 1}", 40000, SERVER, 53, dns_query(i, f"c{i}.example"))
frames = capture.frames
for n, (when, frame) in enumerate(frames):
    client = frame[29] if frame[26] == 10 else frame[33]        # last byte of its address
    if client % 4 == 1:
        frames[n] = (when, in_tunnel(frame, n % 200))
    elif client % 4 == 2 and n % 2:
        frames[n] = (when, frame[:12] + bytes([0x81, 0, 0, 0]) + frame[12:])
capture.write(sys.argv[1])
