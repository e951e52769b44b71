# SPDX-License-Identifier: GPL-2.0-or-later
import struct
from pcapgen import Capture


def tagged(frame, *vlans):
    tags = b"".join(struct.pack(">HH", 0x8100, vlan) for vlan in vlans)
    return frame[:12] + tags + frame[12:]


def capture():
    cap = Capture()
    for host, vlans in enumerate([[0], [0, 0], [0, 7], []], 1):
        cap.ping(f"10.0.0.{host}", "10.0.1.1")
        when, frame = cap.frames.pop()
        cap.frames.append((when, tagged(frame, *vlans)))
    return cap
