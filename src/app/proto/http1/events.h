/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/events.h - the protocol's events, and which message of libhtp raises which. */
#ifndef APP_HTTP1_EVENTS_H
#define APP_HTTP1_EVENTS_H

#include "app/rules.h"

#define HTTP_EVENT_LIST(E)                          \
    E(UNKNOWN_ERROR)                                \
    E(GZIP_DECOMPRESSION_FAILED)                    \
    E(REQUEST_FIELD_MISSING_COLON)                  \
    E(RESPONSE_FIELD_MISSING_COLON)                 \
    E(INVALID_REQUEST_CHUNK_LEN)                    \
    E(INVALID_RESPONSE_CHUNK_LEN)                   \
    E(INVALID_TRANSFER_ENCODING_VALUE_IN_REQUEST)   \
    E(INVALID_TRANSFER_ENCODING_VALUE_IN_RESPONSE)  \
    E(INVALID_CONTENT_LENGTH_FIELD_IN_REQUEST)      \
    E(INVALID_CONTENT_LENGTH_FIELD_IN_RESPONSE)     \
    E(DUPLICATE_CONTENT_LENGTH_FIELD_IN_REQUEST)    \
    E(DUPLICATE_CONTENT_LENGTH_FIELD_IN_RESPONSE)   \
    E(100_CONTINUE_ALREADY_SEEN)                    \
    E(UNABLE_TO_MATCH_RESPONSE_TO_REQUEST)          \
    E(INVALID_SERVER_PORT_IN_REQUEST)               \
    E(INVALID_AUTHORITY_PORT)                       \
    E(REQUEST_HEADER_INVALID)                       \
    E(RESPONSE_HEADER_INVALID)                      \
    E(MISSING_HOST_HEADER)                          \
    E(HOST_HEADER_AMBIGUOUS)                        \
    E(INVALID_REQUEST_FIELD_FOLDING)                \
    E(INVALID_RESPONSE_FIELD_FOLDING)               \
    E(REQUEST_FIELD_TOO_LONG)                       \
    E(RESPONSE_FIELD_TOO_LONG)                      \
    E(REQUEST_LINE_INVALID)                         \
    E(REQUEST_BODY_UNEXPECTED)                      \
    E(RESPONSE_BODY_UNEXPECTED)                     \
    E(REQUEST_SERVER_PORT_TCP_PORT_MISMATCH)        \
    E(REQUEST_URI_HOST_INVALID)                     \
    E(REQUEST_HEADER_HOST_INVALID)                  \
    E(REQUEST_AUTH_UNRECOGNIZED)                    \
    E(REQUEST_HEADER_REPETITION)                    \
    E(RESPONSE_HEADER_REPETITION)                   \
    E(DOUBLE_ENCODED_URI)                           \
    E(URI_DELIM_NON_COMPLIANT)                      \
    E(METHOD_DELIM_NON_COMPLIANT)                   \
    E(REQUEST_LINE_LEADING_WHITESPACE)              \
    E(TOO_MANY_ENCODING_LAYERS)                     \
    E(REQUEST_TOO_MANY_LZMA_LAYERS)                 \
    E(RESPONSE_TOO_MANY_LZMA_LAYERS)                \
    E(ABNORMAL_CE_HEADER)                           \
    E(RESPONSE_MULTIPART_BYTERANGES)                \
    E(RESPONSE_ABNORMAL_TRANSFER_ENCODING)          \
    E(RESPONSE_CHUNKED_OLD_PROTO)                   \
    E(RESPONSE_INVALID_PROTOCOL)                    \
    E(RESPONSE_INVALID_STATUS)                      \
    E(REQUEST_LINE_INCOMPLETE)                      \
    E(PROTOCOL_CONTAINS_EXTRA_DATA)                 \
    E(CONTENT_LENGTH_EXTRA_DATA_START)              \
    E(CONTENT_LENGTH_EXTRA_DATA_END)                \
    E(SWITCHING_PROTO_WITH_CONTENT_LENGTH)          \
    E(DEFORMED_EOL)                                 \
    E(PARSER_STATE_ERROR)                           \
    E(MISSING_OUTBOUND_TRANSACTION_DATA)            \
    E(MISSING_INBOUND_TRANSACTION_DATA)             \
    E(ZERO_LENGTH_DATA_CHUNKS)                      \
    E(REQUEST_LINE_UNKNOWN_METHOD)                  \
    E(REQUEST_LINE_UNKNOWN_METHOD_NO_PROTOCOL)      \
    E(REQUEST_LINE_UNKNOWN_METHOD_INVALID_PROTOCOL) \
    E(REQUEST_LINE_MISSING_PROTOCOL)                \
    E(RESPONSE_LINE_INVALID_PROTOCOL)               \
    E(RESPONSE_LINE_INVALID_RESPONSE_STATUS)        \
    E(RESPONSE_BODY_INTERNAL_ERROR)                 \
    E(REQUEST_BODY_DATA_CALLBACK_ERROR)             \
    E(RESPONSE_INVALID_EMPTY_NAME)                  \
    E(REQUEST_INVALID_EMPTY_NAME)                   \
    E(RESPONSE_INVALID_LWS_AFTER_NAME)              \
    E(RESPONSE_HEADER_NAME_NOT_TOKEN)               \
    E(REQUEST_INVALID_LWS_AFTER_NAME)               \
    E(LZMA_DECOMPRESSION_DISABLED)                  \
    E(CONNECTION_ALREADY_OPEN)                      \
    E(COMPRESSION_BOMB_DOUBLE_LZMA)                 \
    E(INVALID_CONTENT_ENCODING)                     \
    E(INVALID_GAP)                                  \
    E(REQUEST_CHUNK_EXTENSION)                      \
    E(RESPONSE_CHUNK_EXTENSION)                     \
    E(LZMA_MEMLIMIT_REACHED)                        \
    E(COMPRESSION_BOMB)                             \
    E(COMPRESSION_BOMB_LIMIT_REACHED)               \
    E(REQUEST_TOO_MANY_HEADERS)                     \
    E(RESPONSE_TOO_MANY_HEADERS)                    \
    E(MULTIPART_GENERIC_ERROR)                      \
    E(MULTIPART_NO_FILEDATA)                        \
    E(MULTIPART_INVALID_HEADER)                     \
    E(TOO_MANY_WARNINGS)                            \
    E(RANGE_INVALID)                                \
    E(FILE_NAME_TOO_LONG)                           \
    E(FAILED_PROTOCOL_CHANGE)                       \
    E(DECOMPRESSION_WINDOW_TOO_LARGE)               \
    E(DECOMPRESSION_MEMCAP_REACHED)

enum http_event {
    HTTP_EVENT_NONE,
#define E(name) HTTP_EVENT_##name,
    HTTP_EVENT_LIST(E)
#undef E
};

extern const struct app_name http_events[];

/* What libhtp says in words; NONE: nothing that concerns anybody. */
enum http_event http_event_of_message(const char *message, enum direction direction);

#endif
