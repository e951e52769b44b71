# SPDX-License-Identifier: GPL-2.0-or-later
"""take_over.py: connections that live while engines are replaced.

`echo PORT` answers each line with the same line. `talk ADDRESS STOP` has connections that send lines
and wait for the answers until the file STOP exists, others that a rule must have dropped for good,
and some that first say "remember" and at the end "recall". `hold ADDRESS STOP` has only the first
kind. `web PORT` is a web server that keeps connections, and sends head and body apart. `get ADDRESS
STOP` makes requests to port 80, each on a connection of its own, and `keep ADDRESS STOP` to port 81,
all on one; they print the number of requests. `span ADDRESS STOP TICKS` keeps a request to port 81
and a mail to port 2525 half sent while the file TICKS says the same number, so that each spans a
hand-over; it prints how many of each, and makes the file TICKS.KIND.NUMBER when one is half sent. A
word to port 8007 and the banners of SSH at port 2222 span it likewise. A connection of HTTP/2 at port
82, which has had more bytes than engines keep, makes a request after each. `words` has the word
alone. `mail PORT` answers as an SMTP server, `ssh PORT` with a banner, and `http2 PORT` to each
HEADERS frame. `once ADDRESS` opens
one connection and gets one answer. `quit SOCKET STAGE` takes over from the engine at that control
socket, and ends after the offer or after the commit, once or twice, as a process that crashes.
`manager PATH` prints what a service manager is told at this socket."""
import array
import http.client
import http.server
import itertools
import os
import socket
import socketserver
import sys
import threading
import time

PATIENCE = 60               # seconds for an answer: retransmissions are allowed
wrong = []


class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(line)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


class Control:
    """The part of a new engine in a hand-over."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(path)
        self.fds = array.array("i")

    def ask(self, text):
        self.socket.sendall(text.encode())
        answer = b""
        while not answer.endswith(b"\n"):
            data, control, _, _ = self.socket.recvmsg(4096, 4096)
            for _, _, fds in control:
                self.fds.frombytes(fds)
            if not data:
                break
            answer += data
        if b'"return":"OK"' not in answer:
            sys.exit(f"{text}: {answer}")


def quit_at(path, stage):
    for _ in range(2 if stage == "twice" else 1):
        control = Control(path)
        control.ask('{"version":"0.2"}')
        control.ask('{"command":"take-over"}')
        if len(control.fds) < 4:
            sys.exit(f"{len(control.fds)} descriptors")
        if stage == "commit":
            control.ask('{"command":"take-over-commit"}')
        elif stage == "twice":
            control.socket.sendall(b'{"command":"take-over-commit"}')
        control.socket.close()
        for fd in control.fds:
            os.close(fd)
        if stage == "twice":
            time.sleep(0.5)


def connect(address, port=7):
    s = socket.create_connection((address, port), PATIENCE)
    return s, s.makefile("rb")


def exchange(s, reader, text):
    s.sendall(text.encode() + b"\n")
    return reader.readline().decode().rstrip("\n")


def talk(name, address, stop, ready):
    """Lines of growing numbers: a lost, repeated or changed byte shows."""
    s, reader = connect(address)
    number = 0
    exchange(s, reader, "remember" if name % 5 == 0 else "hello")
    ready.release()
    while not os.path.exists(stop):
        line = f"line {number} of {name} " + "x" * (number * 37 % 900)
        if exchange(s, reader, line) != line:
            wrong.append(f"{name}: line {number} came back changed")
        number += 1
        time.sleep(0.002)
    exchange(s, reader, "recall")
    s.close()


def dropped(address, stop, ready):
    """After the word the flow is dropped, also by each engine that comes."""
    s, reader = connect(address)
    exchange(s, reader, "hello")
    s.sendall(b"never again\n")
    ready.release()
    s.settimeout(0.2)
    while not os.path.exists(stop):
        try:
            s.sendall(b"anybody there\n")
            if s.recv(1):
                wrong.append("a dropped flow goes on")
        except socket.timeout:
            pass
    s.close()


def forbidden(address, stop, ready):
    """Each try on a new connection, at any moment: the word must not come through."""
    ready.release()
    while not os.path.exists(stop):
        s, reader = connect(address)
        s.settimeout(0.1)
        try:
            s.sendall(b"a forbidden word\n")
            if reader.readline():
                wrong.append("a forbidden word came through")
        except OSError:
            pass
        s.close()


def talk_all(address, stop, only_talk):
    ready = threading.Semaphore(0)
    works = [(talk, (i, address, stop, ready)) for i in range(20)]
    if not only_talk:
        works += [(dropped, (address, stop, ready)), (forbidden, (address, stop, ready))]

    def work(function, arguments):
        try:
            function(*arguments)
        except Exception as e:
            wrong.append(f"{function.__name__} {arguments[0]}: {e!r}")
            ready.release()

    threads = [threading.Thread(target=work, args=w) for w in works]
    for t in threads:
        t.start()
    for _ in works:
        ready.acquire()
    print("talking", flush=True)
    for t in threads:
        t.join()
    print("\n".join(wrong))
    return 1 if wrong else 0


class Web(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = b"hello " * 50
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def get(address, stop):
    """Four connections at a time; each number is asked for once."""
    numbers = itertools.count()
    done = []

    def work():
        while not os.path.exists(stop):
            n = next(numbers)
            try:
                c = http.client.HTTPConnection(address, 80, timeout=PATIENCE)
                c.request("GET", f"/index.html?n={n}", headers={"Connection": "close"})
                c.getresponse().read()
                c.close()
                done.append(n)
            except OSError as e:
                wrong.append(f"request {n}: {e!r}")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print(len(done))
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


def keep(address, stop):
    connection = http.client.HTTPConnection(address, 81, timeout=PATIENCE)
    connection.connect()
    own = connection.sock
    number = 0
    while not os.path.exists(stop):
        connection.request("GET", f"/kept?k={number}")
        connection.getresponse().read()
        number += 1
        time.sleep(0.01)
    print(number)
    return 0 if connection.sock is own else 1


class Mail(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(b"220 mx.example.com\r\n")
        in_mail = False
        for line in self.rfile:
            if in_mail:
                in_mail = line != b".\r\n"
                if in_mail:
                    continue
            in_mail = line == b"DATA\r\n"
            self.wfile.write(b"354 go\r\n" if in_mail else b"250 ok\r\n")


class Ssh(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(b"SSH-2.0-server\r\n")
        for _ in self.rfile:
            pass


def h2_frame(kind, flags, stream, payload):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


H2_MAGIC = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
H2_BODY = 48000


class Http2(socketserver.StreamRequestHandler):
    """The first answer has a body that is longer than what engines keep."""

    def handle(self):
        self.rfile.read(len(H2_MAGIC))
        self.wfile.write(h2_frame(4, 0, 0, b""))
        while len(head := self.rfile.read(9)) == 9:
            self.rfile.read(int.from_bytes(head[:3], "big"))
            stream = int.from_bytes(head[5:9], "big")
            if head[3] != 1:
                continue
            self.wfile.write(h2_frame(1, 4, stream, b"\x88"))
            for _ in range(H2_BODY // 12000 if stream == 1 else 1):
                self.wfile.write(h2_frame(0, 0, stream, b"x" * 12000))
            self.wfile.write(h2_frame(0, 1, stream, b""))


def tick(path):
    try:
        with open(path, encoding="ascii") as f:
            return f.read()
    except OSError:
        return ""


def wait_for_tick(stop, ticks, half_sent):
    before = tick(ticks)
    with open(f"{ticks}.{half_sent}", "w", encoding="ascii"):
        pass
    while tick(ticks) == before and not os.path.exists(stop):
        time.sleep(0.02)


def span_requests(address, stop, ticks, done):
    s = socket.create_connection((address, 81), PATIENCE)
    reader = s.makefile("rb")
    n = 0
    while not os.path.exists(stop):
        request = f"GET /kept?s={n} HTTP/1.1\r\nHost: spanning\r\n\r\n".encode()
        cut = 1 + n * 7 % (len(request) - 1)
        s.sendall(request[:cut])
        wait_for_tick(stop, ticks, f"request.{n}")
        s.sendall(request[cut:])
        if b"200" not in reader.readline():
            wrong.append(f"span {n}: no answer")
        while reader.readline().strip():
            pass
        reader.read(300)
        n += 1
    done["requests"] = n


def span_mails(address, stop, ticks, done):
    s = socket.create_connection((address, 2525), PATIENCE)
    reader = s.makefile("rb")
    reader.readline()
    exchange_line(s, reader, "EHLO spanning")
    n = 0
    while not os.path.exists(stop):
        for command in (f"MAIL FROM:<m{n}@b>", "RCPT TO:<c@d>", "DATA"):
            exchange_line(s, reader, command)
        mail = f"Subject: mail {n}\r\nFrom: <m{n}@b>\r\n\r\nhello\r\n.\r\n".encode()
        cut = 1 + n * 11 % (len(mail) - 1)
        s.sendall(mail[:cut])
        wait_for_tick(stop, ticks, f"mail.{n}")
        s.sendall(mail[cut:])
        if not reader.readline().startswith(b"250"):
            wrong.append(f"mail {n}: no answer")
        n += 1
    done["mails"] = n


def span_words(address, stop, ticks, done):
    """A pattern that no engine has all of. Probes keep its flow from its timeout."""
    s, reader = connect(address, 8007)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1)
    n = 0
    while not os.path.exists(stop):
        word = b"spanning-word\n"
        cut = 1 + n * 5 % (len(word) - 3)
        s.sendall(word[:cut])
        wait_for_tick(stop, ticks, f"word.{n}")
        s.sendall(word[cut:])
        if reader.readline() != word:
            wrong.append(f"word {n}: no answer")
        time.sleep(0.1)                 # so that no later word is in one window with it
        n += 1
    done["words"] = n


def span_ssh(address, stop, ticks, done):
    n = 0
    while not os.path.exists(stop):
        s = socket.create_connection((address, 2222), PATIENCE)
        s.sendall(b"SSH-2.0-client\r\n")
        s.recv(100)
        wait_for_tick(stop, ticks, f"ssh.{n}")
        s.sendall(b"\0\0\0\x0c\x04\x15" + b"0123456789")
        s.close()
        n += 1
    done["ssh"] = n


def h2_answer(reader, stream):
    while len(head := reader.read(9)) == 9:
        reader.read(int.from_bytes(head[:3], "big"))
        if int.from_bytes(head[5:9], "big") == stream and head[3:5] == b"\0\1":
            return True
    return False


def span_http2(address, stop, ticks, done):
    """GET http /h2spanning, authority spanning: entries of the table from the first request on."""
    s = socket.create_connection((address, 82), PATIENCE)
    reader = s.makefile("rb")
    n = 0
    while not os.path.exists(stop):
        block = (b"\x82\x86\x44\x0b/h2spanning\x41\x08spanning" if n == 0
                 else b"\x82\x86\xbf\xbe")
        s.sendall((H2_MAGIC + h2_frame(4, 0, 0, b"") if n == 0 else b"") +
                  h2_frame(1, 5, 2 * n + 1, block))
        if not h2_answer(reader, 2 * n + 1):
            wrong.append(f"http2 {n}: no answer")
        time.sleep(0.1)
        wait_for_tick(stop, ticks, f"http2.{n}")
        n += 1
    done["http2"] = n


def exchange_line(s, reader, line):
    s.sendall(line.encode() + b"\r\n")
    return reader.readline()


SPANNING = (span_requests, span_mails, span_words, span_ssh, span_http2)


def span(address, stop, ticks, functions=SPANNING):
    done = {}

    def work(function):
        try:
            function(address, stop, ticks, done)
        except Exception as e:
            wrong.append(f"{function.__name__}: {e!r}")

    threads = [threading.Thread(target=work, args=(function,)) for function in functions]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print(*(done.get(kind, 0) for kind in ("requests", "mails", "words", "ssh", "http2")))
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


def manager(path):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    s.bind(path)
    while True:
        print(s.recv(4096).decode(), flush=True)


if sys.argv[1] == "echo":
    Server(("", int(sys.argv[2])), Echo).serve_forever()
elif sys.argv[1] == "mail":
    Server(("", int(sys.argv[2])), Mail).serve_forever()
elif sys.argv[1] in ("ssh", "http2"):
    Server(("", int(sys.argv[2])), Ssh if sys.argv[1] == "ssh" else Http2).serve_forever()
elif sys.argv[1] == "span":
    sys.exit(span(*sys.argv[2:5]))
elif sys.argv[1] == "words":
    sys.exit(span(*sys.argv[2:5], (span_words,)))
elif sys.argv[1] == "quit":
    quit_at(sys.argv[2], sys.argv[3])
elif sys.argv[1] == "once":
    sys.exit(exchange(*connect(sys.argv[2]), "hello") != "hello")
elif sys.argv[1] == "web":
    http.server.ThreadingHTTPServer(("", int(sys.argv[2])), Web).serve_forever()
elif sys.argv[1] in ("get", "keep"):
    sys.exit((get if sys.argv[1] == "get" else keep)(sys.argv[2], sys.argv[3]))
elif sys.argv[1] == "manager":
    manager(sys.argv[2])
else:
    sys.exit(talk_all(sys.argv[2], sys.argv[3], sys.argv[1] == "hold"))
