# SPDX-License-Identifier: GPL-2.0-or-later
"""A server's flight in two segments, cut after the certificate, within the next record's header, and
within its body. The client's certificate is requested in the last two."""
import importlib.util
import os

from pcapgen import Capture, TcpFlow

PATH = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                    "tls-log", "input.py")
SPEC = importlib.util.spec_from_file_location("tls_log", PATH)
assert SPEC is not None and SPEC.loader is not None
tls = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tls)

CHAIN = tls.message(11, tls.vector(3, tls.vector(3, tls.CERTIFICATE)))
FIRST = tls.record(22, tls.server_hello() + CHAIN)
DONE = tls.record(22, tls.message(14, b""))
REQUEST = tls.record(22, tls.message(13, b"\1\1\0\0\0\0"))


def capture():
    cap = Capture()
    for n, (cut, rest) in enumerate(((0, DONE), (3, DONE), (7, DONE), (0, REQUEST + DONE),
                                     (len(REQUEST), REQUEST + DONE))):
        flow = TcpFlow(cap, "10.0.0.1", 40000 + n, "10.0.0.2", 443)
        flow.open()
        flow.to_server(tls.client_hello(b"a.example"))
        flow.to_client(FIRST + rest[:cut])
        flow.to_client(rest[cut:])
        if REQUEST in rest:
            flow.to_server(tls.record(22, CHAIN))
        flow.to_server(tls.FINISHED)
        flow.to_client(tls.FINISHED)
        flow.close()
    return cap
