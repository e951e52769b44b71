#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""changing.py send INTERFACE RATE SECONDS | write FILE PACKETS | watch PID: a load that changes.

64 UDP flows live all the time, so no scheduler may give them to another thread. Each phase has
other busy flows, which send 15 packets of 16: in turn the even ones, six at random, the odd ones,
six others. So threads that got equal shares at the start have unequal ones in each phase.
`write` makes phases of a 16th of the packets, `send` of two seconds.

`watch` reads the CPU time of the threads W#.. of an engine every 10 ms until it ends. It prints the
busiest CPU's part of each second, in thousandths of the mean CPU's, on average over the seconds in
which the threads took a fifth of a CPU or more."""
import glob
import os
import random
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from pcapgen import Capture     # noqa: E402

FLOWS, BURST = 64, 32


def frames():
    made, chance = Capture(), random.Random(1)
    for i in range(FLOWS):
        text = bytes(chance.choice(b"abcdefgh0123456789 ") for _ in range(700))
        udp = struct.pack(">HHHH", 20000 + i, 5000, 8 + len(text), 0) + text
        made.ip(f"10.9.{i // 8}.{i % 8 + 1}", "10.10.0.1", 17, udp)
    return [data for _, data in made.frames]


def busy_flows(phase):
    if phase % 2 == 0:
        return list(range(phase // 2 % 2, FLOWS, 2))
    return random.Random(phase).sample(range(FLOWS), 6)


def flow_of(number, phase, busy):
    """The flow of a packet: all flows in turn for one packet of 16, busy ones for the others."""
    return number // 16 % FLOWS if number % 16 == 0 else busy[number % len(busy)]


def send(interface, rate, seconds):
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    out.bind((interface, 0))
    packets, start, number = frames(), time.monotonic(), 0
    while (now := time.monotonic() - start) < seconds:
        phase = int(now / 2)
        busy = busy_flows(phase)
        while number < now * rate:
            for number in range(number, number + BURST):
                try:
                    out.send(packets[flow_of(number, phase, busy)])
                except OSError:                 # the queue is full; the packet counts as sent
                    pass
            number += 1
        time.sleep(0.0005)
    print(number)


def write(path, count):
    packets, busy = frames(), []
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for number in range(count):
            phase = number * 16 // count
            busy = busy_flows(phase)
            data = packets[flow_of(number, phase, busy)]
            at = number * 25
            out.write(struct.pack("<IIII", 1700000000 + at // 1000000, at % 1000000, len(data),
                                  len(data)) + data)


def cpu_times(pid):
    """By thread: CPU time in ns, and the CPU on which it ran last."""
    times = {}
    for path in glob.glob(f"/proc/{pid}/task/*"):
        try:
            with open(path + "/stat", encoding="utf-8") as f:
                name, rest = f.read().split("(", 1)[1].rsplit(")", 1)
            with open(path + "/schedstat", encoding="utf-8") as f:
                spent = int(f.read().split()[0])
        except (OSError, IndexError):
            continue
        if name.startswith("W#"):
            times[path] = spent, rest.split()[36]
    return times


def watch(pid):
    parts, cpus, last, start = [], {}, cpu_times(pid), time.monotonic()
    while os.path.exists(f"/proc/{pid}"):
        time.sleep(0.01)
        now = cpu_times(pid)
        for thread, (spent, cpu) in now.items():
            if thread in last:
                cpus[cpu] = cpus.get(cpu, 0) + spent - last[thread][0]
        last = now
        if time.monotonic() - start >= 1:
            if sum(cpus.values()) > 0.2e9:
                parts.append(max(cpus.values()) * len(os.sched_getaffinity(0)) / sum(cpus.values()))
            cpus, start = {}, time.monotonic()
    print(round(1000 * sum(parts) / len(parts)) if parts else 0)


if __name__ == "__main__":
    if sys.argv[1] == "send":
        send(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    elif sys.argv[1] == "watch":
        watch(int(sys.argv[2]))
    else:
        write(sys.argv[2], int(sys.argv[3]))
