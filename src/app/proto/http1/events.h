/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/events.h - the protocol's events, and which message of libhtp raises which. */
#ifndef APP_HTTP1_EVENTS_H
#define APP_HTTP1_EVENTS_H

#include "app/rules.h"

#define HTTP_EVENT_LIST(E)                                                                        \
    E(UNKNOWN_ERROR, "unknown_error")                                                             \
    E(GZIP_DECOMPRESSION_FAILED, "gzip_decompression_failed")                                     \
    E(REQUEST_FIELD_MISSING_COLON, "request_field_missing_colon")                                 \
    E(RESPONSE_FIELD_MISSING_COLON, "response_field_missing_colon")                               \
    E(INVALID_REQUEST_CHUNK_LEN, "invalid_request_chunk_len")                                     \
    E(INVALID_RESPONSE_CHUNK_LEN, "invalid_response_chunk_len")                                   \
    E(INVALID_TRANSFER_ENCODING_VALUE_IN_REQUEST, "invalid_transfer_encoding_value_in_request")   \
    E(INVALID_TRANSFER_ENCODING_VALUE_IN_RESPONSE, "invalid_transfer_encoding_value_in_response") \
    E(INVALID_CONTENT_LENGTH_FIELD_IN_REQUEST, "invalid_content_length_field_in_request")         \
    E(INVALID_CONTENT_LENGTH_FIELD_IN_RESPONSE, "invalid_content_length_field_in_response")       \
    E(DUPLICATE_CONTENT_LENGTH_FIELD_IN_REQUEST, "duplicate_content_length_field_in_request")     \
    E(DUPLICATE_CONTENT_LENGTH_FIELD_IN_RESPONSE, "duplicate_content_length_field_in_response")   \
    E(100_CONTINUE_ALREADY_SEEN, "100_continue_already_seen")                                     \
    E(UNABLE_TO_MATCH_RESPONSE_TO_REQUEST, "unable_to_match_response_to_request")                 \
    E(INVALID_SERVER_PORT_IN_REQUEST, "invalid_server_port_in_request")                           \
    E(INVALID_AUTHORITY_PORT, "invalid_authority_port")                                           \
    E(REQUEST_HEADER_INVALID, "request_header_invalid")                                           \
    E(RESPONSE_HEADER_INVALID, "response_header_invalid")                                         \
    E(MISSING_HOST_HEADER, "missing_host_header")                                                 \
    E(HOST_HEADER_AMBIGUOUS, "host_header_ambiguous")                                             \
    E(INVALID_REQUEST_FIELD_FOLDING, "invalid_request_field_folding")                             \
    E(INVALID_RESPONSE_FIELD_FOLDING, "invalid_response_field_folding")                           \
    E(REQUEST_FIELD_TOO_LONG, "request_field_too_long")                                           \
    E(RESPONSE_FIELD_TOO_LONG, "response_field_too_long")                                         \
    E(REQUEST_LINE_INVALID, "request_line_invalid")                                               \
    E(REQUEST_BODY_UNEXPECTED, "request_body_unexpected")                                         \
    E(RESPONSE_BODY_UNEXPECTED, "response_body_unexpected")                                       \
    E(REQUEST_SERVER_PORT_TCP_PORT_MISMATCH, "request_server_port_tcp_port_mismatch")             \
    E(REQUEST_URI_HOST_INVALID, "request_uri_host_invalid")                                       \
    E(REQUEST_HEADER_HOST_INVALID, "request_header_host_invalid")                                 \
    E(REQUEST_AUTH_UNRECOGNIZED, "request_auth_unrecognized")                                     \
    E(REQUEST_HEADER_REPETITION, "request_header_repetition")                                     \
    E(RESPONSE_HEADER_REPETITION, "response_header_repetition")                                   \
    E(DOUBLE_ENCODED_URI, "double_encoded_uri")                                                   \
    E(URI_DELIM_NON_COMPLIANT, "uri_delim_non_compliant")                                         \
    E(METHOD_DELIM_NON_COMPLIANT, "method_delim_non_compliant")                                   \
    E(REQUEST_LINE_LEADING_WHITESPACE, "request_line_leading_whitespace")                         \
    E(TOO_MANY_ENCODING_LAYERS, "too_many_encoding_layers")                                       \
    E(REQUEST_TOO_MANY_LZMA_LAYERS, "request_too_many_lzma_layers")                               \
    E(RESPONSE_TOO_MANY_LZMA_LAYERS, "response_too_many_lzma_layers")                             \
    E(ABNORMAL_CE_HEADER, "abnormal_ce_header")                                                   \
    E(RESPONSE_MULTIPART_BYTERANGES, "response_multipart_byteranges")                             \
    E(RESPONSE_ABNORMAL_TRANSFER_ENCODING, "response_abnormal_transfer_encoding")                 \
    E(RESPONSE_CHUNKED_OLD_PROTO, "response_chunked_old_proto")                                   \
    E(RESPONSE_INVALID_PROTOCOL, "response_invalid_protocol")                                     \
    E(RESPONSE_INVALID_STATUS, "response_invalid_status")                                         \
    E(REQUEST_LINE_INCOMPLETE, "request_line_incomplete")                                         \
    E(PROTOCOL_CONTAINS_EXTRA_DATA, "protocol_contains_extra_data")                               \
    E(CONTENT_LENGTH_EXTRA_DATA_START, "content_length_extra_data_start")                         \
    E(CONTENT_LENGTH_EXTRA_DATA_END, "content_length_extra_data_end")                             \
    E(SWITCHING_PROTO_WITH_CONTENT_LENGTH, "switching_proto_with_content_length")                 \
    E(DEFORMED_EOL, "deformed_eol")                                                               \
    E(PARSER_STATE_ERROR, "parser_state_error")                                                   \
    E(MISSING_OUTBOUND_TRANSACTION_DATA, "missing_outbound_transaction_data")                     \
    E(MISSING_INBOUND_TRANSACTION_DATA, "missing_inbound_transaction_data")                       \
    E(ZERO_LENGTH_DATA_CHUNKS, "zero_length_data_chunks")                                         \
    E(REQUEST_LINE_UNKNOWN_METHOD, "request_line_unknown_method")                                 \
    E(REQUEST_LINE_UNKNOWN_METHOD_NO_PROTOCOL, "request_line_unknown_method_no_protocol")         \
    E(REQUEST_LINE_UNKNOWN_METHOD_INVALID_PROTOCOL,                                               \
      "request_line_unknown_method_invalid_protocol")                                             \
    E(REQUEST_LINE_MISSING_PROTOCOL, "request_line_missing_protocol")                             \
    E(RESPONSE_LINE_INVALID_PROTOCOL, "response_line_invalid_protocol")                           \
    E(RESPONSE_LINE_INVALID_RESPONSE_STATUS, "response_line_invalid_response_status")             \
    E(RESPONSE_BODY_INTERNAL_ERROR, "response_body_internal_error")                               \
    E(REQUEST_BODY_DATA_CALLBACK_ERROR, "request_body_data_callback_error")                       \
    E(RESPONSE_INVALID_EMPTY_NAME, "response_invalid_empty_name")                                 \
    E(REQUEST_INVALID_EMPTY_NAME, "request_invalid_empty_name")                                   \
    E(RESPONSE_INVALID_LWS_AFTER_NAME, "response_invalid_lws_after_name")                         \
    E(RESPONSE_HEADER_NAME_NOT_TOKEN, "response_header_name_not_token")                           \
    E(REQUEST_INVALID_LWS_AFTER_NAME, "request_invalid_lws_after_name")                           \
    E(LZMA_DECOMPRESSION_DISABLED, "lzma_decompression_disabled")                                 \
    E(CONNECTION_ALREADY_OPEN, "connection_already_open")                                         \
    E(COMPRESSION_BOMB_DOUBLE_LZMA, "compression_bomb_double_lzma")                               \
    E(INVALID_CONTENT_ENCODING, "invalid_content_encoding")                                       \
    E(INVALID_GAP, "invalid_gap")                                                                 \
    E(REQUEST_CHUNK_EXTENSION, "request_chunk_extension")                                         \
    E(RESPONSE_CHUNK_EXTENSION, "response_chunk_extension")                                       \
    E(LZMA_MEMLIMIT_REACHED, "lzma_memlimit_reached")                                             \
    E(COMPRESSION_BOMB, "compression_bomb")                                                       \
    E(COMPRESSION_BOMB_LIMIT_REACHED, "compression_bomb_limit_reached")                           \
    E(REQUEST_TOO_MANY_HEADERS, "request_too_many_headers")                                       \
    E(RESPONSE_TOO_MANY_HEADERS, "response_too_many_headers")                                     \
    E(MULTIPART_GENERIC_ERROR, "multipart_generic_error")                                         \
    E(MULTIPART_NO_FILEDATA, "multipart_no_filedata")                                             \
    E(MULTIPART_INVALID_HEADER, "multipart_invalid_header")                                       \
    E(TOO_MANY_WARNINGS, "too_many_warnings")                                                     \
    E(RANGE_INVALID, "range_invalid")                                                             \
    E(FILE_NAME_TOO_LONG, "file_name_too_long")                                                   \
    E(FAILED_PROTOCOL_CHANGE, "failed_protocol_change")                                           \
    E(DECOMPRESSION_WINDOW_TOO_LARGE, "decompression_window_too_large")                           \
    E(DECOMPRESSION_MEMCAP_REACHED, "decompression_memcap_reached")

enum http_event {
    HTTP_EVENT_NONE,
#define E(id, name) HTTP_EVENT_##id,
    HTTP_EVENT_LIST(E)
#undef E
};

extern const struct app_name http_events[];

/* Returns the event for a message of libhtp; NONE: no event. */
enum http_event http_event_of_message(const char *message, enum direction direction);
/* The texts it knows, in their order; NULL behind the last one. For tests. */
const char *http_message_text(size_t i);

#endif
