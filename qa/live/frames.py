# SPDX-License-Identifier: GPL-2.0-or-later
"""frames.py CLIENT-NAMESPACE SERVER-NAMESPACE FLOWS: plays HTTP requests over c0 and s0, frame by
frame: each is sent on its side and must come out on the other, unless it asks for /forbidden. Made
by hand, so that the kernel's hash over addresses and ports, which is the same for both directions,
chooses their queue; of its own connections it takes a number that is not."""
import ctypes
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from pcapgen import ACK, Capture, TcpFlow  # noqa: E402


def open_in(namespace, interface):
    with open(f"/run/netns/{namespace}") as f:
        if ctypes.CDLL(None, use_errno=True).setns(f.fileno(), 0) < 0:
            sys.exit(os.strerror(ctypes.get_errno()))
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
    s.bind((interface, 0x0800))
    return s


def passes(cap, ends, timeout):
    """The newest frame of the capture, from the side its addresses say."""
    frame = cap.frames[-1][1]
    side = 0 if frame[26] == 10 else 1
    ends[side].send(frame)
    ends[1 - side].settimeout(timeout)
    try:
        while ends[1 - side].recv(65536) != frame:
            pass
    except TimeoutError:
        return False
    return True


class Played(TcpFlow):
    def __init__(self, ends, number):
        self.played, self.ends_at, self.lost, self.patience = Capture(), ends, 0, 30.0
        super().__init__(self.played, f"10.9.0.{number % 200 + 1}", 20000 + number * 7,
                         "172.16.0.1", 80)

    def send(self, *args, **kw):
        super().send(*args, **kw)
        self.lost += not passes(self.played, self.ends_at, self.patience)


def main():
    home = open("/proc/self/ns/net")
    ends = [open_in(sys.argv[1], "c0"), open_in(sys.argv[2], "s0")]
    ctypes.CDLL(None).setns(home.fileno(), 0)
    lost = 0
    for n in range(int(sys.argv[3])):
        flow = Played(ends, n)
        flow.open()
        flow.to_server(b"GET /index.html?n=%d HTTP/1.1\r\nHost: h\r\n\r\n" % n)
        flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        flow.close()
        lost += flow.lost
    if lost:
        sys.exit(f"{lost} frames are lost")
    for n in range(5):
        flow = Played(ends, 1000 + n)
        flow.open()
        flow.patience = 0.2
        flow.send(0, ACK, b"GET /forbidden HTTP/1.1\r\nHost: h\r\n\r\n")
        if flow.lost != 1:
            sys.exit("what is to be dropped passes" if flow.lost == 0 else "frames are lost")


main()
