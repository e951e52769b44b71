/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/list.h - the registration lists of outputs, sinks and EVE record types: one line each. */
#ifndef OUTPUT_LIST_H
#define OUTPUT_LIST_H

#define LOGGER_LIST(X) \
    X(file_store)      \
    X(alert_debug)     \
    X(alert_syslog)    \
    X(eve)             \
    X(fast)            \
    X(http_body_data)  \
    X(http_log)        \
    X(lua)             \
    X(pcap_log)        \
    X(stats_log)       \
    X(tcp_data)        \
    X(tls_log)         \
    X(tls_store)

#define SINK_LIST(X) \
    X(file)          \
    X(kafka)         \
    X(redis)         \
    X(syslog)        \
    X(unix_stream)   \
    X(unix_dgram)

#define EVE_TYPE_LIST(X) \
    X(alert)             \
    X(drop)              \
    X(anomaly)           \
    X(arp)               \
    X(files)             \
    X(frame)             \
    X(flow)              \
    X(netflow)           \
    X(metadata)          \
    X(stream)            \
    X(stats)

#endif
