/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/events.c - the events' names, and libhtp's messages that raise them.
 *
 * libhtp's messages have no stable codes. Their first words are the same in all 0.5 releases. */
#include "app/proto/http1/events.h"

#include <string.h>

const struct app_name http_events[] = {
#define E(id, name) { name, HTTP_EVENT_##id },
    HTTP_EVENT_LIST(E) { NULL, 0 },
#undef E
};

/* `text`: the message's first words. The event depends on the direction for few. */
struct message {
    const char *text;
    enum http_event request, response;
};

#define BOTH(text, event) { text, HTTP_EVENT_##event, HTTP_EVENT_##event }
#define EACH(text, in, out) { text, HTTP_EVENT_##in, HTTP_EVENT_##out }

/* By strcmp(), for a binary search. None is the beginning of another one. */
static const struct message messages[] = {
    BOTH("Already seen 100-Continue", 100_CONTINUE_ALREADY_SEEN),
    BOTH("Ambiguous request C-L value", DUPLICATE_CONTENT_LENGTH_FIELD_IN_REQUEST),
    BOTH("Ambiguous response C-L value", DUPLICATE_CONTENT_LENGTH_FIELD_IN_RESPONSE),
    BOTH("C-L value with extra data in the beginn", CONTENT_LENGTH_EXTRA_DATA_START),
    BOTH("C-L value with extra data in the end", CONTENT_LENGTH_EXTRA_DATA_END),
    BOTH("C-T multipart/byteranges in responses", RESPONSE_MULTIPART_BYTERANGES),
    BOTH("Chunked transfer-encoding on HTTP/0.9 or HTTP/1.0", RESPONSE_CHUNKED_OLD_PROTO),
    BOTH("Gaps are not allowed", INVALID_GAP),
    BOTH("Host information ambiguous", HOST_HEADER_AMBIGUOUS),
    BOTH("Host information in request headers required", MISSING_HOST_HEADER),
    BOTH("Invalid C-L field in request", INVALID_CONTENT_LENGTH_FIELD_IN_REQUEST),
    BOTH("Invalid C-L field in response", INVALID_CONTENT_LENGTH_FIELD_IN_RESPONSE),
    BOTH("Invalid T-E value in request", INVALID_TRANSFER_ENCODING_VALUE_IN_REQUEST),
    BOTH("Invalid T-E value in response", INVALID_TRANSFER_ENCODING_VALUE_IN_RESPONSE),
    BOTH("Invalid authority port", INVALID_AUTHORITY_PORT),
    BOTH("Invalid request field folding", INVALID_REQUEST_FIELD_FOLDING),
    BOTH("Invalid response field folding", INVALID_RESPONSE_FIELD_FOLDING),
    BOTH("Invalid response line: invalid protocol", RESPONSE_LINE_INVALID_PROTOCOL),
    BOTH("Invalid response line: invalid response status", RESPONSE_LINE_INVALID_RESPONSE_STATUS),
    BOTH("Invalid server port information in request", INVALID_SERVER_PORT_IN_REQUEST),
    EACH("Repetition for header", REQUEST_HEADER_REPETITION, RESPONSE_HEADER_REPETITION),
    BOTH("Request body data callback", REQUEST_BODY_DATA_CALLBACK_ERROR),
    BOTH("Request buffer over the limit", REQUEST_FIELD_TOO_LONG),
    BOTH("Request chunk encoding: Invalid chunk length", INVALID_REQUEST_CHUNK_LEN),
    BOTH("Request field invalid: LWS after name", REQUEST_INVALID_LWS_AFTER_NAME),
    BOTH("Request field invalid: colon missing", REQUEST_FIELD_MISSING_COLON),
    BOTH("Request field invalid: empty name", REQUEST_INVALID_EMPTY_NAME),
    BOTH("Request field length exceeds", REQUEST_FIELD_TOO_LONG),
    BOTH("Request field over the limit", REQUEST_FIELD_TOO_LONG),
    BOTH("Request header name is not a token", REQUEST_HEADER_INVALID),
    BOTH("Request line incomplete", REQUEST_LINE_INCOMPLETE),
    BOTH("Request line: URI contains non-compliant delimiter", URI_DELIM_NON_COMPLIANT),
    BOTH("Request line: leading whitespace", REQUEST_LINE_LEADING_WHITESPACE),
    BOTH("Request line: missing protocol", REQUEST_LINE_MISSING_PROTOCOL),
    BOTH("Request line: non-compliant delimiter", METHOD_DELIM_NON_COMPLIANT),
    BOTH("Request line: unknown method and invalid protocol",
         REQUEST_LINE_UNKNOWN_METHOD_INVALID_PROTOCOL),
    BOTH("Request line: unknown method and no protocol", REQUEST_LINE_UNKNOWN_METHOD_NO_PROTOCOL),
    BOTH("Request line: unknown method only", REQUEST_LINE_UNKNOWN_METHOD),
    BOTH("Request server port", REQUEST_SERVER_PORT_TCP_PORT_MISMATCH),
    BOTH("Response chunk encoding: Invalid chunk length", INVALID_RESPONSE_CHUNK_LEN),
    BOTH("Response field invalid: LWS after name", RESPONSE_INVALID_LWS_AFTER_NAME),
    BOTH("Response field invalid: empty name", RESPONSE_INVALID_EMPTY_NAME),
    BOTH("Response field invalid: missing colon", RESPONSE_FIELD_MISSING_COLON),
    BOTH("Response field length exceeds", RESPONSE_FIELD_TOO_LONG),
    BOTH("Response field over the limit", RESPONSE_FIELD_TOO_LONG),
    BOTH("Response header name is not a token", RESPONSE_HEADER_NAME_NOT_TOKEN),
    BOTH("Response the buffer limit", RESPONSE_FIELD_TOO_LONG),
    BOTH("Switching Protocol with Content-Length", SWITCHING_PROTO_WITH_CONTENT_LENGTH),
    BOTH("Too many request headers", REQUEST_TOO_MANY_HEADERS),
    BOTH("Too many response headers", RESPONSE_TOO_MANY_HEADERS),
    BOTH("Transfer-encoding has abnormal chunked value", RESPONSE_ABNORMAL_TRANSFER_ENCODING),
    BOTH("Unable to match response to request", UNABLE_TO_MATCH_RESPONSE_TO_REQUEST),
    BOTH("Unexpected Response body", RESPONSE_BODY_UNEXPECTED),
    BOTH("Unexpected request body", REQUEST_BODY_UNEXPECTED),
    BOTH("Unexpected response body", RESPONSE_BODY_UNEXPECTED),
    BOTH("Weird response end of lines mix", DEFORMED_EOL),
};

/* The last text that does not come behind the message: the only one that can be its beginning. */
static const struct message *find_message(const char *message)
{
    size_t low = 0, high = ARRAY_LEN(messages);

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(messages[middle].text, message) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &messages[low - 1] : NULL;
}

/* libhtp copies its message and does not check the copy: without memory there is none. */
enum http_event http_event_of_message(const char *message, enum direction direction)
{
    const struct message *m = message != NULL ? find_message(message) : NULL;

    if (m == NULL || strncmp(message, m->text, strlen(m->text)) != 0)
        return HTTP_EVENT_NONE;
    return direction == TO_SERVER ? m->request : m->response;
}

const char *http_message_text(size_t i)
{
    return i < ARRAY_LEN(messages) ? messages[i].text : NULL;
}
