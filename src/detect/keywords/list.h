/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/list.h - the registration list of rule keywords: one line each.
 *
 * K(symbol) stands for `const struct keyword_ops keyword_<symbol>` in a file of
 * detect/keywords/<family>/. Keywords about payloads and buffers are listed in
 * keywords/payload/; those that protocols declare are in no list. */
#ifndef DETECT_KEYWORDS_LIST_H
#define DETECT_KEYWORDS_LIST_H

#define KEYWORD_LIST(K)     \
    /* meta */              \
    K(sid)                  \
    K(gid)                  \
    K(rev)                  \
    K(msg)                  \
    K(classtype)            \
    K(priority)             \
    K(reference)            \
    K(metadata)             \
    K(target)               \
    K(requires)             \
    K(noalert)              \
    K(alert)                \
    K(prefilter)            \
    K(bypass)               \
    /* packet */            \
    K(ttl)                  \
    K(template)             \
    K(template2)            \
    K(id)                   \
    K(tos)                  \
    K(sameip)               \
    K(l3_proto)             \
    K(ip_proto)             \
    K(ipopts)               \
    K(fragbits)             \
    K(fragoffset)           \
    K(itype)                \
    K(icode)                \
    K(icmp_id)              \
    K(icmp_seq)             \
    K(icmpv6_mtu)           \
    K(igmp_type)            \
    K(tcp_seq)              \
    K(tcp_ack)              \
    K(tcp_window)           \
    K(tcp_mss)              \
    K(tcp_wscale)           \
    K(tcp_flags)            \
    K(sctp_vtag)            \
    K(sctp_chunk_cnt)       \
    K(sctp_chunk_type)      \
    K(dsize)                \
    K(decode_event)         \
    K(stream_event)         \
    K(engine_event)         \
    K(ipv4_csum)            \
    K(tcpv4_csum)           \
    K(tcpv6_csum)           \
    K(udpv4_csum)           \
    K(udpv6_csum)           \
    K(icmpv4_csum)          \
    K(icmpv6_csum)          \
    K(igmp_csum)            \
    K(vlan_id)              \
    K(vlan_layers)          \
    K(geoip)                \
    /* flow */              \
    K(flow)                 \
    K(flowbits)             \
    K(flowint)              \
    K(flowvar)              \
    K(pktvar)               \
    K(xbits)                \
    K(hostbits)             \
    K(stream_size)          \
    K(flow_age)             \
    K(flow_pkts)            \
    K(flow_pkts_toserver)   \
    K(flow_pkts_toclient)   \
    K(flow_bytes)           \
    K(flow_bytes_toserver)  \
    K(flow_bytes_toclient)  \
    K(flow_elephant)        \
    K(tcp_session)          \
    K(app_layer_protocol)   \
    K(app_layer_event)      \
    K(app_layer_state)      \
    K(iprep)                \
    K(threshold)            \
    K(detection_filter)     \
    K(config)               \
    K(tag)                  \
    K(nfq_set_mark)         \
    K(lua)                  \
    /* file */              \
    K(filename)             \
    K(fileext)              \
    K(filemagic)            \
    K(filesize)             \
    K(filemd5)              \
    K(filesha1)             \
    K(filesha256)           \
    K(filestore)            \
    K(tls_store)

#endif
