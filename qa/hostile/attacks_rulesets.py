# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on many rules at once: each keeps to its own limits, and all of them together do not."""
from attacks_http import exchange, gzip_of, pages
from attacks_packets import transfers
from attacks_rules import PCRE, SMITH, STEPS, rule, segments
from catalogue import connect, entry, host, rounds
from pcapgen import http_request, http_response

BACK = "ReDoS, Crosby 2003"


def rules(options, count, proto="tcp"):
    """The same rule, each time with other bytes at its end, so that nothing is shared."""
    return "".join(rule(options.replace("@", "%02x" % i), proto, i + 1) for i in range(count))


def streams(cap, size, data):
    if size is not None:
        transfers(cap, size, 20000)
        return
    flow = connect(cap, 9999)
    flow.to_server(data)


NESTED = ('content:"a"; content:"a"; within:40; content:"a"; within:40; content:"a"; within:40; '
          'content:"zz|@|"; within:9;')
ENDS = b"".join(b"zz%c" % i for i in range(200))


@entry("rules: sixty chains of contents, tried from each place of a stream", SMITH, short=True,
       rules=rules(NESTED.replace(";", "; fast_pattern;", 1), 60), reaches=STEPS)
def ruleset_contents(cap, size):
    streams(cap, size, segments(ENDS, b"a" * 300000))


@entry("rules: thirty chains of contents in small datagrams", SMITH,
       rules=rules('content:"a"; fast_pattern; content:"a"; within:9; content:"a"; within:9; '
                   'content:"zz|@|"; within:9;', 30, "udp"), reaches=STEPS)
def ruleset_small_packets(cap, size):
    small_packets(cap, size, b"".join(b"zz%c" % i for i in range(30)) + b"a" * 24)


@entry("rules: a chain of contents in small datagrams, each a flow", SMITH, short=True,
       rules=rules('content:"a"; fast_pattern; content:"a"; within:20; content:"a"; within:20; '
                   'content:"a"; within:20; content:"zz"; within:20;', 1, "udp"), reaches=STEPS)
def ruleset_one_small(cap, size):
    small_packets(cap, size, b"zz" + b"a" * 24)


def small_packets(cap, size, data):
    for i in rounds(cap, size, 3000):
        cap.udp(host(i), 4000, "192.168.0.1", 9999, data if size is None else b"c" * len(data))


@entry("rules: sixty slow regular expressions over one stream", BACK, short=True,
       rules=rules('content:"a"; fast_pattern; pcre:"/a[^b]{1,1000}bd\\x@/";', 60), reaches=PCRE)
def ruleset_pcres(cap, size):
    streams(cap, size, segments(b"".join(b"bxd%c" % i for i in range(60)), b"a" * 150000))


@entry("rules: regular expressions that begin in few places and go back", BACK,
       rules=rules('content:"begin"; fast_pattern; pcre:"/begin.*x.*y.*z\\x@/s";', 200))
def ruleset_pcres_few(cap, size):
    each = b"begin" * 15 + b"xy" * 300 + b"".join(b"z%c" % i for i in range(200))
    streams(cap, size, segments(each, b"b" * 200000))


@entry("rules: plain regular expressions by the hundred over one stream", BACK, short=True,
       rules=rules('content:"a"; fast_pattern; pcre:"/[^b]+b[0-9]\\x@/";', 300))
def ruleset_pcres_plain(cap, size):
    streams(cap, size, segments(b"".join(b"bx%c" % i for i in range(256)), b"a" * 150000))


@entry("rules: sixty slow regular expressions over one body", BACK, short=True, proto="http",
       rules=rules('file.data; content:"a"; fast_pattern; pcre:"/a(?=[^b]*c\\x@)/";', 60, "http"),
       reaches=PCRE)
def ruleset_body_pcres(cap, size):
    if size is not None:
        pages(cap, size)
        return
    exchange(connect(cap, 80), None, b"a" * 150000 + b"b" + b"".join(b"c%c" % i for i in range(60)))


@entry("rules: chains of contents on each of thousands of requests", SMITH, short=True, proto="http",
       rules="".join(rule('http.uri; ' + NESTED.replace(";", "; fast_pattern;", 1)
                          .replace("@", "%02x" % (128 + i)), "http", i + 1) for i in range(20)),
       reaches=STEPS)
def ruleset_requests(cap, size):
    path = b"a" * 60 if size is None else b"bcde" * 15
    for i in rounds(cap, size, 40):
        flow = connect(cap, 80, i)
        for _ in range(40):
            flow.to_server(b"GET /" + path + b"".join(b"zz%c" % j for j in range(128, 148)) +
                           b" HTTP/1.1\r\nHost: a\r\n\r\n")
            flow.to_client(b"HTTP/1.1 204 No Content\r\n\r\n")


@entry("rules: numbers read and added up after each other, from each place", SMITH,
       rules=rules('content:"a"; fast_pattern; ' + "byte_math:bytes 1,offset 0,oper +,rvalue 1,"
                   'result r,relative; byte_jump:1,0,relative,post_offset -97; ' * 3 +
                   'content:"zz|@|"; within:9;', 100), reaches=STEPS)
def ruleset_byte_math(cap, size):
    streams(cap, size, segments(ENDS, b"a" * 200000))


@entry("rules: base64 decoded by each of a hundred rules", SMITH, short=True,
       rules=rules('content:"a"; fast_pattern; base64_decode:relative; base64_data; '
                   'content:"zz|@|";', 100), reaches=STEPS)
def ruleset_base64(cap, size):
    streams(cap, size, b"a" * 150000)


@entry("rules: uploads that a transform unpacks", "zip bombs for a transform", short=True, proto="http",
       rules=rule('http.request_body; gunzip:max-size 16 MiB; content:"nowhere";', "http") +
       rule('http.request_body; gunzip:max-size 16 MiB; to_uppercase; content:"NOWHERE";', "http", 2))
def ruleset_gunzip(cap, size):
    if size is not None:
        pages(cap, size, 1000, uploads=True)
        return
    body = gzip_of(bytes(1 << 20))
    flow = connect(cap, 80)
    for _ in range(300):
        flow.to_server(http_request("a", "/up", method="POST", body=body))
        flow.to_client(http_response(b"ok"))
