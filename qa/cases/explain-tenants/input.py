# SPDX-License-Identifier: GPL-2.0-or-later
"""The same request in no VLAN, in those of two tenants, and in somebody else's."""
import struct

from pcapgen import Capture, TcpFlow, http_request, http_response


def tagged(frame, vlan):
    return frame[:12] + struct.pack(">HH", 0x8100, vlan) + frame[12:] if vlan else frame


def capture():
    cap = Capture()
    for number, vlan in enumerate([0, 1000, 2000, 3000]):
        first = len(cap.frames)
        flow = TcpFlow(cap, "10.0.0.1", 40000 + number, "10.0.0.2", 80)
        flow.open()
        flow.to_server(http_request("h", f"/x{vlan}"))
        flow.to_client(http_response(b"ok"))
        flow.close()
        cap.frames[first:] = [(when, tagged(frame, vlan)) for when, frame in cap.frames[first:]]
    return cap
