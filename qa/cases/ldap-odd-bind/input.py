# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow

BIND = bytes.fromhex("3013020101600e0201030407636e3d616e6f6e8000")
BOUND = bytes.fromhex("300c02010161070a010004000400")
NTLM = bytes.fromhex("3014020102600f02010304008a084e544c4d53535000")


def capture():
    """A bind, then one with a choice of Windows."""
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 389)
    flow.open()
    flow.to_server(BIND)
    flow.to_client(BOUND)
    flow.to_server(NTLM)
    flow.to_client(BOUND.replace(b"\2\1\1", b"\2\1\2", 1))
    flow.close()
    return cap
