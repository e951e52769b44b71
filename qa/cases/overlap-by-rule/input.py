# SPDX-License-Identifier: GPL-2.0-or-later
import pcapgen


def capture():
    """An answer comes once more, long acknowledged and parsed, with other words in it."""
    cap = pcapgen.Capture()
    flow = pcapgen.TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 110)
    flow.open()
    flow.to_client(b"+OK ready\r\n")
    flow.to_server(b"USER somebody\r\n")
    first = flow.seq[1]
    flow.to_client(b"+OK 1\r\n")
    flow.to_server(b"PASS secret\r\n")
    after, flow.seq[1] = flow.seq[1], first - 4
    flow.send(1, pcapgen.PSH | pcapgen.ACK, b"dy\r\n-ERR 1\n")
    flow.seq[1] = after
    flow.to_client(b"+OK needle\r\n")
    flow.to_server(b"QUIT\r\n")
    flow.close()
    return cap
