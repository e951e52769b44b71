# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on work in libraries and scripts: libmagic, Lua's patterns, lists of domains."""
import os
import random
import tempfile
import zlib

from attacks_http import exchange, gzip_of, pages
from catalogue import connect, entry, rounds
from pcapgen import http_request, http_response

MAGIC = 'alert http any any -> any any (filemagic:"nowhere"; sid:1;)\n'
BACK = "ReDoS, Crosby 2003"


def blanks(seed, count):
    """Line feeds and blanks in another order each time, so that no answer is known."""
    draw = random.Random(seed)
    return b"".join(draw.choices((b"\n", b"\n\n", b"\t\n", b" "), k=count))


@entry("files: packed line feeds, looked at by libmagic", "regular expressions of libmagic",
       short=True, proto="http", rules=MAGIC, reaches="file_magic.skipped")
def magic_line_feeds(cap, size):
    if size is not None:
        pages(cap, size, 1000, "gzip")
        return
    for i in range(200):
        flow = connect(cap, 80, i)
        exchange(flow, "gzip", gzip_of(b"\n" * (15000 + i)))
        flow.close()


@entry("files: blanks in thousands of small files", "regular expressions of libmagic", proto="http",
       rules=MAGIC, reaches="file_magic.skipped")
def magic_small_files(cap, size):
    if size is not None:
        pages(cap, size, 600)
        return
    for i in range(20):
        flow = connect(cap, 80, i)
        for j in range(60):
            exchange(flow, None, blanks(100 * i + j, 500))
        flow.close()


# --- scripts --------------------------------------------------------------------------------------

def script(name, body):
    """The path of a script, which ends with this process."""
    if not hasattr(script, "folder"):
        script.folder = tempfile.TemporaryDirectory(prefix="hostile-lua-")
    path = os.path.join(script.folder.name, name + ".lua")
    with open(path, "w", encoding="utf-8") as file:
        file.write(body)
    return path


def match_script(name, condition):
    return script(name, 'local packet = require("suricata.packet")\n'
                        "function init(args) return {} end\n"
                        "function match(args)\n"
                        "    local payload = packet.get():payload()\n"
                        f"    if {condition} then return 1 end\n    return 0\nend\n")


def lua_rule(name, condition):
    return f"alert udp any any -> any any (lua:{match_script(name, condition)}; sid:1;)\n"


def datagrams(cap, size, data, count):
    for i in rounds(cap, size, count):
        cap.udp("10.0.0.1", 2000 + i % 100, "10.0.0.2", 9999,
                data if size is None else b"GET /index.html?a=%d HTTP/1.1 " % i + b"x" * (len(data) - 31))


@entry("Lua: a pattern of four short repeats", BACK, short=True,
       rules=lua_rule("lazy", 'string.find(payload, "a.-a.-a.-a.-b")'),
       reaches="detect.lua.instruction_limit_errors")
def lua_pattern_lazy(cap, size):
    datagrams(cap, size, b"a" * 400, 20)


@entry("Lua: a pattern that starts at each place", BACK,
       rules=lua_rule("pairs", 'string.find(payload, "user=(.-)&pass=(.-)&")'))
def lua_pattern_pairs(cap, size):
    datagrams(cap, size, b"user=" * 280, 500)


@entry("Lua: a text replaced by captures that are repeated", BACK, short=True,
       rules=lua_rule("captures", 'string.gsub(payload, "(a*)(a*)(a*)%1%2%3b", "") == "b"'),
       reaches="detect.lua.instruction_limit_errors")
def lua_pattern_captures(cap, size):
    datagrams(cap, size, b"a" * 600, 20)


@entry("Lua: a pattern in a transform", BACK, proto="http",
       rules="alert http any any -> any any (http.uri; luaxform:" +
       script("transform", "function transform(input, arguments)\n"
                           '    local out = input:gsub("a.-a.-a.-a.-b", "")\n'
                           "    return out, #out\nend\n") + '; content:"nowhere"; sid:1;)\n',
       reaches="detect.lua.instruction_limit_errors")
def lua_transform(cap, size):
    if size is not None:
        pages(cap, size)
        return
    flow = connect(cap, 80)
    for _ in range(20):
        flow.to_server(http_request("a", "/" + "a" * 600))
        flow.to_client(http_response(b"ok"))


@entry("Lua: brackets that never close", BACK,
       rules=lua_rule("brackets", 'string.find(payload, "%b()") or string.rep(payload, 300) == ""'))
def lua_brackets(cap, size):
    datagrams(cap, size, b"(" * 1400, 300)


# --- names ----------------------------------------------------------------------------------------

@entry("rules: the domain of a name of thousands of labels", "quadratic search of a list", short=True,
       proto="http", rules='alert http any any -> any any (http.host; domain; content:"nowhere"; sid:1;)\n'
                           'alert http any any -> any any (http.host; tld; content:"nowhere"; sid:2;)\n')
def rule_domain_labels(cap, size):
    if size is not None:
        pages(cap, size)
        return
    for i in range(12):
        flow = connect(cap, 80, i)
        for _ in range(20):
            flow.to_server(http_request("a." * 2400 + "com", "/"))
            flow.to_client(http_response(b"ok"))


# --- Flash files ----------------------------------------------------------------------------------

@entry("HTTP: Flash files that come in small packets, unpacked again with each", "zip bombs",
       proto="http", sets=["app-layer.protocols.http.libhtp.default-config.swf-decompression.enabled=yes"])
def http_swf_pieces(cap, size):
    if size is not None:
        pages(cap, size, 2000)
        return
    body = b"CWS\x09" + (1 << 24).to_bytes(4, "little") + zlib.compress(bytes(1 << 22), 9)
    for i in range(40):
        flow = connect(cap, 80, i)
        flow.to_server(http_request("a", "/f.swf"))
        flow.to_client(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body))
        for at in range(0, len(body), 200):
            flow.to_client(body[at:at + 200])
        flow.close()
