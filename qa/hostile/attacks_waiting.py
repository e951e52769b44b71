# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on transactions that hold much, and then get a few bytes with each packet: files that
are over, rules that wait, values that are counted."""
from attacks_http import GET, pages
from attacks_mail import MULTIPART, envelope, mails, smtp
from catalogue import connect, entry, one_segment, rounds

SOURCE = "Crosby and Wallach 2003; what waits in a transaction, then tiny packets"
FILE_RULES = """
alert smtp any any -> any any (file.name; content:"nowhere at all"; sid:1;)
alert smtp any any -> any any (file.data; content:"nowhere at all"; sid:2;)
alert smtp any any -> any any (filesize:77777777; sid:3;)
alert smtp any any -> any any (fileext:"nowhere"; sid:4;)
"""
WAITING = "".join(f'alert http any any -> any any (http.uri; content:"word{i}x"; '
                  f'http.request_body; content:"nowhere"; sid:{i + 1};)\n' for i in range(800))


@entry("MIME: thousands of attachments, then small packets", SOURCE, rules=FILE_RULES,
       proto="smtp", short=True)
def waiting_mail_files(cap, size):
    if size is not None:
        mails(cap, size)
        return
    flow = smtp(cap)
    envelope(flow)
    one_segment(flow, 0, MULTIPART + b"".join(
        b"--b\r\nContent-Disposition: attachment; filename=%d\r\n\r\nx\r\n" % i
        for i in range(8000)))
    for _ in range(3000):
        flow.data(0, b"x\r\n")
    flow.data(0, b"--b--\r\n.\r\n")


@entry("rules: hundreds that wait for a body, then small packets", SOURCE, rules=WAITING,
       proto="http", short=True)
def waiting_rules(cap, size):
    text = b"/" + b"".join(b"word%dx" % i for i in range(800))
    flow = connect(cap, 80)
    one_segment(flow, 0, b"POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n" % (
        text if size is None else b"/"))
    for _ in rounds(cap, size, 3000):
        flow.data(0, b"x\r\n")


RETRIES = "".join(f'alert http any any -> any any (http.request_body; content:"abc"; fast_pattern; '
                  f'content:"a"; within:3000; content:"q{i}"; within:20; sid:{i + 1};)\n'
                  for i in range(3))


LOOKAHEAD = ('alert http any any -> any any (http.request_body; content:"abc"; '
             'pcre:"/a(?=[^q]*c\\w*z9)/"; sid:1;)\n')


def body_by_byte(cap, size):
    if size is not None:
        pages(cap, size)
        return
    flow = connect(cap, 80)
    one_segment(flow, 0, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99000\r\n\r\n" +
                b"abcabz " * 8000)
    for i in range(12000):
        flow.data(0, b"abcabz "[i % 7:i % 7 + 1])


@entry("rules on a body: contents tried again with each byte", SOURCE, rules=RETRIES, proto="http",
       short=True)
def waiting_body(cap, size):
    body_by_byte(cap, size)


@entry("rules on a body: an expression tried again with each byte", SOURCE, rules=LOOKAHEAD,
       proto="http")
def waiting_body_pcre(cap, size):
    body_by_byte(cap, size)


@entry("rules on a body: three transforms of its window with each byte", SOURCE, proto="http",
       short=True, rules='alert http any any -> any any (file.data; url_decode; to_lowercase; '
       'strip_whitespace; content:"nowhere"; sid:1;)\n')
def waiting_transforms(cap, size):
    if size is not None:
        pages(cap, size)
        return
    flow = connect(cap, 80)
    flow.to_server(GET)
    one_segment(flow, 1, b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 99000"
                b"\r\n\r\n" + b"ab+%25 " * 8600)
    for i in range(18000):
        flow.data(1, b"ab+%25 "[i % 7:i % 7 + 1])
