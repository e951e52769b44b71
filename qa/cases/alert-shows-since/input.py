# SPDX-License-Identifier: GPL-2.0-or-later
import pcapgen


def capture():
    """Mail whose commands are reported on before the rule's turn comes; answers likewise."""
    cap = pcapgen.Capture()
    flow = pcapgen.TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 110)
    flow.open()
    flow.to_client(b"+OK ready\r\n")
    flow.to_server(b"USER somebody\r\n")
    flow.to_client(b"+OK\r\n")
    flow.to_server(b"PASS needle\r\n")
    flow.to_client(b"+OK logged in\r\n")
    for number in range(300):
        flow.to_server(b"NOOP\r\n")
        flow.to_client(b"+OK done %04d\r\n" % number)
    flow.to_client(b"+OK needle\r\n")
    flow.close()
    return cap
