# SPDX-License-Identifier: GPL-2.0-or-later
"""Three datagrams of one flow, each in a packet of GRE, which has no flow."""
import struct

from pcapgen import Capture

cap = Capture()
for _ in range(3):
    cap.udp("10.0.0.1", 1000, "10.0.0.2", 2000, b"hello")
    when, frame = cap.frames.pop()
    inner = frame[14:]
    outer = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 24 + len(inner), 1, 0, 64, 47, 0,
                        bytes([192, 0, 2, 1]), bytes([192, 0, 2, 2]))
    cap.frames.append((when, frame[:14] + outer + struct.pack(">HH", 0, 0x0800) + inner))
cap.write("in.pcap")
