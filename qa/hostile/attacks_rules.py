# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on rules: contents that are tried again and again, regular expressions that go back,
transforms and scripts."""
from attacks_http import TEXT, exchange, pages
from attacks_packets import transfers
from catalogue import connect, entry, rounds
from pcapgen import http_request, http_response

SMITH = "Smith, Estan and Jha 2006, backtracking algorithmic complexity attacks against a NIDS"


def rule(options, proto="tcp", sid=1):
    return f'alert {proto} any any -> any any (msg:"a"; {options} sid:{sid};)\n'


def streams(cap, size, data, count=10):
    if size is not None:
        transfers(cap, size, 20000)
        return
    for i in range(count):
        flow = connect(cap, 9999, i)
        flow.to_server(data)            # acknowledged, so that rules see each segment


STEPS, PCRE = "detect.inspection_limit", "detect.pcre_limit"


def segments(last, data):
    """Each segment begins with what the rule looks for last. Without it the prefilter, or PCRE2's
    search for a byte that the expression needs, would reject the data at once."""
    each = 1460 - len(last)
    return b"".join(last + data[at:at + each] for at in range(0, len(data), each))


def rule_entry(called, what, source, options, data, **more):
    proto = more.pop("proto", "tcp")
    make = lambda cap, size: streams(cap, size, data())    # noqa: E731
    make.__name__ = "rule_" + called
    entry("rules: " + what, source, rules=rule(options.replace(";", "; fast_pattern;", 1) if
                                                  "fast_pattern" not in options else options,
                                                  proto), short=True, **more)(make)


rule_entry("content_retry", "contents near each other, tried from each place", SMITH,
           'content:"aa"; content:"aa"; within:700; content:"b"; within:1400; content:"zz"; '
           'within:2;', lambda: segments(b"zz", (b"a" * 700 + b"b" * 758) * 55), reaches=STEPS)
rule_entry("content_within", "contents within each other, tried from each place", SMITH,
           'content:"a"; content:"b"; within:200; content:"c"; within:200; content:"d"; '
           'within:200; content:"zz"; within:200;', reaches=STEPS,
           data=lambda: segments(b"zz", (b"a" * 100 + b"b" * 100 + b"c" * 100 + b"d" * 100) * 200))
rule_entry("byte_jump", "jumps after contents, tried from each place", SMITH,
           'content:"a"; byte_jump:1,0,relative; content:"a"; distance:0; byte_test:1,>,200,0,'
           'relative; content:"zz"; distance:0;', lambda: segments(b"zz", b"aa\1\1" * 20000),
           reaches=STEPS)
rule_entry("byte_jumps", "chains of jumps, tried from each place", SMITH,
           'content:"a"; ' + 'byte_jump:1,0,relative; ' * 9 + 'content:"zz"; within:2;',
           lambda: segments(b"zz", b"a\1" * 40000), reaches=STEPS)
rule_entry("isdataat", "places tried one after another", SMITH,
           'content:"a"; content:"a"; within:9; isdataat:1,relative; content:"zz"; within:2;',
           lambda: segments(b"zz", b"a" * 80000), reaches=STEPS)
rule_entry("pcre_nested", "a regular expression of nested repeats", "ReDoS, Crosby 2003",
           'content:"a"; pcre:"/(a+)+$/";', lambda: (b"a" * 40 + b"!") * 2000, reaches=PCRE)
rule_entry("pcre_quadratic", "a regular expression that starts at each place",
           "ReDoS, Crosby 2003", 'content:"a"; pcre:"/a.*b.*c.*d.*e!f/s";',
           lambda: (b"abcde" * 290 + b"f" * 10) * 55, reaches=PCRE)
rule_entry("pcre_relative", "a regular expression after each content", "Smith, Estan and Jha 2006",
           'content:"a"; pcre:"/^.*x.*y/Rs"; content:"zz";',
           lambda: segments(b"zzyx", b"a" * 80000), reaches=STEPS)
rule_entry("pcre_back", "a regular expression with back references", "ReDoS, Crosby 2003",
           'content:"ab"; pcre:"/(a*)(a*)(a*)\\1\\2\\3b?c/";',
           lambda: segments(b"ab", b"a" * 1400 + b"dc" + b"a" * 56) * 50, reaches=PCRE)
rule_entry("fast_pattern", "prefixes of a fast pattern without end", "attacks on matchers",
           'content:"aaaaaaaaaaaaaaaaaaaaaaab"; fast_pattern;', lambda: b"a" * 80000)
rule_entry("candidates", "fast patterns found everywhere, the rest nowhere",
           "attacks on matchers", 'content:"abcd"; fast_pattern; content:"q"; distance:3; '
           'within:1; content:"zz"; offset:5000;', lambda: segments(b"zz", b"abcd" * 20000))


@entry("rules: hundreds of rules whose fast patterns all match", "attacks on matchers", short=True,
       rules="".join(rule(f'content:"ab{chr(97 + i % 26)}{chr(97 + i // 26)}"; fast_pattern; '
                          f'content:"zz{i}";',
                          sid=i + 1) for i in range(600)))
def rule_many_candidates(cap, size):
    text = b"".join(b"ab%c%c" % (97 + i % 26, 97 + i // 26) for i in range(600))
    streams(cap, size, text * 33)


@entry("rules: a regular expression on each header", "ReDoS, Crosby 2003", short=True, proto="http",
       rules=rule('http.header; pcre:"/(x+x+)+y/";', "http") +
       rule('http.uri; pcre:"/^.(([a-z])+.)+[A-Z]([a-z])+$/";', "http", 2), reaches=PCRE)
def rule_pcre_http(cap, size):
    if size is not None:
        pages(cap, size)
        return
    for i in range(12):
        flow = connect(cap, 80, i)
        for _ in range(20):
            flow.to_server(http_request("a", "/" + "a" * 1000, headers=("X: " + "x" * 2000, "Y: y")))
            flow.to_client(http_response(b"ok"))


@entry("rules: contents in bodies, seen again with each piece", "inspection again of a window",
       short=True, proto="http", reaches=STEPS,
       rules=rule('file.data; content:"abc"; fast_pattern; content:"abc"; within:3000; content:"zz"; '
                  'within:2;', "http"))
def rule_body_window(cap, size):
    if size is not None:
        pages(cap, size)
        return
    for i in range(9):
        exchange(connect(cap, 80, i), None, b"zz" + b"abc" * 30000)


@entry("rules: transforms of bodies", "transforms that grow", short=True, proto="http",
       rules=rule('file.data; url_decode; to_lowercase; strip_whitespace; content:"nowhere";',
                  "http") + rule('http.uri; url_decode; dotprefix; to_sha256; '
                                 'content:"nowhere";', "http", 2))
def rule_transforms(cap, size):
    if size is not None:
        pages(cap, size)
        return
    for i in range(9):
        exchange(connect(cap, 80, i), None, b"%25 " * 22000)


@entry("rules: alerts with each segment of a stream", "log amplification: alerts", short=True,
       rules=rule('content:"a";') + rule('content:"b";', sid=2))
def rule_alerts(cap, size):
    if size is not None:
        transfers(cap, size, 20000)
        return
    flow = connect(cap, 9999)
    for i in rounds(cap, size, 6000):
        flow.send(0, 24, b"abab")
        flow.send(1, 16)


@entry("rules: alerts that print the same large body", "log amplification: payload in alerts",
       sets=["outputs.1.eve-log.types.0.alert.payload=yes",
             "outputs.1.eve-log.types.0.alert.http-body=yes"], proto="http", short=True,
       rules="".join(rule(f'file.data; content:"a"; content:"{c}"; distance:0;', "http", i + 1)
                     for i, c in enumerate("bcdefghijk")))
def rule_alert_bodies(cap, size):
    if size is not None:
        for i in rounds(cap, size, 0):
            exchange(connect(cap, 80, i), None, b"q" * min(9000, max(100, size - cap.bytes)))
        return
    for i in range(40):
        exchange(connect(cap, 80, i), None, TEXT[:20000])


@entry("rules: flowbits, counts and sets by what traffic says", "state that rules keep", short=True,
       rules=rule('http.uri; dataset:set,uris,type string,memcap 4MiB,hashsize 1024; noalert;',
                  "http") + rule('http.host; xbits:set,a,track ip_pair; noalert;', "http", 2),
       proto="http")
def rule_datasets(cap, size):
    for i in rounds(cap, size, 2600):
        flow = connect(cap, 80, i // 100)
        flow.to_server(http_request("a%d" % i, "/%030d" % (i if size is None else i % 10)))
        flow.to_client(http_response(b"ok"))


LIBHTP = "app-layer.protocols.http.libhtp.default-config."
WHOLE = [LIBHTP + "response-body-limit=2mb", LIBHTP + "response-body-minimal-inspect-size=1mb",
         LIBHTP + "response-body-inspect-window=1mb"]


def bodies(cap, size, body, count=3):
    if size is not None:
        pages(cap, size, 200000)
        return
    for i in range(count):
        exchange(connect(cap, 80, i), None, body)


def body_entry(called, what, source, options, body, **more):
    make = lambda cap, size: bodies(cap, size, body())      # noqa: E731
    make.__name__ = "rule_" + called
    entry("rules: " + what, source, rules=rule("file.data; " + options, "http"), sets=WHOLE,
          proto="http", **more)(make)


body_entry("body_pcre_retry", "a regular expression after each byte of a large body", SMITH,
           'content:"a"; fast_pattern; pcre:"/a[ac-z]{8}bq/R";', lambda: b"a" * 300000 + b"b", short=True,
           reaches=STEPS)
body_entry("body_pcre_pairs", "two regular expressions, the second from each match of the first",
           SMITH, 'content:"ab"; fast_pattern; pcre:"/a/"; pcre:"/a[a-p]{8}cq/R";',
           lambda: b"ab" * 150000 + b"c", short=True, reaches=STEPS)
body_entry("body_content_far", "a content after each other, found at the far end only", SMITH,
           'content:"a"; fast_pattern; content:"bq"; within:65000; content:"zz"; within:2;',
           lambda: b"zz" + (b"a" * 60000 + b"bq") * 5, reaches=STEPS)
body_entry("body_pcre_negated", "a negated regular expression that goes back", "ReDoS, Crosby 2003",
           'content:"a"; fast_pattern; pcre:!"/(a+)+$/";', lambda: (b"a" * 60 + b"!") * 5000,
           reaches=PCRE)
body_entry("body_pcrexform", "a regular expression as a transform that goes back",
           "ReDoS, Crosby 2003", 'pcrexform:"((?:a+)+)$"; content:"zz";',
           lambda: (b"a" * 60 + b"!") * 5000, short=True, reaches=PCRE)


@entry("rules: a regular expression after each byte of small packets", SMITH, short=True, reaches=STEPS,
       rules=rule('content:"a"; fast_pattern; pcre:"/a[ac-z]{8}bq/R";', "udp"))
def rule_packet_pcre_retry(cap, size):
    for i in rounds(cap, size, 300):
        cap.udp("10.0.0.1", 2000 + i, "10.0.0.2", 9999, (b"a" * 1300 if size is None else
                                                         b"c" * 1300) + b"bxq")


@entry("rules: alerts about a message of thousands of files", "log amplification: files in alerts",
       short=True, proto="http",
       rules="".join(rule(f'http.method; content:"POST"; file.data; content:"x"; {more}', "http", i + 1)
                     for i, more in enumerate(("", "filesize:1;", 'content:!"q";', "endswith;"))))
def rule_alert_files(cap, size):
    if size is not None:
        pages(cap, size, uploads=True)
        return
    part = b'--b\r\nContent-Disposition: form-data; name="f"; filename="%d"\r\n\r\nx\r\n'
    body = b"".join(part % i for i in range(10000)) + b"--b--\r\n"
    flow = connect(cap, 80)
    flow.to_server(http_request("a", "/up", method="POST", body=body,
                                headers=("Content-Type: multipart/form-data; boundary=b",)))
    flow.to_client(http_response(b"ok"))


@entry("rules: base64 decoded again from each place", SMITH, short=True, reaches=STEPS,
       rules=rule('content:"a"; fast_pattern; base64_decode:relative; base64_data; content:"zz";', "udp"))
def rule_base64(cap, size):
    for i in rounds(cap, size, 900):
        cap.udp("10.0.0.1", 2000 + i % 100, "10.0.0.2", 9999, (b"a" if size is None else b"d") * 1300)


LOOKAHEAD = 'content:"a"; fast_pattern; pcre:"/a(?=[^b]*c)/";'
body_entry("body_lookahead", "a lookahead that reads a body from each byte", "ReDoS, Crosby 2003",
           LOOKAHEAD, lambda: b"a" * 300000 + b"bc", short=True, reaches=PCRE)
rule_entry("lookahead", "a lookahead that reads a packet from each byte", "ReDoS, Crosby 2003",
           LOOKAHEAD, lambda: segments(b"bc", b"a" * 300000), reaches=PCRE)
body_entry("body_lookahead_pcrexform", "a lookahead in a transform", "ReDoS, Crosby 2003",
           'pcrexform:"(a)(?=[^b]*c)"; content:"zz";', lambda: b"a" * 300000 + b"bc",
           reaches=PCRE)
rule_entry("wide_repeats", "repeats up to 1,000 from each byte", "ReDoS, Crosby 2003",
           'content:"a"; fast_pattern; pcre:"/a[^b]{1,1000}bd/";',
           lambda: segments(b"bxd", b"a" * 300000), reaches=PCRE)
