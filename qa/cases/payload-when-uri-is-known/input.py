# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow, http_request, http_response

FIRST = http_request("a.example", "/first", headers=["Mark: mark-1111"])
SECOND = http_request("a.example", "/second", headers=["Mark: mark-2222"])
CHUNKED = ("POST /third HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n"
           "9\r\nmark-3333\r\n0\r\nTrailer: late\r\n\r\n").encode()


def cut_anywhere(cap, port, data, answers):
    """A connection for each third byte at which the data can be cut. Returns the next port."""
    for cut in range(1, len(data), 3):
        flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
        port += 1
        flow.open()
        flow.to_server(data[:cut])
        flow.to_server(data[cut:])
        flow.to_client(http_response(b"thanks") * answers)
        flow.close()
    return port


def capture():
    cap = Capture()
    # two requests at once: cut in the first one, at its end, in the second one
    port = cut_anywhere(cap, 40000, FIRST + SECOND, 2)
    # all fields are known when the last chunk has come
    cut_anywhere(cap, port, CHUNKED, 1)
    return cap
