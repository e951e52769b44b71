# SPDX-License-Identifier: GPL-2.0-or-later
"""The capture of qa/no-alloc/run: rounds of the same traffic between other ports, 40 s apart."""
import base64
import gzip
import os
import ssl
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from pcapgen import Capture, TcpFlow, ACK, PSH, dns_answer, dns_query, http_request, \
    http_response  # noqa: E402

CLIENT, SERVER, RESOLVER = "10.9.0.%d", "10.9.1.1", "10.9.1.53"
SECONDS = 40
TEXT = b"".join(b"line %d of a page that compresses well\n" % i for i in range(200))


def handshake():
    """What client and server of TLS 1.2 say to each other, in turns."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(os.path.join(HERE, "server.pem"))
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
    client.maximum_version = ssl.TLSVersion.TLSv1_2
    wire = [ssl.MemoryBIO(), ssl.MemoryBIO()]       # to the server, to the client
    ends = [client.wrap_bio(wire[1], wire[0], server_hostname="steady.example"),
            server.wrap_bio(wire[0], wire[1], server_side=True)]
    said = []
    for turn in range(8):
        side = turn % 2
        try:
            ends[side].do_handshake()
        except ssl.SSLWantReadError:
            pass
        data = wire[side].read()
        if data:
            wire[side].write(data)
            said.append((side, data))
    ends[0].write(b"a secret")
    said.append((0, wire[0].read()))
    return said


def http(cap, host, port):
    flow = TcpFlow(cap, host, port, SERVER, 80)
    flow.open()
    for n in range(3):
        flow.to_server(http_request("steady.example", f"/page/{n}?id=steady", headers=(
            "Accept: */*", "Cookie: a=b; c=d", "Accept-Encoding: gzip")))
        flow.to_client(http_response(gzip.compress(TEXT, mtime=0),
                                     headers=("Content-Encoding: gzip", "Server: steady")))
    part = b"--cut\r\nContent-Disposition: form-data; name=\"f\"; filename=\"up.txt\"\r\n\r\n" + \
        TEXT + b"\r\n--cut--\r\n"
    flow.to_server(http_request("steady.example", "/upload", method="POST", body=part, headers=(
        "Content-Type: multipart/form-data; boundary=cut",)))
    flow.to_client(http_response(b"stored", "201 Created"))
    flow.close()


def dns(cap, host, port):
    for n, name in enumerate(("steady.example", "other.example")):
        cap.udp(host, port + n, RESOLVER, 53, dns_query(port, name))
        cap.udp(RESOLVER, 53, host, port + n, dns_answer(port, name, ["10.9.1.1"]))


def tls(cap, host, port, said):
    flow = TcpFlow(cap, host, port, SERVER, 443)
    flow.open()
    for side, data in said:
        flow.data(side, data)
    flow.close()


def plain(cap, host, port):
    """Bytes of no protocol, out of order, sent twice, and once with other contents."""
    flow = TcpFlow(cap, host, port, SERVER, 7000)
    flow.open()
    flow.to_server(b"\x01\x02 a needle in the stream " + b"." * 3000)
    seq, ack = flow.seq
    for at, text in ((4, b"late"), (4, b"LATE"), (0, b"soon")):
        cap.tcp(host, port, SERVER, 7000, seq + at, ack, PSH | ACK, text)
    flow.seq[0] += 8
    flow.send(1, ACK)
    flow.to_client(b"\x03\x04 answer " + b"," * 2000)
    flow.close()


def mail(cap, host, port):
    body = b"From: a@steady.example\r\nTo: b@steady.example\r\nSubject: round\r\n" \
        b"MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=cut\r\n\r\n--cut\r\n" \
        b"Content-Type: text/plain\r\n\r\nhello http://steady.example/x\r\n--cut\r\n" \
        b"Content-Type: application/octet-stream; name=\"file.bin\"\r\n" \
        b"Content-Transfer-Encoding: base64\r\n\r\n" + \
        b"\r\n".join(base64.encodebytes(TEXT).splitlines()) + b"\r\n--cut--\r\n.\r\n"
    flow = TcpFlow(cap, host, port, SERVER, 25)
    flow.open()
    flow.to_client(b"220 steady ESMTP\r\n")
    for command, answer in ((b"EHLO c\r\n", b"250 steady\r\n"),
                            (b"MAIL FROM:<a@steady.example>\r\n", b"250 ok\r\n"),
                            (b"RCPT TO:<b@steady.example>\r\n", b"250 ok\r\n"),
                            (b"DATA\r\n", b"354 go\r\n"), (body, b"250 queued\r\n"),
                            (b"QUIT\r\n", b"221 bye\r\n")):
        flow.to_server(command)
        flow.to_client(answer)
    flow.close()


def ssh(cap, host, port):
    flow = TcpFlow(cap, host, port, SERVER, 22)
    flow.open()
    flow.to_client(b"SSH-2.0-OpenSSH_9.2p1\r\n")
    flow.to_server(b"SSH-2.0-OpenSSH_8.9\r\n")
    flow.close()


def ftp(cap, host, port):
    flow = TcpFlow(cap, host, port, SERVER, 21)
    data = TcpFlow(cap, host, port + 1, SERVER, 5000 + port % 1000)
    high, low = divmod(5000 + port % 1000, 256)
    flow.open()
    flow.to_client(b"220 ready\r\n")
    for command, answer in ((b"USER a\r\n", b"331 password\r\n"), (b"PASS b\r\n", b"230 in\r\n"),
                            (b"PASV\r\n", b"227 Entering Passive Mode (10,9,1,1,%d,%d)\r\n" %
                             (high, low)), (b"RETR file.txt\r\n", b"150 here it comes\r\n")):
        flow.to_server(command)
        flow.to_client(answer)
    data.open()
    data.to_client(TEXT)
    data.close(1)
    flow.to_client(b"226 done\r\n")
    flow.to_server(b"QUIT\r\n")
    flow.close()


def fragments(cap, host, port):
    payload = Capture.with_checksum(
        host, SERVER, 17, port.to_bytes(2, "big") + b"\x1b\x58\x05\xe0\0\0" + b"f" * 1496, 6)
    cap.ip(host, SERVER, 17, payload[800:], fragment=800, ident=port)
    cap.ip(host, SERVER, 17, payload[:800], more=True, ident=port)


def make_round(cap, n, said):
    """The traffic of one round; all rounds differ in addresses and ports alone."""
    start = cap.now
    for k in range(8):
        host, port = CLIENT % (1 + (n + k) % 8), 20000 + n * 64 % 40000 + k * 8
        http(cap, host, port)
        dns(cap, host, port)
        tls(cap, host, port, said)
        plain(cap, host, port + 1)
        mail(cap, host, port + 2)
        ssh(cap, host, port + 3)
        ftp(cap, host, port + 4)
        cap.udp(host, port, SERVER, 7000, b"a needle in a datagram")
        cap.udp(SERVER, 7000, host, port, b"and its answer")
        cap.ping(host, SERVER)
        cap.ping(SERVER, host, reply=True)
        fragments(cap, host, port)
    cap.wait(start + SECONDS - cap.now)


def make(rounds, prelude=0):
    """The capture, and for each round the number of frames before it. The prelude is datagrams in
    fragments, of which there are few later: each packet of the pool gets a buffer for one."""
    cap, said, marks = Capture(), handshake(), []
    for n in range(prelude):
        fragments(cap, CLIENT % (1 + n % 200), n % 60000)
    for n in range(rounds):
        marks.append(len(cap.frames))
        make_round(cap, n, said)
    return cap, marks
