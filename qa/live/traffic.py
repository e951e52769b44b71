# SPDX-License-Identifier: GPL-2.0-or-later
"""traffic.py run LOG STOP ADDRESS PORT CONTROL-PORT: requests until the file STOP is there.

Requests go to ADDRESS, through the engine: for /good.html, which must come whole; for /bad.html,
which must never come; for /word.html, where a word must come replaced if WORD is in the
environment. They come from the addresses in SOURCES. Others go to this machine's loopback, where no engine is: what stalls there as well is
the machine's doing. A line each in LOG: start, seconds, kind, what came of it.

traffic.py serve FOLDER PORT: its files, by HTTP, with room for more waiting connections than the
server that comes with Python.

traffic.py check LOG FROM TO ERRORS: says what was wrong between two times; ERRORS: may requests
fail? Status 1: wrong; 2: a request took longer than 100 ms, and three times as long as any on
loopback."""
import functools
import http.server
import itertools
import os
import socket
import sys
import threading
import time

BODY = b"a body that comes whole " * 40
STALL = 0.1
SOURCES = os.environ.get("SOURCES", "0.0.0.0").split()
numbers = itertools.count()


def next_source():
    """None is used twice: what is dropped stays dropped as long as its flow is remembered."""
    n = next(numbers)
    return SOURCES[n % len(SOURCES)], 10000 + n // len(SOURCES) % 50000


def fetch(address, port, path):
    """The body, or the name of what happened instead."""
    source = next_source() if address != "127.0.0.1" else None
    try:
        with socket.create_connection((address, port), timeout=20, source_address=source) as s:
            s.sendall(b"GET /%s HTTP/1.0\r\nHost: h\r\n\r\n" % path)
            data = b""
            while True:
                piece = s.recv(65536)
                if not piece:
                    break
                data += piece
    except OSError as e:
        return None, type(e).__name__
    head, _, body = data.partition(b"\r\n\r\n")
    return body, "" if head.startswith(b"HTTP/1.0 200") else "cut"


def good(body, error):
    if body == BODY:
        return "ok"
    return "wrong-body" if body and not error else error or "cut"


def bad(body, error):
    return "passed" if body else "ok"


def word(body, error):
    wanted = os.environ.get("WORD", "").encode()
    if body == wanted:
        return "ok"
    return "not-replaced" if body and not error else error or "cut"


def work(log, stop, lock, kind, judge, address, port, path):
    while not os.path.exists(stop):
        start = time.time()
        outcome = judge(*fetch(address, port, path))
        line = f"{start:.6f} {time.time() - start:.6f} {kind} {outcome}\n"
        with lock:
            log.write(line)
        time.sleep(0.004)


def run(log, stop, address, port, control):
    lock, out = threading.Lock(), open(log, "a", buffering=1)
    jobs = [("good", good, address, port, b"good.html"), ("good", good, address, port, b"good.html"),
            ("bad", bad, address, port, b"bad.html"),
            ("control", good, "127.0.0.1", control, b"good.html")]
    if "WORD" in os.environ:
        jobs.append(("word", word, address, port, b"word.html"))
    threads = [threading.Thread(target=work, args=(out, stop, lock, *job)) for job in jobs]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def serve(directory, port):
    Server(("", port), functools.partial(Handler, directory=directory)).serve_forever()


def check(log, start, end, errors):
    worst, seen, wrong = {}, {}, []
    for line in open(log):
        fields = line.split()
        if len(fields) != 4 or not start <= float(fields[0]) < end:
            continue
        took, kind, outcome = float(fields[1]), fields[2], fields[3]
        seen[kind] = seen.get(kind, 0) + 1
        worst[kind] = max(worst.get(kind, 0), took)
        verdict = outcome in ("passed", "wrong-body", "not-replaced")
        if verdict or (outcome != "ok" and not errors):
            wrong.append(line.strip())
    if wrong:
        print(f"{len(wrong)} wrong, such as: {wrong[0]}")
        return 1
    if not seen.get("good") or not seen.get("bad"):
        print(f"too few requests: {seen}")
        return 1
    slow = max(worst.get(k, 0) for k in ("good", "word"))
    print(f"{seen['good']} requests, the longest {slow * 1000:.0f} ms; on loopback "
          f"{worst.get('control', 0) * 1000:.0f} ms")
    return 2 if slow > max(STALL, 3 * worst.get("control", 0)) else 0


def main():
    if sys.argv[1] == "run":
        run(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]), int(sys.argv[6]))
    elif sys.argv[1] == "serve":
        serve(sys.argv[2], int(sys.argv[3]))
    else:
        sys.exit(check(sys.argv[2], float(sys.argv[3]), float(sys.argv[4]), sys.argv[5] == "yes"))


main()
