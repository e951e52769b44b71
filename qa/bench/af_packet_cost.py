#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""af_packet_cost.py TRACE ENGINE ARGUMENT...: starts the engine, sends the capture into b0, and prints
the CPU time of the thread W#01 for a packet, in ns. Used by `dpdk`."""
import glob
import socket
import struct
import subprocess
import sys
import time


def frames(path):
    with open(path, "rb") as f:
        data = f.read()
    at = 24
    while at + 16 <= len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        yield data[at + 16:at + 16 + length]
        at += 16 + length


def worker(pid):
    """CPU time of the first worker in ns; None: it does not run."""
    for path in glob.glob(f"/proc/{pid}/task/*/comm"):
        with open(path, encoding="utf-8") as f:
            if not f.read().startswith("W#01"):
                continue
        with open(path.replace("comm", "schedstat"), encoding="utf-8") as f:
            return int(f.read().split()[0])
    return None


def main():
    todo = [frame for frame in frames(sys.argv[1]) if len(frame) <= 1514]
    with subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as engine:
        for line in engine.stdout:
            if "Engine started" in line:
                break
        out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        out.bind(("b0", 0))
        time.sleep(0.5)
        before, sent = worker(engine.pid), 0
        for frame in todo:
            try:
                sent += out.send(frame) > 0
            except OSError:             # the queue is full
                pass
        last = None
        while last != (last := worker(engine.pid) // 2000000):      # until it only waits
            time.sleep(0.2)
        after = worker(engine.pid)
        engine.terminate()
        engine.stdout.read()
        print(round((after - before) / sent))


main()
