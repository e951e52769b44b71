# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow, http_request, http_response

FIRST = http_request("a.example", "/first", headers=["Mark: mark-1111"])
SECOND = http_request("a.example", "/second", headers=["Mark: mark-2222"])
CHUNKED = ("POST /third HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n"
           "9\r\nmark-3333\r\n0\r\nTrailer: late\r\n\r\n").encode()


def capture():
    cap = Capture()
    port = 40000
    # two requests at once, cut anywhere: in the first one, at its end, in the second one
    data = FIRST + SECOND
    for cut in range(1, len(data), 3):
        flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
        port += 1
        flow.open()
        flow.to_server(data[:cut])
        flow.to_server(data[cut:])
        flow.to_client(http_response(b"thanks") * 2)
        flow.close()
    # all fields are known when the last chunk has come
    for cut in range(1, len(CHUNKED), 3):
        flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
        port += 1
        flow.open()
        flow.to_server(CHUNKED[:cut])
        flow.to_server(CHUNKED[cut:])
        flow.to_client(http_response(b"thanks"))
        flow.close()
    return cap
