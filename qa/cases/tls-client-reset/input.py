# SPDX-License-Identifier: GPL-2.0-or-later
"""Two handshakes of TLS 1.3 whose ends are encrypted: a client resets the first, a server the second."""
import importlib.util
import os

from pcapgen import Capture, TcpFlow

PATH = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                    "tls-log", "input.py")
SPEC = importlib.util.spec_from_file_location("tls_log", PATH)
assert SPEC is not None and SPEC.loader is not None
tls = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tls)

TLS_1_3 = tls.extension(43, b"\x03\x04")


def capture():
    cap = Capture()
    for n, side in enumerate((0, 1)):
        flow = TcpFlow(cap, "10.0.0.1", 40000 + n, "10.0.0.2", 443)
        flow.open()
        flow.to_server(tls.client_hello(b"a.example", tls.extension(43, b"\x02\x03\x04")))
        flow.to_client(tls.record(22, tls.server_hello(TLS_1_3)) + tls.record(20, b"\1")
                       + tls.record(23, bytes(64)))
        flow.reset(side)
    cap.wait(5)
    cap.ping("10.0.0.3", "10.0.0.4")
    return cap
