# SPDX-License-Identifier: GPL-2.0-or-later
"""pause.py: how long datagrams wait on their way through an engine.

`reflect PORT` sends each datagram back, and takes TCP connections without reading from them. `open ADDRESS FLOWS` opens so many flows: TCP connections to
port 9, kept open with half a line sent, as far as the process may have files, the rest datagrams to
ports of their own; it prints "open" and stays. `probe ADDRESS STOP TICKS` sends a datagram to port 9
each 0.5 ms until the file STOP exists. The file TICKS says "begin N" or "end N"; after each end the
probe prints the median round trip of the time before the beginning, the longest one since, and how
many datagrams never came back, all in microseconds."""
import os
import resource
import socket
import statistics
import struct
import sys
import threading
import time

INTERVAL = 0.0005           # seconds between two datagrams
PATIENCE = 2                # seconds after which a datagram counts as lost


def hold(port):
    listener = socket.create_server(("", port), backlog=4096)
    connections = []
    while True:
        connections.append(listener.accept()[0])


def allow_files():
    """All that the system allows; how many that is."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def reflect(port):
    allow_files()
    threading.Thread(target=hold, args=(port,), daemon=True).start()
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    s.bind(("", port))
    while True:
        data, peer = s.recvfrom(64)
        s.sendto(data, peer)


def open_flows(address, count):
    connections = []
    for _ in range(min(count, allow_files() - 100, 20000)):
        s = socket.create_connection((address, 9), 10)
        s.sendall(b"half a line")
        connections.append(s)
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for i in range(count - len(connections)):
        s.sendto(b"open", (address, 1024 + i % 60000))
        if i % 100 == 99:
            time.sleep(0.01)
    print("open", flush=True)
    threading.Event().wait()


class Probe:
    def __init__(self, address):
        self.address = (address, 9)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self.socket.settimeout(0.2)
        self.sent = {}              # number: when
        self.trips = []             # (when sent, seconds)
        self.stopped = False

    def receive(self):
        while not self.stopped:
            try:
                (number,) = struct.unpack("!Q", self.socket.recv(64))
            except TimeoutError:
                continue
            at = self.sent.pop(number, None)
            if at is not None:
                self.trips.append((at, time.monotonic() - at))

    def send(self, stop):
        number = 0
        while not os.path.exists(stop):
            for _ in range(100):
                self.sent[number] = time.monotonic()
                self.socket.sendto(struct.pack("!Q", number), self.address)
                number += 1
                time.sleep(INTERVAL)
        self.stopped = True

    def report(self, name, begun):
        """Of the datagrams so far; they are forgotten."""
        now = time.monotonic()
        while self.sent and time.monotonic() < now + PATIENCE and min(self.sent.values()) < now:
            time.sleep(0.05)
        lost = [n for n, at in list(self.sent.items()) if at < now]
        trips, self.trips = self.trips, []
        for n in lost:
            self.sent.pop(n, None)
        quiet = [trip for at, trip in trips if at < begun] or [0]
        since = [trip for at, trip in trips if begun <= at < now] or [0]
        print(f"{name}: round trip {statistics.median(quiet) * 1e6:.0f} us, longest "
              f"{max(quiet) * 1e6:.0f} before and {max(since) * 1e6:.0f} in the hand-over, "
              f"{len(lost)} lost", flush=True)


def probe(address, stop, ticks):
    p = Probe(address)
    threads = [threading.Thread(target=p.receive), threading.Thread(target=p.send, args=(stop,))]
    for thread in threads:
        thread.start()
    seen, begun = None, time.monotonic()
    print("probing", flush=True)
    while not p.stopped:
        time.sleep(0.005)
        if not os.path.exists(ticks):
            continue
        with open(ticks) as f:
            text = f.read().strip()
        if text == seen:
            continue
        seen = text
        what, name = text.split()
        if what == "begin":
            begun = time.monotonic()
        else:
            p.report(name, begun)
    for thread in threads:
        thread.join()


if sys.argv[1] == "reflect":
    reflect(int(sys.argv[2]))
elif sys.argv[1] == "open":
    open_flows(sys.argv[2], int(sys.argv[3]))
elif sys.argv[1] == "probe":
    probe(*sys.argv[2:5])
else:
    sys.exit(__doc__)
