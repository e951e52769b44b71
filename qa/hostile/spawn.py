# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts engines for `run` and tells what they took: a line of JSON in, [command, folder, limits];
one out, [wait status, CPU seconds, bytes of memory].

The kernel counts what a process held before exec() as its own peak. A runner that has made large
captures would lend its size to each engine, so that this small process starts them."""
import json
import os
import resource
import sys

LIMITS = {"address_space": resource.RLIMIT_AS, "cpu": resource.RLIMIT_CPU,
          "core": resource.RLIMIT_CORE, "file": resource.RLIMIT_FSIZE}


def child(command, folder, limits):
    try:
        os.chdir(folder)
        said = os.open("stderr", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        for fd in (1, 2):
            os.dup2(said, fd)
        for name, most in limits.items():
            resource.setrlimit(LIMITS[name], (most, most + (name == "cpu")))
        os.execv(command[0], command)
    except OSError as error:
        os.write(2, str(error).encode())
    os._exit(127)


for line in sys.stdin:
    job = json.loads(line)
    pid = os.fork()
    if pid == 0:
        child(*job)
    _, status, usage = os.wait4(pid, 0)
    print(json.dumps([status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024]), flush=True)
