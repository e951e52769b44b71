# SPDX-License-Identifier: GPL-2.0-or-later
import zlib

from pcapgen import Capture, TcpFlow, http_request, http_response


def page(cap, port, name, body):
    flow = TcpFlow(cap, "10.0.0.1", port, "10.0.0.2", 80)
    flow.open()
    flow.to_server(http_request("a.example", "/" + name))
    flow.to_client(http_response(zlib.compress(body, 9, 31), headers=("Content-Encoding: gzip",)))
    flow.close()


def capture():
    cap = Capture()
    page(cap, 40000, "text", b"".join(b"%d squared is %d\n" % (i, i * i) for i in range(2000)))
    for i in range(5):
        page(cap, 40001 + i, f"bomb{i}", b"%d" % i + b"a" * 90000)
    return cap
