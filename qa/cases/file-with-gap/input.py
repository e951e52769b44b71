# SPDX-License-Identifier: GPL-2.0-or-later
import pcapgen


def response(cap, port, length, missing):
    """A body of numbered words, of which the pieces in `missing` never came."""
    flow = pcapgen.TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
    flow.open()
    flow.send(0, pcapgen.PSH | pcapgen.ACK, b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
    flow.send(1, pcapgen.ACK, b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % length)
    flow.send(0, pcapgen.ACK, b"")
    for at in range(0, length, 800):
        piece = b"".join(b"%07d " % n for n in range(at // 8, (at + 800) // 8))
        if at in missing:
            flow.seq[1] += len(piece)
        else:
            flow.send(1, pcapgen.PSH | pcapgen.ACK, piece)
        flow.send(0, pcapgen.ACK, b"")
    flow.close()


def capture():
    cap = pcapgen.Capture()
    response(cap, 40000, 8000, (1600,))
    response(cap, 40001, 8000, (4800,))
    return cap
