/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/events.h - what may be wrong with a connection, under the names of rules. */
#ifndef APP_HTTP2_EVENTS_H
#define APP_HTTP2_EVENTS_H

#include "app/rules.h"

#define H2_EVENT_LIST(E)                                                   \
    E(H2_INVALID_FRAME_HEADER, "invalid_frame_header")                     \
    E(H2_INVALID_CLIENT_MAGIC, "invalid_client_magic")                     \
    E(H2_INVALID_FRAME_DATA, "invalid_frame_data")                         \
    E(H2_INVALID_HEADER, "invalid_header")                                 \
    E(H2_INVALID_FRAME_LENGTH, "invalid_frame_length")                     \
    E(H2_EXTRA_HEADER_DATA, "extra_header_data")                           \
    E(H2_LONG_FRAME_DATA, "long_frame_data")                               \
    E(H2_STREAM_ID_REUSE, "stream_id_reuse")                               \
    E(H2_INVALID_HTTP1_SETTINGS, "invalid_http1_settings")                 \
    E(H2_FAILED_DECOMPRESSION, "failed_decompression")                     \
    E(H2_INVALID_RANGE, "invalid_range")                                   \
    E(H2_HEADER_INTEGER_OVERFLOW, "header_integer_overflow")               \
    E(H2_TOO_MANY_STREAMS, "too_many_streams")                             \
    E(H2_AUTHORITY_HOST_MISMATCH, "authority_host_mismatch")               \
    E(H2_USERINFO_IN_URI, "userinfo_in_uri")                               \
    E(H2_REASSEMBLY_LIMIT_REACHED, "reassembly_limit_reached")             \
    E(H2_DNS_REQUEST_TOO_LONG, "dns_request_too_long")                     \
    E(H2_DNS_RESPONSE_TOO_LONG, "dns_response_too_long")                   \
    E(H2_DATA_STREAM_ZERO, "data_stream_zero")                             \
    E(H2_TOO_MANY_FRAMES, "too_many_frames")                               \
    E(H2_COMPRESSION_BOMB, "compression_bomb")                             \
    E(H2_DECOMPRESSION_WINDOW_TOO_LARGE, "decompression_window_too_large") \
    E(H2_DECOMPRESSION_MEMCAP_REACHED, "decompression_memcap_reached")     \
    E(H2_HEADER_LIST_TOO_LARGE, "header_list_too_large")                   \
    E(H2_HEADERS_CUT, "headers_cut")                                       \
    E(H2_TOO_MANY_ENCODING_LAYERS, "too_many_encoding_layers")

enum h2_event { H2_EVENT_NONE, H2_EVENT_LIST(APP_EVENT_ID) };

extern const struct app_name h2_events[];

#endif
