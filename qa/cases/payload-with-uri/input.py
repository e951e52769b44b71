# SPDX-License-Identifier: GPL-2.0-or-later
from pcapgen import Capture, TcpFlow, http_request, http_response

BODY = b"x" * 3100 + b"mark-1234\r\n" + b"y" * 3100


def post(path, body=BODY):
    return http_request("a.example", path, method="POST", body=body)


def capture():
    cap = Capture()
    for port, step in ((40001, 1460), (40002, 400), (40003, 10000)):
        flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80, mss=step)
        flow.open()
        for path in ("/first", "/second"):      # one after the other
            flow.to_server(post(path))
            flow.to_client(http_response(b"thanks"))
        # the end of a body and the next request in one segment
        data = post("/first", b"z" * 700) + http_request("a.example", "/third",
                                                          headers=["Mark: mark-5678"])
        flow.to_server(data[:500])
        flow.to_server(data[500:])
        flow.to_client(http_response(b"thanks") * 2)
        flow.close()
    return cap
