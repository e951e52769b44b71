# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules broken in one place, for qa/explain/run.

A row: name, capture, rule, what stands in its place {}, when it fires, and when it does not, and
what the first line of the explanation says then (a regular expression). The rule is `alert` and
sid 1; further rules of the set and a threshold file may follow."""
import base64
import hashlib
import os
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from pcapgen import ACK, Capture, PSH, SYN, TcpFlow, dns_answer, dns_query  # noqa: E402

CLIENT, SERVER = "10.1.2.3", "192.0.2.80"
BODY = b"user=Admin&pass=secret&token=YWJjZGVm"
REQUEST = (b"POST /Login/index.php?id=42&q=a%%20b HTTP/1.1\r\nHost: www.example.com\r\n"
           b"User-Agent: curl/7.88\r\nCookie: sid=abc123\r\nReferer: http://ref.example/x\r\n"
           b"Content-Type: text/plain\r\nX-Num: 77\r\n"
           b"Content-Length: %d\r\n\r\n" % len(BODY)) + BODY
ANSWER = (b"HTTP/1.1 404 Not Found\r\nServer: nginx/1.2\r\nSet-Cookie: k=v\r\n"
          b"Content-Type: text/html\r\nContent-Length: 18\r\n\r\n<html>gone</html>\n")
MESSAGE = b"HELLO\x00\x10\x00\x05abcdeTAIL:12345:END\r\n"


def http(cap):
    flow = TcpFlow(cap, CLIENT, 40000, SERVER, 80)
    flow.open()
    flow.to_server(REQUEST)
    flow.to_client(ANSWER)
    flow.close()


def raw(cap):
    flow = TcpFlow(cap, CLIENT, 40001, SERVER, 7777)
    flow.open()
    flow.to_server(MESSAGE)
    flow.to_client(b"+OK bye\r\n")
    flow.close()


def udp(cap):
    cap.udp(CLIENT, 5000, SERVER, 6000, MESSAGE)


def many(cap):
    for i in range(3):
        cap.udp(CLIENT, 5000 + i, SERVER, 6000, MESSAGE)


def dns(cap):
    cap.udp(CLIENT, 5353, SERVER, 53, dns_query(7, "mail.example.org"))
    cap.udp(SERVER, 53, CLIENT, 5353, dns_answer(7, "mail.example.org", ["192.0.2.1"]))


def ping(cap):
    cap.ping(CLIENT, SERVER)
    cap.ping(SERVER, CLIENT, reply=True)


def syn(cap):
    cap.tcp(CLIENT, 1234, SERVER, 80, 100, 0, SYN, options=struct.pack(">BBH", 2, 4, 1460))


def midstream(cap):
    cap.tcp(CLIENT, 1234, SERVER, 7777, 100, 200, PSH | ACK, MESSAGE)


def two_flows(cap):
    raw(cap)
    udp(cap)


def bad_checksum(cap):
    flow = TcpFlow(cap, CLIENT, 40001, SERVER, 7777)
    flow.open()
    flow.to_server(MESSAGE)
    for i, (when, data) in enumerate(cap.frames):
        if MESSAGE in data:
            cap.frames[i] = (when, data[:50] + bytes((data[50] ^ 1,)) + data[51:])


def hello(extensions=b""):
    """A ClientHello without a server name."""
    body = b"\x03\x03" + bytes(range(32)) + b"\0" + b"\0\x02\x13\x01" + b"\x01\0"
    body += struct.pack(">H", len(extensions)) + extensions
    message = b"\x01" + struct.pack(">I", len(body))[1:] + body
    return b"\x16\x03\x01" + struct.pack(">H", len(message)) + message


def tls(cap):
    flow = TcpFlow(cap, CLIENT, 40002, SERVER, 443)
    flow.open()
    flow.to_server(hello())
    flow.close()


def ber(tag, *parts):
    """A value of ASN.1: at most 65,535 bytes."""
    data = b"".join(parts)
    size = bytes([len(data)]) if len(data) < 128 else b"\x82" + struct.pack(">H", len(data))
    return bytes([tag]) + size + data


def name(text):
    return ber(0x30, ber(0x31, ber(0x30, ber(6, b"\x55\x04\x03"), ber(12, text))))


def certificate(last):
    """Of www.example.com, by Some CA, valid from 2020 to the end of a day: "21" + "0301"."""
    algorithm = ber(0x30, ber(6, b"\x2a\x03"))
    body = ber(0x30, ber(0xa0, ber(2, b"\2")), ber(2, b"\x4d"), algorithm, name(b"Some CA"),
               ber(0x30, ber(23, b"200101000000Z"), ber(23, last + b"235959Z")),
               name(b"www.example.com"), ber(0x30, algorithm, ber(3, b"\0key")))
    return ber(0x30, body, algorithm, ber(3, b"\0sig"))


GOOD, OLD = certificate(b"330101"), certificate(b"210301")


def handshake(cap, cert):
    def sized(data):
        return struct.pack(">I", len(data))[1:] + data

    answer = b"\x02" + sized(b"\x03\x03" + bytes(32) + b"\0\x00\x2f\0")
    answer += b"\x0b" + sized(sized(sized(cert)))
    flow = TcpFlow(cap, CLIENT, 40005, SERVER, 443)
    flow.open()
    flow.to_server(hello())
    flow.to_client(b"\x16\x03\x03" + struct.pack(">H", len(answer)) + answer)
    flow.close()


def tls_good(cap):
    handshake(cap, GOOD)


def tls_old(cap):
    handshake(cap, OLD)


def ftp(cap):
    flow = TcpFlow(cap, CLIENT, 40006, SERVER, 21)
    flow.open()
    flow.to_client(b"220 ready\r\n")
    flow.to_server(b"PORT 10,1,2,3,4,5\r\n")
    flow.to_client(b"200 done\r\n")
    flow.close()


def mqtt(cap):
    flow = TcpFlow(cap, CLIENT, 40007, SERVER, 1883)
    flow.open()
    flow.to_server(b"\x10\x0d\0\4MQTT\4\2\0\x3c\0\1a")
    flow.to_client(b"\x20\2\0\0")
    flow.to_server(b"\x30\7\0\3t/ahi")
    flow.close()


def kerberos(cap):
    """AS-REQ, and KRB-ERROR 25."""
    realm = ber(0x1b, b"EXAMPLE.COM")
    server = ber(0x30, ber(0xa0, ber(2, b"\2")), ber(0xa1, ber(0x30, ber(0x1b, b"krbtgt"), realm)))
    body = ber(0x30, ber(0xa0, ber(2, b"\5")), ber(0xa1, ber(2, b"\x1e")),
               ber(0xa4, ber(0x18, b"20231114221320Z")), ber(0xa5, ber(2, b"\1")),
               ber(0xa6, ber(2, b"\x19")), ber(0xa9, realm), ber(0xaa, server))
    ask = ber(0x30, ber(0xa0, ber(3, bytes(5))), ber(0xa2, realm), ber(0xa3, server),
              ber(0xa5, ber(0x18, b"20231115221320Z")), ber(0xa7, ber(2, b"\7")),
              ber(0xa8, ber(0x30, ber(2, b"\x12"))))
    cap.udp(CLIENT, 40008, SERVER, 88, ber(0x6a, ber(
        0x30, ber(0xa1, ber(2, b"\5")), ber(0xa2, ber(2, b"\x0a")), ber(0xa4, ask))))
    cap.udp(SERVER, 88, CLIENT, 40008, ber(0x7e, body))


def smb(cap):
    def message(flags, body):
        header = b"\xfeSMB" + struct.pack("<HHIHHIIQIIQ", 64, 0, 0, 0, 1, flags, 0, 0, 0, 0, 0)
        header += bytes(16)
        return struct.pack(">I", len(header + body)) + header + body

    flow = TcpFlow(cap, CLIENT, 40009, SERVER, 445)
    flow.open()
    flow.to_server(message(0, struct.pack("<HHHHI", 36, 1, 1, 0, 0) + bytes(24) + b"\2\2"))
    flow.to_client(message(1, struct.pack("<HHHH", 65, 1, 0x202, 0) + bytes(56) + b"\0"))
    flow.close()


def dcerpc(cap):
    def pdu(kind, body):
        return struct.pack("<BBBBIHHI", 5, 0, kind, 3, 0x10, 16 + len(body), 0, 1) + body

    uuid = bytes.fromhex("c84f324b7016d30112785a47bf6ee188")
    transfer = bytes.fromhex("045d888aeb1cc9119fe808002b10486002000000")
    flow = TcpFlow(cap, CLIENT, 40010, SERVER, 135)
    flow.open()
    flow.to_server(pdu(11, struct.pack("<HHIBBHHBB", 4280, 4280, 0, 1, 0, 0, 0, 1, 0) + uuid +
                       struct.pack("<I", 3) + transfer))
    flow.to_client(pdu(12, struct.pack("<HHIH", 4280, 4280, 1, 4) + b"135\0" + b"\0\0" +
                       struct.pack("<BBHHH", 1, 0, 0, 0, 0) + transfer))
    flow.to_server(pdu(0, struct.pack("<IHH", 8, 0, 3) + b"argument"))
    flow.to_client(pdu(2, struct.pack("<IHH", 8, 0, 0) + b"answers!"))
    flow.close()


def http2(cap):
    settings = b"\0\0\6\4\0\0\0\0\0" + struct.pack(">HI", 3, 100)
    flow = TcpFlow(cap, CLIENT, 40011, SERVER, 80)
    flow.open()
    flow.to_server(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings)
    flow.to_client(settings)
    flow.close()


def evil(cap):
    """Two transactions; what the second has is not to be named of the first."""
    flow = TcpFlow(cap, CLIENT, 40003, SERVER, 80)
    flow.open()
    for path in (b"/first", b"/second"):
        flow.to_server(b"GET %s HTTP/1.1\r\nHost: www.example.com\r\nUser-Agent: EvilBot/1.0\r\n"
                       b"Cookie: track=%s\r\n\r\n" % (path, path[1:]))
        flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n")
    flow.close()


def large(cap):
    """A body whose mark stands behind 2,000 other bytes."""
    flow = TcpFlow(cap, CLIENT, 40004, SERVER, 80)
    flow.open()
    flow.to_server(b"GET /large HTTP/1.1\r\nHost: www.example.com\r\n\r\n")
    body = b"x" * 2000 + b"THE-MARK" + b"y" * 100
    flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body[:1000])
    flow.to_client(body[1000:])
    flow.close()


def steps(cap):
    """Two datagrams of one flow: the second has what sets a bit."""
    cap.udp(CLIENT, 5000, SERVER, 6000, MESSAGE)
    cap.udp(CLIENT, 5000, SERVER, 6000, b"SECOND")


def two_datagrams(cap):
    udp(cap)
    dns_text(cap)


def dns_text(cap):
    cap.udp(CLIENT, 5353, SERVER, 53, dns_query(7, "bad.evil.example"))


CAPTURES = {f.__name__: f for f in (http, raw, udp, many, dns, ping, syn, midstream, two_flows,
                                    bad_checksum, tls, tls_good, tls_old, ftp, mqtt, kerberos, smb,
                                    dcerpc, http2, evil, two_datagrams, large, steps, dns_text)}

# Beside the rules of a case; in options {work} is where they are.
FILES = {
    "categories.txt": "1,Bad,bad hosts\n2,Scan,scanners\n",
    "reputation.list": f"{CLIENT},1,70\n198.51.100.0/24,2,10\n",
    "names.lst": base64.b64encode(b"mail.example.org").decode() + "\n" +
                 base64.b64encode(b"www.example.net").decode() + "\n",
    "names.rep": base64.b64encode(b"mail.example.org").decode() + ",40\n",
    "other.rep": base64.b64encode(b"www.example.net").decode() + ",40\n",
}
REPUTATION = ["--set", "reputation-categories-file={work}/categories.txt",
              "--set", "default-reputation-path={work}", "--set",
              "reputation-files.0=reputation.list"]

H = "http any any -> any any (msg:\"a\"; "
U = "udp any any -> any any (msg:\"a\"; "
T = "tcp any any -> any any (msg:\"a\"; "
S = "tls any any -> any any (msg:\"a\"; flow:to_client; "
C = 'dcerpc any any -> any any (msg:"a"; dcerpc.stub_data; content:"argument"; '
D = 'dns any any -> any any (msg:"a"; dns.query; '
PRINT, OTHER = (":".join(f"{byte:02x}" for byte in hashlib.sha1(cert).digest())
                for cert in (GOOD, OLD))
VALID = (r"the certificate is valid from 2020-01-01 00:00:00 to 2033-01-01 23:59:59 UTC, and this "
         r"is 2023-11-14 22:13:20")

CASES = [
    # --- header ---
    ("protocol", "udp", '{} any any -> any any (msg:"a"; content:"HELLO";', "udp", "tcp",
     r"the protocol is UDP.*wants tcp"),
    ("source", "udp", 'udp {} any -> any any (msg:"a"; content:"HELLO";', "10.1.2.0/24",
     "10.1.3.0/24", r"the source address is 10\.1\.2\.3, the rule wants 10\.1\.3\.0/24"),
    ("destination", "udp", 'udp any any -> {} any (msg:"a"; content:"HELLO";', "192.0.2.80",
     "!192.0.2.80", r"the destination address is 192\.0\.2\.80"),
    ("source-port", "udp", 'udp any {} -> any any (msg:"a"; content:"HELLO";', "5000", "5001",
     r"the source port is 5000, the rule wants 5001"),
    ("destination-port", "udp", 'udp any any -> any {} (msg:"a"; content:"HELLO";', "6000",
     "[53,123]", r"the destination port is 6000, the rule wants \[53,123\]"),
    ("app-protocol", "http", '{} any any -> any any (msg:"a"; flow:established;', "http", "tls",
     r"the application protocol is http, the rule wants tls"),
    # --- flow ---
    ("direction", "raw", T + '{} content:"HELLO";', "flow:to_server;", "flow:to_client;",
     r"the direction is to the server, the rule looks at what goes to the client"),
    ("direction-back", "raw", T + '{} content:"+OK bye";', "flow:to_client;", "flow:to_server;",
     r"the direction is to the client"),
    ("established", "midstream", T + '{} content:"HELLO"; dsize:>1;', "flow:stateless;",
     "flow:established;", r"not established at this packet: its handshake was not seen, and stream.midstream is off"),
    ("not-established", "raw", T + '{} content:"HELLO"; dsize:>1;', "flow:established;",
     "flow:not_established;", r"the flow is established"),
    ("from-fragments", "udp", U + '{} content:"HELLO";', "flow:no_frag;", "flow:only_frag;",
     r"does not come from fragments"),
    # --- tests on packets ---
    ("ttl", "udp", U + 'ttl:{}; content:"HELLO";', "64", "<64", r"ttl:<64.*time to live is 64"),
    ("dsize", "udp", U + 'dsize:{}; content:"HELLO";', ">10", ">100",
     r"dsize:>100.*has 30 bytes"),
    ("flags", "syn", T + "flags:{};", "S", "SA", r"flags:SA.*the flags are S"),
    ("window", "syn", T + "flags:S; window:{};", "65535", "1024", r"window:1024.*is 65535"),
    ("seq", "syn", T + "flags:S; seq:{};", "100", "101", r"seq:101.*is 100"),
    ("ack", "syn", T + "flags:S; ack:{};", "0", "1", r"ack:1.*is 0"),
    ("tcp-mss", "syn", T + "flags:S; tcp.mss:{};", "1460", "<1000", r"tcp\.mss:<1000 does not hold: the maximum segment size is 1460"),
    ("itype", "ping", 'icmp any any -> any any (msg:"a"; itype:{}; icode:0;', "8", "13",
     r"itype:13.*ICMP type is [08]"),
    ("icode", "ping", 'icmp any any -> any any (msg:"a"; itype:8; icode:{};', "0", "3",
     r"icode:3.*ICMP code is 0"),
    ("icmp-id", "ping", 'icmp any any -> any any (msg:"a"; itype:8; icmp_id:{};', "1", "2",
     r"icmp_id:2 does not hold: the identifier is 1"),
    ("ip-proto", "ping", 'ip any any -> any any (msg:"a"; ip_proto:{};', "1", "47",
     r"ip_proto:47.*IP protocol is 1"),
    ("tos", "udp", U + 'tos:{}; content:"HELLO";', "0", "8", r"tos:8.*is 0"),
    ("fragbits", "udp", U + 'fragbits:{}; content:"HELLO";', "!M", "M", r"fragbits:M does not hold: the fragment offset is 0, no more fragments"),
    ("sameip", "udp", U + '{} content:"HELLO";', "", "sameip;", r"sameip.*10\.1\.2\.3"),
    ("vlan", "udp", U + 'vlan.layers:{}; content:"HELLO";', "0", "1", r"vlan\.layers:1 does not hold: the packet has no VLAN"),
    ("flow-pkts", "raw", T + "flow.pkts_toserver:{}; flow:to_server;", ">2", ">50",
     r"flow\.pkts_toserver:>50.*to the server"),
    ("app-layer-protocol", "http", T + "app-layer-protocol:{};", "http", "ssh",
     r"app-layer-protocol:ssh.*is http"),
    # --- contents ---
    ("case", "http", H + 'http.method; content:"POST"; http.uri; content:"{}";', "/Login", "/login",
     r'http\.uri has "/Login" at 0, the rule wants "/login" with this case'),
    ("not-there", "udp", U + 'content:"{}";', "HELLO", "QUIT",
     r'the payload does not have "QUIT"'),
    ("part", "udp", U + 'content:"{}";', "TAIL|3a|12345", "TAIL|3a|12399",
     r'the payload has "TAIL\|3a\|12345".*wants "TAIL\|3a\|12399"'),
    ("hex", "udp", U + 'content:"{}";', "|00 10 00 05|", "|00 10 00 06|", r'the payload has "\|00 10 00 05\|" at 5, the rule wants "\|00 10 00 06\|"'),
    ("offset", "udp", U + 'content:"abcde"; offset:{};', "9", "10",
     r'has "abcde" at 9, the rule wants it in bytes 10 to 30'),
    ("depth", "udp", U + 'content:"abcde"; depth:{};', "14", "13",
     r'has "abcde" at 9, the rule wants it in bytes 0 to 13'),
    ("startswith", "udp", U + 'content:"{}"; startswith;', "HELLO", "ELLO", r'has "ELLO" at 1'),
    ("endswith", "udp", U + 'content:"{}"; endswith;', "END|0d 0a|", "12345",
     r'has "12345" at 19, the rule wants it at the end'),
    ("distance", "udp", U + 'content:"HELLO"; content:"abcde"; distance:{};', "4", "5",
     r'has "abcde" at 9, the rule wants it in bytes 10 .*match that ends at 5.*distance:5'),
    ("within", "udp", U + 'content:"HELLO"; content:"abcde"; distance:0; within:{};', "9", "8",
     r'has "abcde" at 9, the rule wants it in bytes 5 to 13'),
    ("negated", "udp", U + 'content:"HELLO"; content:!"{}";', "QUIT", "TAIL",
     r'has "TAIL" at 14, which the rule excludes'),
    ("nocase-not-there", "udp", U + 'content:"{}"; nocase;', "hello", "hallo",
     r'(does not have|has).*"hallo"'),
    ("first-of-two", "udp", U + 'content:"{}"; content:"TAIL"; distance:0;', "HELLO", "HOLLA",
     r'(does not have|has).*"HOLLA"'),
    ("fast-pattern", "udp", U + 'content:"HELLO"; content:"{}"; fast_pattern;', "abcde", "abcdf",
     r'has "abcde" at 9, the rule wants "abcdf"'),
    ("stream", "raw", T + 'flow:established,to_server; content:"{}";', "TAIL", "TALL",
     r'the payload has "TAIL" at 14, the rule wants "TALL"'),
    # --- other steps ---
    ("pcre", "udp", U + r'content:"HELLO"; pcre:"/{}/";', r"TAIL:\d+:END", r"TAIL:\d+:FIN",
     r'the payload does not match pcre.*as far as "TAIL\|3a\|12345\|3a\|"'),
    ("pcre-negated", "udp", U + 'content:"HELLO"; pcre:!"/{}/";', "QUIT", "TA.L",
     r"matches pcre.*which the rule excludes"),
    ("pcre-relative", "udp", U + 'content:"HELLO"; pcre:"/^{}/R";', r"\x00\x10", r"abc",
     r'the payload does not match pcre:"/\^abc/R"; without \^ it matches "abc" at 9'),
    ("isdataat", "udp", U + 'content:"HELLO"; isdataat:{},relative;', "20", "40",
     r"isdataat:40,relative.*25 of them"),
    ("isdataat-negated", "udp", U + 'content:"END|0d 0a|"; isdataat:{}1,relative;', "!", "",
     r"isdataat:1,relative.*0 of them"),
    ("byte_test", "udp", U + 'content:"HELLO"; byte_test:2,{},0,relative;', "=,16", "=,17",
     r"byte_test:2,=,17,0,relative: the value at 5 of the payload is 16"),
    ("byte_test-digits", "udp", U + 'content:"TAIL"; byte_test:5,{},1,relative,string,dec;',
     "=,12345", ">,99999", r"byte_test.*is 12345"),
    ("byte_jump", "udp", U + 'content:"HELLO"; byte_jump:2,{},relative; content:"TAIL"; '
     "distance:0; within:4;", "2", "0", r'has "TAIL" at 14, the rule wants it in bytes'),
    ("byte_extract", "udp", U + 'content:"HELLO"; byte_extract:2,{},n,relative; content:"TAIL"; '
     "distance:n; within:4;", "2", "0", r'has "TAIL" at 14, the rule wants it in bytes'),
    ("byte_math", "udp", U + 'content:"HELLO"; byte_math:bytes 2, offset 2, oper {}, rvalue 4, '
     'result n, relative; content:"TAIL"; offset:n; depth:23;', "+", "*", r'has "TAIL" at 14, the rule wants it'),
    ("bsize", "http", H + 'http.host; content:"example"; bsize:{};', "15", "14",
     r"http\.host has 15 bytes, the rule wants bsize:14"),
    ("urilen", "http", H + 'http.method; content:"POST"; urilen:{};', ">5", ">500",
     r"http\.uri.* has \d+ bytes, the rule wants urilen:>500"),
    ("base64", "http", H + 'http.request_body; content:"token="; base64_decode:relative; '
     'base64_data; content:"{}";', "abcdef", "abcxyz", r'base64_data is "abcdef", the rule wants "abcxyz"'),
    ("absent", "http", H + 'http.method; content:"POST"; {}; absent;', "http.accept_enc",
     "http.cookie", r"http\.cookie is there, the rule wants it absent"),
    ("entropy", "udp", U + 'content:"HELLO"; entropy: value {};', "> 1", "> 7.9", r"entropy: value > 7\.9 does not hold for the payload"),
    # --- buffers ---
    ("wrong-buffer", "http", H + '{}; content:"secret";', "http.request_body", "http.uri",
     r'http\.uri.*, the rule wants "secret"; http\.request_body has it at 16'),
    ("normalised", "http", H + '{}; content:"a%20b";', "http.uri.raw", "http.uri",
     r'http\.uri is .*, the rule wants "a%20b"; http\.uri\.raw has it at 25'),
    ("lower-case", "http", H + '{}; content:"login";', "http.uri; to_lowercase", "http.uri",
     r'http\.uri has "Login" at 1, the rule wants "login" with this case'),
    ("transform", "http", H + 'http.uri.raw; {}; content:"a b";', "url_decode",
     "compress_whitespace", r'compress_whitespace is .*, the rule wants "a b"; http\.uri has it at 25'),
    ("user-agent", "http", H + 'http.user_agent; content:"{}";', "curl", "wget",
     r'http\.user_agent is "curl/7\.88", the rule wants "wget"'),
    ("header", "http", H + 'http.header; content:"{}";', "X-Num|3a| 77", "X-Num|3a| 78",
     r'http\.header has "X-Num\|3a\| 77"'),
    ("cookie", "http", H + 'http.cookie; content:"{}";', "sid=abc", "sid=xyz",
     r'http\.cookie is "sid=abc123", the rule wants "sid=xyz"'),
    ("host", "http", H + 'http.host; content:"{}";', "example.com", "example.net",
     r'http\.host is "www\.example\.com", the rule wants "example\.net"'),
    ("referer", "http", H + 'http.referer; content:"{}";', "ref.example", "ref.sample",
     r'http\.referer is "http\|3a\|//ref\.example/x", the rule wants "ref\.sample"'),
    ("request-body", "http", H + 'http.request_body; content:"{}";', "pass=secret", "pass=Secret",
     r'http\.request_body has "pass=secret" at \d+, the rule wants "pass=Secret" with this case'),
    ("status", "http", H + 'http.stat_code; content:"{}";', "404", "200",
     r'http\.stat_code is "404", the rule wants "200"'),
    ("status-text", "http", H + 'http.stat_msg; content:"{}";', "Not Found", "Not Here",
     r'http\.stat_msg is "Not Found", the rule wants "Not Here"'),
    ("server", "http", H + 'http.server; content:"{}";', "nginx", "apache", r'http\.server is "nginx/1\.2", the rule wants "apache"'),
    ("file-data", "http", H + 'flow:to_client; file.data; content:"{}";', "gone", "here",
     r'file\.data is "<html>gone</html>\|0a\|", the rule wants "here"'),
    ("no-buffer", "http", H + '{}; content:"a";', "http.cookie", "http.accept_enc",
     r"there is no http\.accept_enc"),
    ("wrong-side", "http", H + '{}; content:"html";', "http.response_body", "http.request_body",
     r'http\.request_body is .*, the rule wants "html"; .* has it at \d+, to the client'),
    ("dns-query", "dns", 'dns any any -> any any (msg:"a"; dns.query; content:"{}";',
     "mail.example", "mall.example", r'dns\.query is "mail\.example\.org", the rule wants "mall\.example"'),
    ("dns-opcode", "dns", 'dns any any -> any any (msg:"a"; dns.opcode:{};', "0", "4",
     r"dns\.opcode:4 does not hold: the value is 0"),
    ("dns-rrtype", "dns", 'dns any any -> any any (msg:"a"; dns.rrtype:{};', "1", "16",
     r"dns\.rrtype:16 does not hold: the value is 1"),
    ("tcp-hdr", "syn", T + 'tcp.hdr; content:"|{}|"; offset:13; depth:1;', "02", "12",
     r'tcp\.hdr is .*, the rule wants "\|12\|" in bytes 13 to 14'),
    ("ipv4-hdr", "udp", U + 'ipv4.hdr; content:"|{}|"; offset:9; depth:1;', "11", "12",
     r'ipv4\.hdr is .*, the rule wants "\|12\|" in bytes 9 to 10'),
    ("udp-hdr", "udp", U + 'udp.hdr; content:"|{}|"; startswith;', "13 88", "13 89", r'udp\.hdr is "\|13 88 17\|p.*, the rule wants "\|13 89\|"'),
    ("frame", "http", H + 'frame:http1.request; content:"{}";', "POST", "PAST",
     r'frame.* (does not have|has|is) .*"PAST"'),
    # --- state ---
    ("flowbit-never-set", "udp", U + 'flowbits:{},seen; content:"HELLO";', "isnotset", "isset",
     r"flowbits:isset,seen does not hold.*no rule sets it"),
    ("flowbit-of-a-rule", "udp", U + 'flowbits:{}; content:"HELLO";', "isset,one", "isset,two",
     r"flowbits:isset,two does not hold.*; rule 3 sets it, but has not matched in this flow",
     'alert udp any any -> any any (content:"TAIL"; flowbits:set,one; noalert; sid:2;)\n'
     'alert udp any any -> any any (content:"NONE"; flowbits:set,two; noalert; sid:3;)\n'),
    ("flowbit-set", "udp", U + 'flowbits:{},x; content:"HELLO";', "isnotset", "isset",
     r"flowbits:isset,x does not hold: the flow's bits are: none; no rule sets it"),
    ("flowint", "udp", U + 'flowint:{}; content:"HELLO";', "nn,notset", "nn,>,3",
     r"flowint:nn,>,3 does not hold.*none"),
    ("xbits", "udp", U + 'xbits:{},x,track ip_src; content:"HELLO";', "isnotset", "isset",
     r"xbits:isset,x,track ip_src does not hold: the bit is not set for 10\.1\.2\.3; no rule sets it"),
    ("dataset", "dns", 'dns any any -> any any (msg:"a"; dns.query; '
     'dataset:{},names,type string;', "isnotset", "isset",
     r'dataset:isset,names.*does not hold for dns\.query, which is "mail\.example\.org"'),
    ("dataset-set", "dns", 'dns any any -> any any (msg:"a"; dns.query; content:"{}"; '
     "dataset:set,new,type string;", "mail", "male", r'"male"'),
    # --- after the match ---
    ("threshold", "many", U + 'content:"HELLO"; threshold:type threshold, track by_src, count {}, '
     "seconds 60;", "3", "4", r"threshold: type threshold, track by_src, count 4, seconds 60 keeps the alert back: "
     r"3 of 4 within 60 s"),
    ("limit-both", "many", U + 'content:"HELLO"; threshold:type both, track by_dst, count {}, '
     "seconds 60;", "2", "9", r"threshold: type both, track by_dst, count 9, seconds 60 keeps the alert back: "
     r"3 of 9 within 60 s"),
    ("detection_filter", "many", U + 'content:"HELLO"; detection_filter:track by_src, count {}, '
     "seconds 60;", "1", "5", r"detection_filter: .*count 5, seconds 60 keeps the alert back: 3 of the 5 within 60 s"),
    ("suppress", "udp", U + 'content:"HELLO"; {}', "", "", r"suppress for 10\.1\.2\.3 \(.*suppress\.threshold:1, track by_src\) keeps the alert back",
     "", "suppress gen_id 1, sig_id 1, track by_src, ip 10.1.2.3\n"),
    ("noalert", "udp", U + 'content:"HELLO"; {}', "", "noalert;", r"noalert: the rule matches"),
    ("pass-rule", "udp", U + 'content:"{}";', "HELLO", "HELLO", r"pass rule 2 lets the packet go",
     "", "", 'pass udp any any -> any 6000 (content:"TAIL"; sid:2;)\n'),
    ("refused", "udp", U + 'content:"HELLO"; {}', "", "within:-1;",
     r"was refused when it was loaded.*within"),
    ("not-there-at-all", "udp", U + 'content:"HELLO"; {}', "", "requires: version >= 99;",
     r"is not among the rules that were loaded"),
    ("two-flows", "two_flows", T + 'flow:to_server; content:"{}"; content:"END";', "HELLO", "HELPS",
     r'on 1 flow: the payload (has|does not have).*"HELPS"'),
    # --- what would have been enough ---
    ("pcre-case", "http", H + 'http.uri; pcre:"/{}/";', "Login", "login",
     r'http\.uri does not match pcre:"/login/"; with i it matches "Login" at 1'),
    ("pcre-anchor", "udp", U + 'content:"HELLO"; pcre:"/{}TAIL/";', "", "^",
     r'does not match pcre:"/\^TAIL/"; without \^ it matches "TAIL" at 14'),
    ("pcre-both", "udp", U + 'content:"HELLO"; pcre:"/{}/";', "TAIL", "^tail",
     r'with i and without \^ it matches "TAIL" at 14'),
    ("pcre-place", "udp", U + 'content:"TAIL"; pcre:"/{}/R";', "12345", "HELLO",
     r'without R it matches "HELLO" at 0'),
    ("pcre-buffer", "http", H + '{}; pcre:"/pass=secret/";', "http.request_body", "http.uri",
     r"http\.uri does not match .*; it matches http\.request_body at 11"),
    ("method", "http", H + 'http.method; content:"{}";', "POST", "PUT",
     r'http\.method is "POST", the rule wants "PUT"'),
    ("exact-buffer", "evil", H + '{}; content:"EvilBot";', "http.user_agent", "http.uri",
     r'http\.uri is "/first", the rule wants "EvilBot"; http\.user_agent has it at 0'),
    ("exact-cookie", "evil", H + 'flow:to_server; {}; content:"track=first";', "http.cookie", "http.header",
     r'http\.header does not have "track=first"; http\.cookie has it at 0'),
    ("another-case", "evil", H + '{}; content:"evilbot";', "http.user_agent; to_lowercase",
     "http.uri", r"http\.user_agent has it at 0 in another case"),
    ("labels", "dns_text", '{} content:"bad.evil.example";',
     'dns any any -> any any (msg:"a"; dns.query;', 'udp any any -> any any (msg:"a";',
     r'it stands there as labels of DNS, "bad\|04\|evil\|07\|example" at 13: dns\.query has names'),
    # --- variables, and words ---
    ("home-net", "udp", 'udp {} any -> any any (msg:"a"; content:"HELLO";', "$HOME_NET",
     "!$HOME_NET", r"the source address is 10\.1\.2\.3, the rule wants !\$HOME_NET, which is "
     r"!\[192\.168\.0\.0/16,10\.0\.0\.0/8,172\.16\.0\.0/12\]"),
    ("external-net", "udp", 'udp {} any -> any any (msg:"a"; content:"HELLO";', "any",
     "$EXTERNAL_NET", r"the rule wants \$EXTERNAL_NET, which is !\[192\.168\.0\.0/16,"),
    ("http-ports", "udp", 'udp any any -> any {} (msg:"a"; content:"HELLO";', "6000",
     "$HTTP_PORTS", r"the destination port is 6000, the rule wants \$HTTP_PORTS, which is 80"),
    ("no-ports", "ping", 'ip any any -> any {} (msg:"a"; ip_proto:1;', "any", "80",
     r"ICMP has no ports, the rule wants 80"),
    ("http-on-tls", "tls", '{} any any -> any any (msg:"a"; flow:to_server;', "tls", "http",
     r"the application protocol is tls, the rule wants http"),
    ("not-recognised", "udp", '{} any any -> any any (msg:"a";', "udp", "dns",
     r"the application protocol was not recognised, the rule wants dns"),
    # --- values ---
    ("filesize", "http", H + "flow:to_client; filesize:{};", "18", "100",
     r"filesize:100 does not hold: the file has 18 bytes"),
    ("icmp-seq", "ping", 'icmp any any -> any any (msg:"a"; itype:8; icmp_seq:{};', "1", "2",
     r"icmp_seq:2 does not hold: the sequence number is 1"),
    ("cert-expired", "tls_good", S + "{};", "tls_cert_valid", "tls_cert_expired",
     "tls_cert_expired does not hold: " + VALID),
    ("cert-valid", "tls_old", S + "{};", "tls_cert_expired", "tls_cert_valid",
     r"tls_cert_valid does not hold: the certificate is valid from 2020-01-01 00:00:00 to "
     r"2021-03-01 23:59:59 UTC, and this is 2023-"),
    ("cert-notbefore", "tls_good", S + "tls_cert_notbefore:{};", "<2021-01", ">2021-01",
     "tls_cert_notbefore:>2021-01 does not hold: " + VALID),
    ("cert-notafter", "tls_good", S + "tls_cert_notafter:{};", ">2030-01", "<2030-01",
     "tls_cert_notafter:<2030-01 does not hold: " + VALID),
    ("tls-version", "tls_good", S + "tls.version:{};", "1.2", "1.3",
     r"tls\.version:1\.3 does not hold: the version is tls1\.2 \(0x0303\)"),
    ("ssl-version", "tls_good", S + "ssl_version:{};", "tls1.2,tls1.3", "sslv3,tls1.0",
     r"ssl_version:sslv3,tls1\.0 does not hold: the version is tls1\.2"),
    ("ssl-state", "tls_good", S + "ssl_state:{};", "server_hello", "client_keyx",
     r"ssl_state:client_keyx does not hold: the last message of the handshake is server_hello"),
    ("tls-subject", "tls_good", S + 'tls.subject:"{}";', "www.example.com", "www.example.net",
     r'tls\.subject:"www\.example\.net" does not hold: the subject is "CN=www\.example\.com"'),
    ("tls-issuer", "tls_good", S + 'tls.issuerdn:{};', '"Some CA"', '!"Some CA"',
     r'tls\.issuerdn:!"Some CA" does not hold: the issuer is "CN=Some CA"'),
    ("tls-fingerprint", "tls_good", S + 'tls.fingerprint:"{}";', PRINT, OTHER,
     rf'does not hold: the fingerprint is "{PRINT}"'),
    ("ftp-mode", "ftp", 'ftp any any -> any any (msg:"a"; ftp.command; content:"PORT"; '
     "ftp.mode:{};", "active", "passive",
     r"ftp\.mode:passive does not hold: the mode is active"),
    ("ftp-reply", "ftp", 'ftp any any -> any any (msg:"a"; ftp.reply; content:"done"; '
     "ftp.reply_received:{};", "yes", "no",
     r"ftp\.reply_received:no does not hold: a final reply has come"),
    ("mqtt-qos", "mqtt", 'mqtt any any -> any any (msg:"a"; mqtt.type:PUBLISH; mqtt.qos:{};', "0",
     "1", r"mqtt\.qos:1 does not hold: the value is 0"),
    ("krb5-error", "kerberos", 'krb5 any any -> any any (msg:"a"; flow:to_client; krb5_err_code:{};', "25", "6",
     r"krb5_err_code:6 does not hold: the value is 25"),
    ("smb-version", "smb", 'smb any any -> any any (msg:"a"; flow:to_server; smb.version:{};', "2",
     "1", r"smb\.version:1 does not hold: the version is 2"),
    ("dcerpc-opnum", "dcerpc", C + "dcerpc.opnum:{};", "3", "7",
     r"dcerpc\.opnum:7 does not hold: the operation is 3"),
    ("dcerpc-iface", "dcerpc", C + "dcerpc.iface:{};",
     "4b324fc8-1670-01d3-1278-5a47bf6ee188", "367abb81-9844-35f1-ad32-98f038001003",
     r"does not hold: the interfaces accepted are 4b324fc8-1670-01d3-1278-5a47bf6ee188 version 3"),
    ("http2-settings", "http2", 'http2 any any -> any any (msg:"a"; flow:to_server; '
     "http2.settings:SETTINGS_MAX_CONCURRENT_STREAMS{};", "=100", ">500",
     r"does not hold: the settings are SETTINGS_MAX_CONCURRENT_STREAMS=100"),
    ("checksum", "udp", U + 'udpv4-csum:{}; content:"HELLO";', "valid", "invalid",
     r"udpv4-csum:invalid does not hold: the checksum is valid"),
    ("stream-size", "raw", T + "flow:to_server; stream_size:client,{};", ">,20", ">,2000",
     r"stream_size:client,>,2000 does not hold: the client has sent \d+, the server \d+"),
    ("tcp-session", "raw", T + 'tcp.session:{}; dsize:>0; content:"HELLO";', "established",
     "closing", r"tcp\.session:closing does not hold: the session is in established"),
    ("datarep", "dns", D + "datarep:hosts,{},type string,load names.rep;", ">,30", "<,30",
     r'datarep:hosts,<,30,.* does not hold for dns\.query, which is "mail\.example\.org": its '
     r"reputation is 40"),
    ("datarep-none", "dns", D + "datarep:{};", "hosts,==,40,type string,load names.rep",
     "others,==,40,type string,load other.rep",
     r'which is "mail\.example\.org": it has no reputation in the set others'),
    ("dataset-loaded", "dns", D + "dataset:{},names,type string,load names.lst;", "isset",
     "isnotset", r'dataset:isnotset,names.* which is "mail\.example\.org": the set names has it'),
    ("dataset-other", "dns", D + "{}; dataset:isset,names,type string,load names.lst;",
     "to_lowercase", "to_uppercase",
     r'which is "MAIL\.EXAMPLE\.ORG": the set names does not have it, but 2 other values'),
    ("dataset-by-rule", "dns", D + "dataset:{},seen,type string;", "isnotset", "isset",
     r"the set seen does not have it, it is empty; rule 2 puts values there",
     'alert dns any any -> any any (dns.query; content:"nowhere"; dataset:set,seen,type string; '
     "sid:2;)\n"),
    # --- who sets a bit ---
    ("flowbit-later", "steps", U + 'flowbits:{},late; content:"HELLO";', "isnotset", "isset",
     r"flowbits:isset,late does not hold.*; rule 2 sets it, first at packet 2",
     'alert udp any any -> any any (content:"SECOND"; flowbits:set,late; noalert; sid:2;)\n'),
    ("xbits-other-track", "udp", U + 'xbits:{},x,track ip_src; content:"HELLO";', "isnotset",
     "isset", r"the bit is not set for 10\.1\.2\.3; rule 2 sets it \(track ip_dst\), first at "
     r"packet 1",
     'alert udp any any -> any any (content:"TAIL"; xbits:set,x,track ip_dst; noalert; sid:2;)\n'),
    ("hostbits", "udp", U + 'hostbits:{},h,dst; content:"HELLO";', "isnotset", "isset",
     r"the bit is not set for 192\.0\.2\.80; no rule sets it"),
    # --- after the match ---
    ("pass-rule-http", "http", H + 'http.uri; content:"{}";', "Login", "Login",
     r"pass rule 2 lets the packet go", "", "",
     'pass http any any -> any any (http.method; content:"POST"; sid:2;)\n'),
]

# Without a broken rule: name, capture, options, rules, exit status, what the output has; a threshold
# file may follow.
LIMIT = "app-layer.protocols.http.libhtp.default-config.response-body-limit=1500"
ANSWERS = [
    ("limit-held-back", "many", ["--explain", "1"], "alert udp any any -> any any (content:\"HELLO\"; "
     "threshold:type limit, track by_src, count 1, seconds 60; sid:1;)", 0,
     r"\ARule 1 fired 1 time, .*; 2 more held back by threshold: type limit, track by_src, count 1"),
    ("body-limit", "large", ["--explain", "1", "--set", LIMIT],
     'alert http any any -> any any (file.data; content:"THE-MARK"; sid:1;)', 0,
     r'file\.data does not have "THE-MARK"; file\.data ends at 1500, the limit of the configuration'),
    ("bad-checksum", "bad_checksum", ["--explain", "1", "-k", "all"],
     'alert http any any -> any any (http.method; content:"HELLO"; sid:1;)', 0,
     r"\ARule 1 did not fire on .*: the application protocol is not known at this packet, the rule "
     r"wants http; the stream has refused the payload: its checksum is wrong"),
    ("midstream", "midstream", ["--explain", "1"],
     'alert http any any -> any any (http.method; content:"HELLO"; sid:1;)', 0,
     r"wants http; the stream has refused the payload: its handshake was not seen, and "
     r"stream.midstream is off"),
    ("iprep", "udp", ["--explain", "1", *REPUTATION],
     'alert udp any any -> any any (iprep:src,Bad,>,80; content:"HELLO"; sid:1;)', 0,
     r"\ARule 1 did not fire on 1 flow: iprep:src,Bad,>,80 does not hold: the score of 10\.1\.2\.3 "
     r"is 70\n"),
    ("iprep-none", "udp", ["--explain", "1", *REPUTATION],
     'alert udp any any -> any any (iprep:dst,Bad,>,1; content:"HELLO"; sid:1;)', 0,
     r"iprep:dst,Bad,>,1 does not hold: 192\.0\.2\.80 has no score\n"),
    ("iprep-both", "udp", ["--explain", "1", *REPUTATION],
     'alert udp any any -> any any (iprep:both,Bad,>,1; content:"HELLO"; sid:1;)', 0,
     r"does not hold: the score of 10\.1\.2\.3 is 70, 192\.0\.2\.80 has no score\n"),
    ("iprep-category", "udp", ["--explain", "1", *REPUTATION],
     'alert udp any any -> any any (iprep:any,Scan,>,1; content:"HELLO"; sid:1;)', 0,
     r"does not hold: the score of 10\.1\.2\.3 is 0, 192\.0\.2\.80 has no score\n"),
    ("iprep-fires", "udp", ["--explain", "1", *REPUTATION],
     'alert udp any any -> any any (iprep:src,Bad,>,60; content:"HELLO"; sid:1;)', 0,
     r"\ARule 1 fired 1 time"),
    ("ftp-bounce", "ftp", ["--explain", "1"],
     'alert ftp any any -> any any (ftpbounce; sid:1;)', 0,
     r"ftpbounce does not hold: PORT names 10\.1\.2\.3\n"),
    ("krb5-ticket", "kerberos", ["--explain", "1"],
     'alert krb5 any any -> any any (krb5.ticket_encryption:weak; sid:1;)', 0,
     r"krb5\.ticket_encryption:weak does not hold: the message has no ticket\n"),
    ("smb-opnum", "smb", ["--explain", "1"],
     'alert smb any any -> any any (flow:to_server; dcerpc.opnum:7; sid:1;)', 0,
     r"dcerpc\.opnum:7 does not hold: the transaction calls no operation\n"),
    ("stream-event", "raw", ["--explain", "1"],
     'alert tcp any any -> any any (stream-event:pkt_retransmission; sid:1;)', 0,
     r"does not hold: the stream events of the packet are: none\n"),
    ("decode-event", "midstream", ["--explain", "1"],
     'alert tcp any any -> any any (decode-event:ipv4.frag_overlap; sid:1;)', 0,
     r"does not hold: the events of the packet are: none\n"),
    ("ipopts", "udp", ["--explain", "1"], 'alert udp any any -> any any (ipopts:rr; sid:1;)', 0,
     r"ipopts:rr does not hold: the packet has no IPv4 options\n"),
    ("rpc", "udp", ["--explain", "1"], 'alert udp any any -> any any (rpc:100000,*,*; sid:1;)', 0,
     r"rpc:100000,\*,\* does not hold: the packet is no RPC call\n"),
    ("no-certificate", "tls", ["--explain", "1"],
     'alert tls any any -> any any (tls_cert_expired; sid:1;)', 0,
     r"tls_cert_expired does not hold: there is no certificate\n"),
    ("event", "http", ["--explain", "1"],
     'alert http any any -> any any (app-layer-event:http.missing_host_header; sid:1;)', 0,
     r"http\.missing_host_header does not hold: the events of the transaction are: none"),
    ("not-loaded", "udp", ["--explain", "99"],
     'alert udp any any -> any any (content:"HELLO"; sid:98;)\n'
     'alert udp any any -> any any (content:"HELLO"; sid:7;)', 1,
     r"\ARule 99 is not among the rules that were loaded; the nearest are 98, 7"),
    ("no-such-flow", "udp", ["--explain-flow", "10.1.2.3:5001-192.0.2.80:6000"],
     'alert udp any any -> any any (content:"HELLO"; sid:1;)', 1,
     r"No packet of this flow was seen\.\nThe flows that are most like it:\n"
     r"  10\.1\.2\.3:5000 -> 192\.0\.2\.80:6000, UDP"),
    ("refused-where", "udp", ["--explain", "1"],
     'alert udp any any -> any any (content:"HELLO"; content:"abc"; within:2; sid:1;)', 0,
     r"\ARule 1 was refused when it was loaded \(.*/refused-where\.rules:1:63\): "),
    ("matched-no-alert", "many", ["--explain", "all", "--summary"],
     'alert udp any any -> any any (content:"HELLO"; noalert; sid:1;)\n'
     'alert udp any any -> any any (content:"TAIL"; threshold:type both, track by_src, count 9, '
     "seconds 60; sid:2;)", 0,
     r"1 +matched, no alert \(noalert\)\n"
     r"2 +matched, no alert \(threshold: type both, track by_src, count 9, seconds 60\)\n"),
    ("never-a-candidate", "udp", ["--explain", "all", "--summary"],
     'alert udp any any -> any 53 (content:"HELLO"; sid:1;)\n'
     'alert udp any any -> any $HTTP_PORTS (content:"HELLO"; sid:2;)\n'
     'alert tcp any any -> any any (flags:S; sid:3;)', 0,
     r"1 +never a candidate: nothing fits its destination port 53\n"
     r"2 +never a candidate: nothing fits its destination port \$HTTP_PORTS, which is 80\n"
     r"3 +never a candidate: nothing fits its protocol tcp\n"),
    ("alike", "many", ["--explain", "1"],
     'alert udp any any -> any 53 (content:"HELLO"; sid:1;)', 0, r"\n   2 more like this\n"),
    ("gap", "two_datagrams", ["--explain", "1"],
     'alert udp any any -> any 99 (content:"HELLO"; content:"TAIL"; sid:1;)', 0,
     r"(?s)\A(?!.*\n2\. ).*1 more came no nearer"),
    ("rate-filter-pass", "many", ["--explain", "1"],
     'alert udp any any -> any any (content:"HELLO"; priority:3; sid:1;)\n'
     'alert udp any any -> any any (content:"TAIL"; priority:1; sid:2;)', 0,
     r"no alert: the rate_filter of rule 2 \(.*rate-filter-pass\.threshold:1, track by_src, count 1, "
     r"seconds 60, new_action pass\) lets the packet go before",
     "rate_filter gen_id 1, sig_id 2, track by_src, count 1, seconds 60, new_action pass, "
     "timeout 60\n"),
]
