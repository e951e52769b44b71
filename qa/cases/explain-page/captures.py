# SPDX-License-Identifier: GPL-2.0-or-later
"""The captures of doc/explain.md: login.pcap with three requests on a connection, overlap.pcap."""
import importlib.util
import os
import sys

from pcapgen import Capture, TcpFlow

BODY = b"user=admin&pass=s3cret"


def login():
    cap = Capture()
    flow = TcpFlow(cap, "10.0.0.1", 40000, "10.0.0.2", 80)
    flow.open()
    for _ in range(3):
        flow.to_server(b"POST /Login HTTP/1.1\r\nHost: www.example.com\r\nContent-Length: %d\r\n\r\n"
                       % len(BODY) + BODY)
        flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
    flow.close()
    return cap


def overlap():
    path = os.path.join(sys.argv[1], "qa/cases/explain-flow-streams/input.py")
    spec = importlib.util.spec_from_file_location("streams", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.capture()


login().write("login.pcap")
overlap().write("overlap.pcap")
