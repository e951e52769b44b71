/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is said of broken rules, and the column it points to. */
#include "base/test.h"
#include "detect/tests/rules_fixture.h"

#include <string.h>

static const struct broken {
    const char *rule, *text;
    unsigned column;
} broken[] = {
    { "frob tcp any any -> any any (msg:\"a\"; sid:1;)",
      "unknown action \"frob\": expected alert, drop, reject, rejectsrc, rejectdst, rejectboth, "
      "pass or config", 1 },
    { "accept:hook tcp any any -> any any (sid:1;)",
      "action \"accept:hook\": accept is for firewall rules only", 1 },
    { "alert:packet tcp any any -> any any (sid:1;)",
      "this action takes no scope \"packet\": only drop, pass and reject do", 7 },
    { "drop:session tcp any any -> any any (sid:1;)",
      "action scope: expected packet or flow, found \"session\"", 6 },
    { "alert foo any any -> any any (sid:1;)",
      "protocol \"foo\" cannot be used in a rule: it is not known, or app-layer.protocols "
      "switches it off", 7 },
    { "alert tcp:nohook any any -> any any (sid:1;)",
      "packet hook: expected flow_start, pre_flow, pre_stream or all, found \"nohook\"", 11 },
    { "alert tcp any any - any any (sid:1;)",
      "direction: expected ->, <> or =>, found \"-\"", 19 },
    { "alert tcp any any <- any any (sid:1;)",
      "direction: expected ->, <> or =>, found \"<-\"", 19 },
    { "alert tcp 1.2.3 any -> any any (sid:1;)",
      "not an IP address, prefix, range, group or variable: \"1.2.3\"", 11 },
    { "alert tcp 1.2.3.4/40 any -> any any (sid:1;)",
      "the prefix length must be 0-32: \"1.2.3.4/40\"", 11 },
    { "alert tcp $NOPE any -> any any (sid:1;)",
      "Variable \"NOPE\" is not defined in configuration file: vars.address-groups has none of "
      "this name", 11 },
    { "alert tcp !any any -> any any (sid:1;)",
      "every address is negated, the rule could never match: \"!any\"", 11 },
    { "alert tcp [1.1.1.1,!1.1.1.1] any -> any any (sid:1;)",
      "no address is left once the negated ones are taken away: \"[1.1.1.1,!1.1.1.1]\"", 11 },
    { "alert tcp any 70000 -> any any (sid:1;)",
      "not a port (0-65535), port range, group or variable: \"70000\"", 15 },
    { "alert tcp any 90:80 -> any any (sid:1;)",
      "this port range ends before it begins: \"90:80\"", 15 },
    { "alert tcp any any -> any !any (sid:1;)",
      "every port is negated, the rule could never match: \"!any\"", 26 },
    { "alert tcp any any -> any [80,!80] (sid:1;)",
      "no port is left once the negated ones are taken away: \"[80,!80]\"", 26 },
    { "alert tcp any any -> [1.1.1.1,x] any (sid:1;)",
      "not an IP address, prefix, range, group or variable: \"x\"", 31 },
    { "alert tcp any any -> any any",
      "rule header: expected \"(\" and the options, found \"\"", 29 },
    { "alert tcp any any -> any any sid:1;",
      "rule header: expected \"(\" and the options, found \"sid:1;\"", 30 },
    { "alert tcp any any -> any any ()",
      "the rule has no options", 30 },
    { "alert tcp any any -> any (sid:1;)",
      "rule header: expected destination ports, found \"(sid:1;)\"", 26 },
    { "alert tcp",
      "rule header: expected source addresses, found \"\"", 10 },
    { "alert tcp any any -> any any (udp.hdr; content:\"a\"; sid:1;)",
      "udp.hdr: the rule's protocol has no such header", 31 },
    { "alert dns any any -> any any (filestore; sid:1;)",
      "filestore: protocol dns has no files", 31 },
    { "alert dns any any -> any any (filename:\"a\"; sid:1;)",
      "rule contains conflicting alprotos set: file.name is not a buffer of dns", 31 },
    { "alert tcp any any -> any any (msg:\"a\"; sid:1)",
      "no \";\" ends the option \"sid:1\"", 40 },
    { "alert tcp any any -> any any (msg:\"a\";)",
      "the rule has no \"sid\"", 1 },
    { "alert tcp any any -> any any (foo:bar; sid:1;)",
      "unknown rule keyword 'foo'.", 31 },
    { "alert tcp any any -> any any (msg:\"a\"; ; sid:1;)",
      "unknown rule keyword ''.", 40 },
    { "alert tcp any any -> any any (sid:0;)",
      "sid: expected a number from 1 to 4294967295, found \"0\"", 31 },
    { "alert tcp any any -> any any (sid:x;)",
      "sid: expected a number from 1 to 4294967295, found \"x\"", 31 },
    { "alert tcp any any -> any any (sid:4294967296;)",
      "sid: expected a number from 1 to 4294967295, found \"4294967296\"", 31 },
    { "alert tcp any any -> any any (sid:1; sid:2;)",
      "sid: occurs twice in the rule", 38 },
    { "alert tcp any any -> any any (rev:0; sid:1;)",
      "rev: expected a number from 1 to 4294967295, found \"0\"", 31 },
    { "alert tcp any any -> any any (gid:-1; sid:1;)",
      "gid: expected a number from 0 to 4294967295, found \"-1\"", 31 },
    { "alert tcp any any -> any any (msg:a; sid:1;)",
      "invalid formatting to msg keyword: the value must stand in double quotes, found \"a\"", 31 },
    { "alert tcp any any -> any any (msg:\"a; sid:1;)",
      "bad option value formatting (possible missing semicolon) for keyword msg: '\"a'", 31 },
    { "alert tcp any any -> any any (msg:\"a\"; msg:\"b\"; sid:1;)",
      "msg: occurs twice in the rule", 40 },
    { "alert tcp any any -> any any (msg:\"\"; sid:1;)",
      "msg: the value between the quotes is empty", 31 },
    { "alert tcp any any -> any any (msg; sid:1;)",
      "invalid formatting or malformed option to msg keyword: a value is missing, as in "
      "\"msg: ...;\"", 31 },
    { "alert tcp any any -> any any (sameip:1; sid:1;)",
      "sameip: takes no value, found \"1\"", 31 },
    { "alert tcp any any -> any any (ttl:\"5\"; sid:1;)",
      "ttl: takes no quotes, found \"5\"", 31 },
    { "alert tcp any any -> any any (priority:-1; sid:1;)",
      "priority: expected a number, 1 is most urgent, found \"-1\"", 31 },
    { "alert tcp any any -> any any (priority:0x10; sid:1;)",
      "priority: expected a number, 1 is most urgent, found \"0x10\"", 31 },
    { "alert tcp any any -> any any (reference:url; sid:1;)",
      "reference: expected SYSTEM,ID, found \"url\"", 31 },
    { "alert tcp any any -> any any (target:both; sid:1;)",
      "target: expected src_ip or dest_ip, found \"both\"", 31 },
    { "alert tcp any any -> any any (target:src_ip; target:dest_ip; sid:1;)",
      "target: contradicts the one before it", 46 },
    { "alert tcp any any -> any any (prefilter; sid:1;)",
      "prefilter: must stand behind the keyword it is about", 31 },
    { "alert tcp any any -> any any (requires: version 8; sid:1;)",
      "requires: expected version and comparisons such as >= 8.0.1, found \"8\"", 31 },
    { "alert tcp any any -> any any (requires: version >= 7, version < 9; sid:1;)",
      "requires: \"version\" may stand only once", 31 },
    { "alert tcp any any -> any any (ttl:256; sid:1;)",
      "invalid formatting or malformed option to ttl keyword: '256'; expected N, !N, <N, <=N, >N, "
      ">=N, A-B with room between, or &MASK=N, up to 255", 31 },
    { "alert tcp any any -> any any (ttl:<0; sid:1;)",
      "invalid formatting or malformed option to ttl keyword: '<0'; expected N, !N, <N, <=N, >N, "
      ">=N, A-B with room between, or &MASK=N, up to 255", 31 },
    { "alert tcp any any -> any any (ttl:5-6; sid:1;)",
      "invalid formatting or malformed option to ttl keyword: '5-6'; expected N, !N, <N, <=N, >N, "
      ">=N, A-B with room between, or &MASK=N, up to 255", 31 },
    { "alert tcp any any -> any any (dsize:>65535; sid:1;)",
      "invalid formatting or malformed option to dsize keyword: '>65535'; expected N, !N, <N, "
      "<=N, >N, >=N, A-B with room between, or &MASK=N, up to 65535", 31 },
    { "alert tcp any any -> any any (dsize:1; dsize:2; sid:1;)",
      "dsize: occurs twice in the rule", 40 },
    { "alert tcp any any -> any any (id:65536; sid:1;)",
      "id: expected a number from 0 to 65535, found \"65536\"", 31 },
    { "alert ip any any -> any any (tos:x100; sid:1;)",
      "tos: expected 0 to 255 or x and two hex digits, found \"x100\"", 30 },
    { "alert tcp any any -> any any (ip_proto:17; sid:1;)",
      "ip_proto: needs a rule about \"ip\"; this one is about a protocol already", 31 },
    { "alert ip any any -> any any (ip_proto:nosuchproto; sid:1;)",
      "ip_proto: expected a protocol's number or name, with !, < or > before it if need be, found "
      "\"nosuchproto\"", 30 },
    { "alert ip any any -> any any (ip_proto:6; ip_proto:17; sid:1;)",
      "ip_proto: contradicts what the rule says before, nothing is left", 42 },
    { "alert ip any any -> any any (l3_proto:ipv5; sid:1;)",
      "l3_proto: expected ipv4, ip4, ipv6 or ip6, found \"ipv5\"", 30 },
    { "alert ip4 any any -> any any (l3_proto:ipv6; sid:1;)",
      "l3_proto: the rule is about IPv4 already", 31 },
    { "alert ip any any -> any any (ipopts:foo; sid:1;)",
      "ipopts: expected any, rr, lsrr, ssrr, eol, nop, ts, sec, esec, satid, qs, cipso or rtralt, "
      "found \"foo\"", 30 },
    { "alert ip any any -> any any (fragbits:XM; sid:1;)",
      "fragbits: expected letters of M, D and R, with +, * or ! before them if need be, found "
      "\"XM\"", 30 },
    { "alert ip any any -> any any (fragoffset:x; sid:1;)",
      "fragoffset: expected N, <N or >N, up to 65535, found \"x\"", 30 },
    { "alert tcp-stream any any -> any any (tcp.hdr; content:\"x\"; sid:1;)",
      "can't mix packet keywords with tcp-stream or flow:only_stream.  Invalidating signature.", 38 },
    { "alert tcp any any -> any any (content:\"a\"; isdataat:5; prefilter; sid:1;)",
      "prefilter is not supported for isdataat", 56 },
    { "alert tcp any any -> any any (content:\"a\"; nocase; nocase; sid:1;)",
      "can't use multiple nocase modifiers with the same content", 52 },
    { "alert http any any -> any any (content:\"a\"; http.uri; nocase; content:\"b\"; sid:1;)",
      "nocase needs a preceding content option", 55 },
    { "alert tcp any any -> any any (content:\"a\"; file.data; fast_pattern; content:\"b\"; sid:1;)",
      "fast_pattern found inside the rule, without a content context. Please use a content based "
      "keyword before using fast_pattern", 55 },
    { "alert http any any -> any any (urilen:<3; http.uri; content:\"12345\"; sid:1;)",
      "depth or urilen 4 smaller than content len 5", 53 },
    { "alert tls any any -> any any (tls.sni; dotprefix; content:\"a\"; dotprefix; sid:1;)",
      "dotprefix: transforms must directly follow stickybuffers", 64 },
    { "alert tls any any -> any any (tls.version:1.2; prefilter; sid:1;)",
      "prefilter is not supported for tls.version", 48 },
    { "alert tcp any any -> any any (content:!\"a\"; depth:5; prefilter; sid:1;)",
      "prefilter; cannot be used with negated content, along with relative modifiers", 54 },
    { "alert http any any -> any any (http.uri; content:\"a\"; fast_pattern:only; "
      "content:\"b\"; distance:0; sid:1;)",
      "previous keyword has a fast_pattern:only; set. Can't have relative keywords around a "
      "fast_pattern only content", 87 },
    { "alert http any any -> any any (http.uri; content:\"a\"; distance:-2; bsize:9; sid:1;)",
      "signature can't match as required content length -1 exceeds bsize value: 9", 68 },
    { "alert http any any -> any any (http.method; content:\"GET\"; http.header.raw; "
      "content:\"a\"; sid:1;)",
      "rule 1: http.header.raw without a direction; say flow:to_server for requests or "
      "flow:to_client for responses", 77 },
    { "alert http2 any any -> any any (file.name; content:\"a\"; sid:1;)",
      "file.name: files of http2 have no names", 33 },
    { "alert krb5 any any -> any any (krb5_err_code:1000; sid:1;)",
      "krb5_err_code: expected a number of up to three digits, found \"1000\"", 32 },
    { "alert http2 any any -> any any (http2.errorcode:!NO_ERROR; sid:1;)",
      "http2.errorcode: expected a number or a name, found '!NO_ERROR'", 33 },
    { "alert tls any any -> any any (tls.subject:\"CN:x\"; sid:1;)",
      "expected letters, digits, blanks and -.=,*@, found \"CN:x\"", 31 },
    { "alert tcp any any -> any any (seq:5-6; sid:1;)",
      "invalid formatting or malformed option to tcp.seq keyword: '5-6'; expected N, !N, <N, <=N, "
      ">N, >=N, A-B with room between, or &MASK=N, up to 4294967295", 31 },
    { "alert icmp any any -> any any (itype:>255; sid:1;)",
      "invalid formatting or malformed option to itype keyword: '>255'; expected N, !N, <N, <=N, "
      ">N, >=N, A-B with room between, or &MASK=N, up to 255", 32 },
    { "alert icmp any any -> any any (icmp_id:-1; sid:1;)",
      "invalid formatting or malformed option to icmp_id keyword: '-1'; expected N, !N, <N, <=N, "
      ">N, >=N, A-B with room between, or &MASK=N, up to 65535", 32 },
    { "alert tcp any any -> any any (tcp.flags:Z; sid:1;)",
      "tcp.flags: expected letters of FSRPAUEC or 0, one of +, * or ! if need be, and \",\" with "
      "flags to ignore, found \"Z\"", 31 },
    { "alert tcp any any -> any any (flags:S,; sid:1;)",
      "tcp.flags: expected letters of FSRPAUEC or 0, one of +, * or ! if need be, and \",\" with "
      "flags to ignore, found \"S,\"", 31 },
    { "alert tcp any any -> any any (seq:4294967296; sid:1;)",
      "invalid formatting or malformed option to tcp.seq keyword: '4294967296'; expected N, !N, <N, "
      "<=N, >N, >=N, A-B with room between, or &MASK=N, up to 4294967295", 31 },
    { "alert tcp any any -> any any (window:70000; sid:1;)",
      "invalid formatting or malformed option to tcp.window keyword: '70000'; expected N, !N, <N, <=N, "
      ">N, >=N, A-B with room between, or &MASK=N, up to 65535", 31 },
    { "alert ip any any -> any any (ipv4-csum:maybe; sid:1;)",
      "ipv4-csum: expected valid or invalid, found \"maybe\"", 30 },
    { "alert ip any any -> any any (vlan.id:4096; sid:1;)",
      "vlan.id: a VLAN id is at most 4095, found \"4096\"", 30 },
    { "alert ip any any -> any any (vlan.id:5,; sid:1;)",
      "vlan.id: index: expected any, all, all_or_absent, or_absent, N from 0 or -N from the end, "
      "\"oob_or N\" or \"nb\" and a number, found \"\"", 30 },
    { "alert ip any any -> any any (vlan.id:5,3; sid:1;)",
      "vlan.id: the layer must be from -3 to 2, found 3", 30 },
    { "alert ip any any -> any any (vlan.id:5,x; sid:1;)",
      "vlan.id: index: expected any, all, all_or_absent, or_absent, N from 0 or -N from the end, "
      "\"oob_or N\" or \"nb\" and a number, found \"x\"", 30 },
    { "alert ip any any -> any any (vlan.layers:4; sid:1;)",
      "vlan.layers: there are at most 3, found \"4\"", 30 },
    { "alert ip any any -> any any (decode-event:no.such; sid:1;)",
      "decode-event: there is no event \"no.such\"", 30 },
    { "alert ip any any -> any any (stream-event:no_such; sid:1;)",
      "stream-event: there is no event \"no_such\"", 30 },
    { "alert tcp any any -> any any (flow:to_server,to_client; sid:1;)",
      "flow: \"to_client\" contradicts an earlier word", 31 },
    { "alert tcp any any -> any any (flow:sideways; sid:1;)",
      "flow: expected to_server, to_client, from_server, from_client, established, "
      "not_established, stateless, only_stream, no_stream, only_frag or no_frag, found "
      "\"sideways\"", 31 },
    { "alert tcp any any -> any any (flow:established; flow:established; sid:1;)",
      "flow: occurs twice in the rule", 49 },
    { "alert tcp any any => any any (flow:to_server; sid:7;)",
      "rule 7 means to use both directions, cannot specify a flow direction", 31 },
    { "alert tcp any any -> any any (flow:to_server,established,no_stream,no_frag; sid:1;)",
      "flow: expected at most three words, found \"to_server,established,no_stream,no_frag\"", 31 },
    { "alert tcp any any -> any any (flowbits:frob,x; sid:1;)",
      "flowbits: expected isset, isnotset, set, unset or toggle and a name, or noalert, found "
      "\"frob,x\"", 31 },
    { "alert tcp any any -> any any (flowbits:set; sid:1;)",
      "flowbits: a name is missing", 31 },
    { "alert tcp any any -> any any (flowbits:set,a b; sid:1;)",
      "flowbits: a name has no spaces, found \"a b\"", 31 },
    { "alert tcp any any -> any any (flowbits:set,a|b; sid:1;)",
      "flowbits: only isset and isnotset take several names, found \"a|b\"", 31 },
    { "alert tcp any any -> any any (flowint:xx,?,1; sid:1;)",
      "flowint: expected NAME,OP,VALUE with OP of = + - < <= == != >= >, or NAME,isset or "
      "NAME,isnotset, and names of two characters or more, found \"xx,?,1\"", 31 },
    { "alert tcp any any -> any any (flowint:x,=,1; sid:1;)",
      "flowint: expected NAME,OP,VALUE with OP of = + - < <= == != >= >, or NAME,isset or "
      "NAME,isnotset, and names of two characters or more, found \"x,=,1\"", 31 },
    { "alert tcp any any -> any any (nfq_set_mark:1; sid:1;)",
      "nfq_set_mark: expected MARK/MASK, 32 bits each, found \"1\"", 31 },
    { "alert http any any -> any any (app-layer-state:request_line; sid:1;)",
      "app-layer-state: the rule must be about one protocol", 32 },
    { "alert icmp any any -> any any (app-layer-event:tls.too_many_records_in_packet; sid:1;)",
      "app-layer-event: the rule must be about TCP or UDP", 32 },
    { "alert http1:request_line any any -> any any (tcp.wscale:1; sid:1;)",
      "tcp.wscale: cannot be used at a hook of a protocol", 46 },
    { "alert tcp any any -> any any (flowint:xx,=,; sid:1;)",
      "flowint: expected a number up to 4294967295 or a name as value, found \"\"", 31 },
    { "alert ip any any -> any any (xbits:set,x,track ip_src,expire 0; sid:1;)",
      "xbits: expected \"track ip_src|ip_dst|ip_pair|tx\" and \"expire SECONDS\", found \"expire "
      "0\"", 30 },
    { "alert ip any any -> any any (xbits:unset,x,track tx; sid:1;)",
      "xbits: with \"track tx\" only set and isset make sense", 30 },
    { "alert ip any any -> any any (hostbits:set,x,both; sid:1;)",
      "hostbits: expected src or dst behind the name, found \"both\"", 30 },
    { "alert tcp any any -> any any (stream_size:server,?,5; sid:1;)",
      "stream_size: expected server, client, both or either, an operator of < > <= >= = !=, and a "
      "number, found \"server,?,5\"", 31 },
    { "alert tcp any any -> any any (flow.pkts:up,5; sid:1;)",
      "flow.pkts: expected toserver, toclient, both or either and a number, found \"up,5\"", 31 },
    { "alert tcp any any -> any any (app-layer-protocol:nope; sid:1;)",
      "app-layer-protocol: there is no protocol \"nope\"", 31 },
    { "alert tcp any any -> any any (app-layer-protocol:!unknown; sid:1;)",
      "app-layer-protocol: \"unknown\" cannot be negated", 31 },
    { "alert tcp any any -> any any (app-layer-protocol:!tls|unknown; sid:1;)",
      "app-layer-protocol: \"unknown\" cannot be negated", 31 },
    { "alert tcp any any -> any any (app-layer-protocol:tls|; sid:1;)",
      "app-layer-protocol: expected a protocol, found \"tls|\"", 31 },
    { "alert tcp any any -> any any (app-layer-protocol:tls||dns; sid:1;)",
      "app-layer-protocol: there is no protocol \"\"", 31 },
    { "alert tcp any any -> any any (app-layer-protocol:http,exact; sid:1;)",
      "app-layer-protocol: no flow is exactly \"http\", only one of its versions", 31 },
    { "alert tcp any any -> any any (app-layer-protocol:tls,final,either; sid:1;)",
      "app-layer-protocol: one mode is enough, found also \"either\"", 31 },
    { "alert tcp any any -> any any (app-layer-protocol:tls; ttl:5; app-layer-protocol:dns; "
      "sid:1;)", "app-layer-protocol: contradicts the one before it", 62 },
    { "alert tcp any any -> any any (app-layer-protocol:!tls|ssh; app-layer-protocol:!dns|ssh; "
      "sid:1;)", "app-layer-protocol: contradicts the one before it", 60 },
    { "alert tcp any any -> any any (app-layer-protocol:failed,sideways; sid:1;)",
      "app-layer-protocol: expected direction, final, original, either, to_server or to_client "
      "behind the protocol, found \"sideways\"", 31 },
    { "alert tcp any any -> any any (app-layer-event:no_such_event; sid:1;)",
      "app-layer-event: there is no event \"no_such_event\"", 31 },
    { "alert tcp any any -> any any (app-layer-event:nope.event; sid:1;)",
      "app-layer-event: there is no protocol \"nope\"", 31 },
    { "alert ip any any -> any any (iprep:src,Bad,>,1; sid:1;)",
      "iprep: there is no category \"Bad\" in reputation-categories-file", 30 },
    { "alert ip any any -> any any (iprep:src,Bad,>,200; sid:1;)",
      "iprep: expected any, src, dst or both, a category, an operator of < > <= >= = != and "
      "0-127, or isset or isnotset, found \"src,Bad,>,200\"", 30 },
    { "alert tcp any any -> any any (threshold:type limit,track by_src,count 1; sid:1;)",
      "threshold: seconds: expected 0 to 4294967295, found \"\"", 31 },
    { "alert tcp any any -> any any (threshold:type limit,track by_nobody,count 1,seconds 1; "
      "sid:1;)",
      "threshold: track: expected by_src, by_dst, by_both, by_rule or by_flow, found "
      "\"by_nobody\"", 31 },
    { "alert tcp any any -> any any (threshold:type limit,track by_src,count 1,seconds 1; "
      "threshold:type both,track by_src,count 1,seconds 1; sid:1;)",
      "multiple \"threshold\" options are not allowed in the same rule", 84 },
    { "alert tcp any any -> any any (threshold:type limit,track by_src,count 1,seconds 1; "
      "detection_filter:track by_src,count 1,seconds 1; sid:1;)",
      "\"detection_filter\" and \"threshold\" are not allowed in the same rule", 84 },
    { "alert tcp any any -> any any (threshold:type backoff,track by_src,count 1,multiplier "
      "2; sid:1;)",
      "threshold: type backoff goes only with track by_flow", 31 },
    { "alert tcp any any -> any any (detection_filter:track by_both,count 1,seconds 1; sid:1;)",
      "detection_filter: track: expected by_src, by_dst or by_flow, found \"by_both\"", 31 },
    { "alert tcp any any -> any any (detection_filter:track by_src,count 0,seconds 1; sid:1;)",
      "detection_filter: count: expected 1 to 4294967295, found \"0\"", 31 },
    { "alert tcp any any -> any any (tag:session,5,apples; sid:1;)",
      "tag: expected a number and packets, bytes or seconds, found \"5,apples\"", 31 },
    { "alert tcp any any -> any any (asn1:overflow; sid:1;)",
      "asn1: expected bitstring_overflow, double_overflow, oversize_length N, absolute_offset N or "
      "relative_offset N, found \"overflow\"", 31 },
    { "alert tcp any any -> any any (asn1:oversize_length x; sid:1;)",
      "asn1: oversize_length wants a number from 0 to 4294967295", 31 },
    { "alert tcp any any -> any any (nfq_set_mark:1/2/3; sid:1;)",
      "nfq_set_mark: expected MARK/MASK, 32 bits each, found \"1/2/3\"", 31 },
    { "alert tcp any any -> any any (config:logging enable; sid:1;)",
      "config: expected \"logging disable, type tx, scope tx\", found \"logging enable\"", 31 },
    { "alert tcp any any -> any any (filesize:x; sid:1;)",
      "invalid formatting or malformed option to filesize keyword: 'x'; expected N, !N, <N, <=N, "
      ">N, >=N, A-B with room between, or &MASK=N, up to 18446744073709551615", 31 },
    { "alert tcp any any -> any any (filemagic:PDF; sid:1;)",
      "invalid formatting to filemagic keyword: the value must stand in double quotes, found "
      "\"PDF\"", 31 },
    { "alert tcp any any -> any any (filemd5:/no/such/list; sid:1;)",
      "filemd5: opening hash file /no/such/list: No such file or directory", 31 },
    { "alert tcp any any -> any any (filestore:both,2; sid:1;)",
      "filestore: expected [request|response|both[,file|tx|ssn|flow]], found \"both,2\"", 31 },
};

TEST(rule_errors_have_reason_and_location)
{
    struct rules_fixture f;

    rules_fixture_open(&f);
    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        const struct broken *b = &broken[i];

        if (rules_fixture_parse(&f, b->rule) != NULL || f.outcome != RULE_FAILED)
            test_fail(t, __FILE__, __LINE__, "taken: %s", b->rule);
        else if (strcmp(f.err.text, b->text) != 0 || f.err.at.column != b->column)
            test_fail(t, __FILE__, __LINE__, "%s\n  wanted %u %s\n  found  %u %s", b->rule,
                      b->column, b->text, f.err.at.column, f.err.text);
        CHECK_INT(f.err.at.line, 1);
        CHECK_STRING(f.err.at.file, "t.rules");
    }
    rules_fixture_close(&f);
}
