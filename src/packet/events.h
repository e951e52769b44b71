/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/events.h - problems of a packet that decode, defrag, stream or detect reports.
 *
 * One list gives the enum, the rule names ("decode-event: ipv4.pkt_too_small", "stream-event:
 * 3whs_ack_in_wrong_dir"), the counters and the EVE anomaly names. A new event is one line here.
 * The order determines the anomaly type: EVE shows all events from TOO_MANY_LAYERS on, ARP
 * included, with type "stream", as its consumers expect. */
#ifndef PACKET_EVENTS_H
#define PACKET_EVENTS_H

#include "base/base.h"
#include "base/text/text.h"

/* X(enum name, full name) */
#define PACKET_DECODE_EVENTS(X)                                                         \
    X(AFPACKET_TRUNC_PKT, "decoder.afpacket.trunc_pkt")                                 \
    X(IPV4_PKT_TOO_SMALL, "decoder.ipv4.pkt_too_small")                                 \
    X(IPV4_HLEN_TOO_SMALL, "decoder.ipv4.hlen_too_small")                               \
    X(IPV4_IPLEN_SMALLER_THAN_HLEN, "decoder.ipv4.iplen_smaller_than_hlen")             \
    X(IPV4_TRUNC_PKT, "decoder.ipv4.trunc_pkt")                                         \
    X(IPV4_OPT_INVALID, "decoder.ipv4.opt_invalid")                                     \
    X(IPV4_OPT_INVALID_LEN, "decoder.ipv4.opt_invalid_len")                             \
    X(IPV4_OPT_MALFORMED, "decoder.ipv4.opt_malformed")                                 \
    X(IPV4_OPT_PAD_REQUIRED, "decoder.ipv4.opt_pad_required")                           \
    X(IPV4_OPT_EOL_REQUIRED, "decoder.ipv4.opt_eol_required")                           \
    X(IPV4_OPT_DUPLICATE, "decoder.ipv4.opt_duplicate")                                 \
    X(IPV4_OPT_UNKNOWN, "decoder.ipv4.opt_unknown")                                     \
    X(IPV4_WRONG_IP_VERSION, "decoder.ipv4.wrong_ip_version")                           \
    X(IPV4_ICMPV6, "decoder.ipv4.icmpv6")                                               \
    X(ICMPV4_PKT_TOO_SMALL, "decoder.icmpv4.pkt_too_small")                             \
    X(ICMPV4_UNKNOWN_TYPE, "decoder.icmpv4.unknown_type")                               \
    X(ICMPV4_UNKNOWN_CODE, "decoder.icmpv4.unknown_code")                               \
    X(ICMPV4_IPV4_TRUNC_PKT, "decoder.icmpv4.ipv4_trunc_pkt")                           \
    X(ICMPV4_IPV4_UNKNOWN_VER, "decoder.icmpv4.ipv4_unknown_ver")                       \
    X(ICMPV6_UNKNOWN_TYPE, "decoder.icmpv6.unknown_type")                               \
    X(ICMPV6_UNKNOWN_CODE, "decoder.icmpv6.unknown_code")                               \
    X(ICMPV6_PKT_TOO_SMALL, "decoder.icmpv6.pkt_too_small")                             \
    X(ICMPV6_IPV6_UNKNOWN_VERSION, "decoder.icmpv6.ipv6_unknown_version")               \
    X(ICMPV6_IPV6_TRUNC_PKT, "decoder.icmpv6.ipv6_trunc_pkt")                           \
    X(ICMPV6_MLD_MESSAGE_WITH_INVALID_HL, "decoder.icmpv6.mld_message_with_invalid_hl") \
    X(ICMPV6_UNASSIGNED_TYPE, "decoder.icmpv6.unassigned_type")                         \
    X(ICMPV6_EXPERIMENTATION_TYPE, "decoder.icmpv6.experimentation_type")               \
    X(IPV6_PKT_TOO_SMALL, "decoder.ipv6.pkt_too_small")                                 \
    X(IPV6_TRUNC_PKT, "decoder.ipv6.trunc_pkt")                                         \
    X(IPV6_TRUNC_EXTHDR, "decoder.ipv6.trunc_exthdr")                                   \
    X(IPV6_EXTHDR_DUPL_FH, "decoder.ipv6.exthdr_dupl_fh")                               \
    X(IPV6_EXTHDR_USELESS_FH, "decoder.ipv6.exthdr_useless_fh")                         \
    X(IPV6_EXTHDR_DUPL_RH, "decoder.ipv6.exthdr_dupl_rh")                               \
    X(IPV6_EXTHDR_DUPL_HH, "decoder.ipv6.exthdr_dupl_hh")                               \
    X(IPV6_EXTHDR_DUPL_DH, "decoder.ipv6.exthdr_dupl_dh")                               \
    X(IPV6_EXTHDR_DUPL_AH, "decoder.ipv6.exthdr_dupl_ah")                               \
    X(IPV6_EXTHDR_DUPL_EH, "decoder.ipv6.exthdr_dupl_eh")                               \
    X(IPV6_EXTHDR_INVALID_OPTLEN, "decoder.ipv6.exthdr_invalid_optlen")                 \
    X(IPV6_WRONG_IP_VERSION, "decoder.ipv6.wrong_ip_version")                           \
    X(IPV6_EXTHDR_AH_RES_NOT_NULL, "decoder.ipv6.exthdr_ah_res_not_null")               \
    X(IPV6_HOPOPTS_UNKNOWN_OPT, "decoder.ipv6.hopopts_unknown_opt")                     \
    X(IPV6_HOPOPTS_ONLY_PADDING, "decoder.ipv6.hopopts_only_padding")                   \
    X(IPV6_DSTOPTS_UNKNOWN_OPT, "decoder.ipv6.dstopts_unknown_opt")                     \
    X(IPV6_DSTOPTS_ONLY_PADDING, "decoder.ipv6.dstopts_only_padding")                   \
    X(IPV6_RH_TYPE_0, "decoder.ipv6.rh_type_0")                                         \
    X(IPV6_ZERO_LEN_PADN, "decoder.ipv6.zero_len_padn")                                 \
    X(IPV6_FH_NON_ZERO_RESERVED_FIELD, "decoder.ipv6.fh_non_zero_reserved_field")       \
    X(IPV6_DATA_AFTER_NONE_HEADER, "decoder.ipv6.data_after_none_header")               \
    X(IPV6_UNKNOWN_NEXT_HEADER, "decoder.ipv6.unknown_next_header")                     \
    X(IPV6_ICMPV4, "decoder.ipv6.icmpv4")                                               \
    X(TCP_PKT_TOO_SMALL, "decoder.tcp.pkt_too_small")                                   \
    X(TCP_HLEN_TOO_SMALL, "decoder.tcp.hlen_too_small")                                 \
    X(TCP_INVALID_OPTLEN, "decoder.tcp.invalid_optlen")                                 \
    X(TCP_OPT_INVALID_LEN, "decoder.tcp.opt_invalid_len")                               \
    X(TCP_OPT_DUPLICATE, "decoder.tcp.opt_duplicate")                                   \
    X(UDP_PKT_TOO_SMALL, "decoder.udp.pkt_too_small")                                   \
    X(UDP_HLEN_TOO_SMALL, "decoder.udp.hlen_too_small")                                 \
    X(UDP_HLEN_INVALID, "decoder.udp.hlen_invalid")                                     \
    X(UDP_LEN_INVALID, "decoder.udp.len_invalid")                                       \
    X(SLL_PKT_TOO_SMALL, "decoder.sll.pkt_too_small")                                   \
    X(SLL2_PKT_TOO_SMALL, "decoder.sll2.pkt_too_small")                                 \
    X(ETHERNET_PKT_TOO_SMALL, "decoder.ethernet.pkt_too_small")                         \
    X(ETHERNET_UNKNOWN_ETHERTYPE, "decoder.ethernet.unknown_ethertype")                 \
    X(PPP_PKT_TOO_SMALL, "decoder.ppp.pkt_too_small")                                   \
    X(PPP_VJU_PKT_TOO_SMALL, "decoder.ppp.vju_pkt_too_small")                           \
    X(PPP_IP4_PKT_TOO_SMALL, "decoder.ppp.ip4_pkt_too_small")                           \
    X(PPP_IP6_PKT_TOO_SMALL, "decoder.ppp.ip6_pkt_too_small")                           \
    X(PPP_WRONG_TYPE, "decoder.ppp.wrong_type")                                         \
    X(PPP_UNSUP_PROTO, "decoder.ppp.unsup_proto")                                       \
    X(PPPOE_PKT_TOO_SMALL, "decoder.pppoe.pkt_too_small")                               \
    X(PPPOE_WRONG_CODE, "decoder.pppoe.wrong_code")                                     \
    X(PPPOE_MALFORMED_TAGS, "decoder.pppoe.malformed_tags")                             \
    X(GRE_PKT_TOO_SMALL, "decoder.gre.pkt_too_small")                                   \
    X(GRE_WRONG_VERSION, "decoder.gre.wrong_version")                                   \
    X(GRE_VERSION0_RECUR, "decoder.gre.version0_recur")                                 \
    X(GRE_VERSION0_FLAGS, "decoder.gre.version0_flags")                                 \
    X(GRE_VERSION0_HDR_TOO_BIG, "decoder.gre.version0_hdr_too_big")                     \
    X(GRE_VERSION0_MALFORMED_SRE_HDR, "decoder.gre.version0_malformed_sre_hdr")         \
    X(GRE_VERSION1_CHKSUM, "decoder.gre.version1_chksum")                               \
    X(GRE_VERSION1_ROUTE, "decoder.gre.version1_route")                                 \
    X(GRE_VERSION1_SSR, "decoder.gre.version1_ssr")                                     \
    X(GRE_VERSION1_RECUR, "decoder.gre.version1_recur")                                 \
    X(GRE_VERSION1_FLAGS, "decoder.gre.version1_flags")                                 \
    X(GRE_VERSION1_NO_KEY, "decoder.gre.version1_no_key")                               \
    X(GRE_VERSION1_WRONG_PROTOCOL, "decoder.gre.version1_wrong_protocol")               \
    X(GRE_VERSION1_MALFORMED_SRE_HDR, "decoder.gre.version1_malformed_sre_hdr")         \
    X(GRE_VERSION1_HDR_TOO_BIG, "decoder.gre.version1_hdr_too_big")                     \
    X(VLAN_HEADER_TOO_SMALL, "decoder.vlan.header_too_small")                           \
    X(VLAN_UNKNOWN_TYPE, "decoder.vlan.unknown_type")                                   \
    X(VLAN_TOO_MANY_LAYERS, "decoder.vlan.too_many_layers")                             \
    X(IEEE8021AH_HEADER_TOO_SMALL, "decoder.ieee8021ah.header_too_small")               \
    X(VNTAG_HEADER_TOO_SMALL, "decoder.vntag.header_too_small")                         \
    X(VNTAG_UNKNOWN_TYPE, "decoder.vntag.unknown_type")                                 \
    X(IPRAW_INVALID_IP_VERSION, "decoder.ipraw.invalid_ip_version")                     \
    X(LTNULL_PKT_TOO_SMALL, "decoder.ltnull.pkt_too_small")                             \
    X(LTNULL_UNSUPPORTED_TYPE, "decoder.ltnull.unsupported_type")                       \
    X(SCTP_PKT_TOO_SMALL, "decoder.sctp.pkt_too_small")                                 \
    X(ESP_PKT_TOO_SMALL, "decoder.esp.pkt_too_small")                                   \
    X(IPV4_FRAG_PKT_TOO_LARGE, "decoder.ipv4.frag_pkt_too_large")                       \
    X(IPV6_FRAG_PKT_TOO_LARGE, "decoder.ipv6.frag_pkt_too_large")                       \
    X(IPV4_FRAG_OVERLAP, "decoder.ipv4.frag_overlap")                                   \
    X(IPV6_FRAG_OVERLAP, "decoder.ipv6.frag_overlap")                                   \
    X(IPV6_FRAG_INVALID_LENGTH, "decoder.ipv6.frag_invalid_length")                     \
    X(IPV4_FRAG_IGNORED, "decoder.ipv4.frag_ignored")                                   \
    X(IPV6_FRAG_IGNORED, "decoder.ipv6.frag_ignored")                                   \
    X(IPV6_IPV4_IN_IPV6_TOO_SMALL, "decoder.ipv6.ipv4_in_ipv6_too_small")               \
    X(IPV6_IPV4_IN_IPV6_WRONG_VERSION, "decoder.ipv6.ipv4_in_ipv6_wrong_version")       \
    X(IPV6_IPV6_IN_IPV6_TOO_SMALL, "decoder.ipv6.ipv6_in_ipv6_too_small")               \
    X(IPV6_IPV6_IN_IPV6_WRONG_VERSION, "decoder.ipv6.ipv6_in_ipv6_wrong_version")       \
    X(MPLS_HEADER_TOO_SMALL, "decoder.mpls.header_too_small")                           \
    X(MPLS_PKT_TOO_SMALL, "decoder.mpls.pkt_too_small")                                 \
    X(MPLS_BAD_LABEL_ROUTER_ALERT, "decoder.mpls.bad_label_router_alert")               \
    X(MPLS_BAD_LABEL_IMPLICIT_NULL, "decoder.mpls.bad_label_implicit_null")             \
    X(MPLS_BAD_LABEL_RESERVED, "decoder.mpls.bad_label_reserved")                       \
    X(MPLS_UNKNOWN_PAYLOAD_TYPE, "decoder.mpls.unknown_payload_type")                   \
    X(VXLAN_UNKNOWN_PAYLOAD_TYPE, "decoder.vxlan.unknown_payload_type")                 \
    X(GENEVE_UNKNOWN_PAYLOAD_TYPE, "decoder.geneve.unknown_payload_type")               \
    X(ERSPAN_HEADER_TOO_SMALL, "decoder.erspan.header_too_small")                       \
    X(ERSPAN_UNSUPPORTED_VERSION, "decoder.erspan.unsupported_version")                 \
    X(ERSPAN_TOO_MANY_VLAN_LAYERS, "decoder.erspan.too_many_vlan_layers")               \
    X(DCE_PKT_TOO_SMALL, "decoder.dce.pkt_too_small")                                   \
    X(CHDLC_PKT_TOO_SMALL, "decoder.chdlc.pkt_too_small")                               \
    X(NSH_HEADER_TOO_SMALL, "decoder.nsh.header_too_small")                             \
    X(NSH_UNSUPPORTED_VERSION, "decoder.nsh.unsupported_version")                       \
    X(NSH_BAD_HEADER_LENGTH, "decoder.nsh.bad_header_length")                           \
    X(NSH_RESERVED_TYPE, "decoder.nsh.reserved_type")                                   \
    X(NSH_UNSUPPORTED_TYPE, "decoder.nsh.unsupported_type")                             \
    X(NSH_UNKNOWN_PAYLOAD, "decoder.nsh.unknown_payload")                               \
    X(TOO_MANY_LAYERS, "decoder.too_many_layers")

#define PACKET_STREAM_EVENTS(X)                                                                   \
    X(STREAM_3WHS_ACK_IN_WRONG_DIR, "stream.3whs_ack_in_wrong_dir")                               \
    X(STREAM_3WHS_ASYNC_WRONG_SEQ, "stream.3whs_async_wrong_seq")                                 \
    X(STREAM_3WHS_RIGHT_SEQ_WRONG_ACK_EVASION, "stream.3whs_right_seq_wrong_ack_evasion")         \
    X(STREAM_3WHS_SYNACK_IN_WRONG_DIRECTION, "stream.3whs_synack_in_wrong_direction")             \
    X(STREAM_3WHS_SYNACK_RESEND_WITH_DIFF_ACK, "stream.3whs_synack_resend_with_diff_ack")         \
    X(STREAM_3WHS_SYNACK_RESEND_WITH_DIFF_SEQ, "stream.3whs_synack_resend_with_diff_seq")         \
    X(STREAM_3WHS_SYNACK_TOSERVER_ON_SYN_RECV, "stream.3whs_synack_toserver_on_syn_recv")         \
    X(STREAM_3WHS_SYNACK_WITH_WRONG_ACK, "stream.3whs_synack_with_wrong_ack")                     \
    X(STREAM_3WHS_SYNACK_FLOOD, "stream.3whs_synack_flood")                                       \
    X(STREAM_3WHS_SYNACK_TFO_DATA_IGNORED, "stream.3whs_synack_tfo_data_ignored")                 \
    X(STREAM_3WHS_SYN_RESEND_DIFF_SEQ_ON_SYN_RECV, "stream.3whs_syn_resend_diff_seq_on_syn_recv") \
    X(STREAM_3WHS_SYN_TOCLIENT_ON_SYN_RECV, "stream.3whs_syn_toclient_on_syn_recv")               \
    X(STREAM_3WHS_SYN_FLOOD, "stream.3whs_syn_flood")                                             \
    X(STREAM_3WHS_WRONG_SEQ_WRONG_ACK, "stream.3whs_wrong_seq_wrong_ack")                         \
    X(STREAM_3WHS_ACK_DATA_INJECT, "stream.3whs_ack_data_inject")                                 \
    X(STREAM_4WHS_SYNACK_WITH_WRONG_ACK, "stream.4whs_synack_with_wrong_ack")                     \
    X(STREAM_4WHS_SYNACK_WITH_WRONG_SYN, "stream.4whs_synack_with_wrong_syn")                     \
    X(STREAM_4WHS_WRONG_SEQ, "stream.4whs_wrong_seq")                                             \
    X(STREAM_4WHS_INVALID_ACK, "stream.4whs_invalid_ack")                                         \
    X(STREAM_CLOSEWAIT_ACK_OUT_OF_WINDOW, "stream.closewait_ack_out_of_window")                   \
    X(STREAM_CLOSEWAIT_FIN_OUT_OF_WINDOW, "stream.closewait_fin_out_of_window")                   \
    X(STREAM_CLOSEWAIT_PKT_BEFORE_LAST_ACK, "stream.closewait_pkt_before_last_ack")               \
    X(STREAM_CLOSEWAIT_INVALID_ACK, "stream.closewait_invalid_ack")                               \
    X(STREAM_CLOSING_ACK_WRONG_SEQ, "stream.closing_ack_wrong_seq")                               \
    X(STREAM_CLOSING_INVALID_ACK, "stream.closing_invalid_ack")                                   \
    X(STREAM_EST_PACKET_OUT_OF_WINDOW, "stream.est_packet_out_of_window")                         \
    X(STREAM_EST_PKT_BEFORE_LAST_ACK, "stream.est_pkt_before_last_ack")                           \
    X(STREAM_EST_SYNACK_RESEND, "stream.est_synack_resend")                                       \
    X(STREAM_EST_SYNACK_RESEND_WITH_DIFF_ACK, "stream.est_synack_resend_with_diff_ack")           \
    X(STREAM_EST_SYNACK_RESEND_WITH_DIFF_SEQ, "stream.est_synack_resend_with_diff_seq")           \
    X(STREAM_EST_SYNACK_TOSERVER, "stream.est_synack_toserver")                                   \
    X(STREAM_EST_SYN_RESEND, "stream.est_syn_resend")                                             \
    X(STREAM_EST_SYN_RESEND_DIFF_SEQ, "stream.est_syn_resend_diff_seq")                           \
    X(STREAM_EST_SYN_TOCLIENT, "stream.est_syn_toclient")                                         \
    X(STREAM_EST_INVALID_ACK, "stream.est_invalid_ack")                                           \
    X(STREAM_EST_ACK_ZWP_DATA, "stream.est_ack_zwp_data")                                         \
    X(STREAM_FIN_INVALID_ACK, "stream.fin_invalid_ack")                                           \
    X(STREAM_FIN1_ACK_WRONG_SEQ, "stream.fin1_ack_wrong_seq")                                     \
    X(STREAM_FIN1_FIN_WRONG_SEQ, "stream.fin1_fin_wrong_seq")                                     \
    X(STREAM_FIN1_INVALID_ACK, "stream.fin1_invalid_ack")                                         \
    X(STREAM_FIN2_ACK_WRONG_SEQ, "stream.fin2_ack_wrong_seq")                                     \
    X(STREAM_FIN2_FIN_WRONG_SEQ, "stream.fin2_fin_wrong_seq")                                     \
    X(STREAM_FIN2_INVALID_ACK, "stream.fin2_invalid_ack")                                         \
    X(STREAM_FIN_BUT_NO_SESSION, "stream.fin_but_no_session")                                     \
    X(STREAM_FIN_OUT_OF_WINDOW, "stream.fin_out_of_window")                                       \
    X(STREAM_FIN_SYN, "stream.fin_syn")                                                           \
    X(STREAM_LASTACK_ACK_WRONG_SEQ, "stream.lastack_ack_wrong_seq")                               \
    X(STREAM_LASTACK_INVALID_ACK, "stream.lastack_invalid_ack")                                   \
    X(STREAM_RST_BUT_NO_SESSION, "stream.rst_but_no_session")                                     \
    X(STREAM_TIMEWAIT_ACK_WRONG_SEQ, "stream.timewait_ack_wrong_seq")                             \
    X(STREAM_TIMEWAIT_INVALID_ACK, "stream.timewait_invalid_ack")                                 \
    X(STREAM_SHUTDOWN_SYN_RESEND, "stream.shutdown_syn_resend")                                   \
    X(STREAM_PKT_INVALID_TIMESTAMP, "stream.pkt_invalid_timestamp")                               \
    X(STREAM_PKT_INVALID_ACK, "stream.pkt_invalid_ack")                                           \
    X(STREAM_PKT_BROKEN_ACK, "stream.pkt_broken_ack")                                             \
    X(STREAM_RST_INVALID_ACK, "stream.rst_invalid_ack")                                           \
    X(STREAM_RST_WITH_DATA, "stream.rst_with_data")                                               \
    X(STREAM_PKT_RETRANSMISSION, "stream.pkt_retransmission")                                     \
    X(STREAM_PKT_SPURIOUS_RETRANSMISSION, "stream.pkt_spurious_retransmission")                   \
    X(STREAM_PKT_BAD_WINDOW_UPDATE, "stream.pkt_bad_window_update")                               \
    X(STREAM_SUSPECTED_RST_INJECT, "stream.suspected_rst_inject")                                 \
    X(STREAM_WRONG_THREAD, "stream.wrong_thread")                                                 \
    X(STREAM_REASSEMBLY_SEGMENT_BEFORE_BASE_SEQ, "stream.reassembly_segment_before_base_seq")     \
    X(STREAM_REASSEMBLY_NO_SEGMENT, "stream.reassembly_no_segment")                               \
    X(STREAM_REASSEMBLY_SEQ_GAP, "stream.reassembly_seq_gap")                                     \
    X(STREAM_REASSEMBLY_OVERLAP_DIFFERENT_DATA, "stream.reassembly_overlap_different_data")       \
    X(STREAM_REASSEMBLY_DEPTH_REACHED, "stream.reassembly_depth_reached")                         \
    X(STREAM_REASSEMBLY_INSERT_MEMCAP, "stream.reassembly_insert_memcap")                         \
    X(STREAM_REASSEMBLY_INSERT_LIMIT, "stream.reassembly_insert_limit")                           \
    X(STREAM_REASSEMBLY_INSERT_INVALID, "stream.reassembly_insert_invalid")                       \
    X(STREAM_REASSEMBLY_URGENT_OOB_LIMIT_REACHED, "stream.reassembly_urgent_oob_limit_reached")

#define PACKET_ARP_EVENTS(X)                                          \
    X(ARP_PKT_TOO_SMALL, "decoder.arp.pkt_too_small")                 \
    X(ARP_UNSUPPORTED_HARDWARE, "decoder.arp.unsupported_hardware")   \
    X(ARP_UNSUPPORTED_PROTOCOL, "decoder.arp.unsupported_protocol")   \
    X(ARP_INVALID_PKT, "decoder.arp.invalid_pkt")                     \
    X(ARP_INVALID_HARDWARE_SIZE, "decoder.arp.invalid_hardware_size") \
    X(ARP_INVALID_PROTOCOL_SIZE, "decoder.arp.invalid_protocol_size") \
    X(ARP_UNSUPPORTED_OPCODE, "decoder.arp.unsupported_opcode")

/* Detect could not decide a rule. Rules for these events run after the packet's other rules. */
#define PACKET_DETECT_EVENTS(X)                                       \
    X(DETECT_PCRE_LIMIT, "detect.pcre_limit")                         \
    X(DETECT_INSPECTION_LIMIT, "detect.inspection_limit")

/* Decoder events of Suricata 9. Rules on them work always; records and counters have them only with
 * `compatibility: suricata-9`. */
#define PACKET_DECODE_9_EVENTS(X)                                           \
    X(IPV4_UNKNOWN_PROTOCOL, "decoder.ipv4.unknown_protocol")               \
    X(ETAG_HEADER_TOO_SMALL, "decoder.etag.header_too_small")               \
    X(ETAG_UNKNOWN_TYPE, "decoder.etag.unknown_type")                       \
    X(IGMP_PKT_TOO_SMALL, "decoder.igmp.pkt_too_small")                     \
    X(IGMP_V3_PKT_TOO_SMALL, "decoder.igmp.v3_pkt_too_small")               \
    X(IGMP_MALFORMED, "decoder.igmp.malformed")                             \
    X(SCTP_CHUNK_TOO_SMALL, "decoder.sctp.chunk_too_small")                 \
    X(SCTP_CHUNK_LEN_INVALID, "decoder.sctp.chunk_len_invalid")             \
    X(SCTP_INIT_CHUNK_BUNDLED, "decoder.sctp.init_chunk_bundled")           \
    X(SCTP_INIT_WITH_NON_ZERO_VTAG, "decoder.sctp.init_with_non_zero_vtag") \
    X(SCTP_DATA_WITH_ZERO_VTAG, "decoder.sctp.data_with_zero_vtag")         \
    X(SCTP_TOO_MANY_CHUNKS, "decoder.sctp.too_many_chunks")                 \
    X(SCTP_TOO_MANY_DATA_CHUNKS, "decoder.sctp.too_many_data_chunks")

#define PACKET_EVENTS(X)                                                      \
    PACKET_DECODE_EVENTS(X) PACKET_STREAM_EVENTS(X) PACKET_ARP_EVENTS(X)      \
    PACKET_DETECT_EVENTS(X) PACKET_DECODE_9_EVENTS(X)

/* EVENT_IPV4_PKT_TOO_SMALL, EVENT_STREAM_3WHS_ACK_IN_WRONG_DIR, ... */
enum packet_event {
#define X(id, name) EVENT_##id,
    PACKET_EVENTS(X)
#undef X
    PACKET_EVENT_COUNT
};
#define PACKET_EVENT_NONE PACKET_EVENT_COUNT

/* Returns the full name, as EVE anomaly writes it: "decoder.ipv4.trunc_pkt". NULL: out of range. */
const char *packet_event_name(enum packet_event event);

/* Finds an event by its full name or a former one, in any case. PACKET_EVENT_NONE: unknown. Load
 * time only. */
enum packet_event packet_event_find(struct text name);
/* Finds an event by its name without the prefix: kind is "decoder" or "stream". */
enum packet_event packet_event_find_short(const char *kind, struct text name);

/* True if the stream module raises it: the name begins with "stream.". */
static inline bool packet_event_is_stream(enum packet_event event)
{
    return event >= EVENT_STREAM_3WHS_ACK_IN_WRONG_DIR &&
           event <= EVENT_STREAM_REASSEMBLY_URGENT_OOB_LIMIT_REACHED;
}

/* True if detect raises it: the name begins with "detect.". */
static inline bool packet_event_is_detect(enum packet_event event)
{
    return event >= EVENT_DETECT_PCRE_LIMIT && event <= EVENT_DETECT_INSPECTION_LIMIT;
}

/* EVE's anomaly.type is "stream", not "decode", as in Suricata. */
static inline bool packet_event_is_typed_stream(enum packet_event event)
{
    return event >= EVENT_TOO_MANY_LAYERS && event <= EVENT_ARP_UNSUPPORTED_OPCODE;
}

/* True if Suricata 8.0 does not have it. */
static inline bool packet_event_is_of_9(enum packet_event event)
{
    return event >= EVENT_IPV4_UNKNOWN_PROTOCOL;
}

/* Writes the name of its counter into `out`: "decoder.event.ipv4.trunc_pkt", "stream.fin_syn". */
#define PACKET_EVENT_NAME_MAX 96
const char *packet_event_counter_name(enum packet_event event, const char *prefix,
                                      char out[PACKET_EVENT_NAME_MAX]);

#endif
