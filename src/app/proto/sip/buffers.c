/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/sip/buffers.c - the buffers that rules inspect of a message. */
#include "app/proto/sip/sip.h"

#include "app/lib/log_text.h"
#include "app/values.h"

/* A transaction is one message of one direction. */
static bool has_part(const struct app_tx *tx, enum direction d)
{
    return sip_tx_of(tx)->direction == d;
}

#define TEXT_BUFFER(id, keyword, directions_, member, text)                                   \
    static const struct app_buffer buffer_##id = {                                            \
        .name = keyword, .doc = text, .directions = (directions_),                            \
        .field = APP_FIELD_FROM(sip_tx, member, KNOWN, direction),                            \
    }
TEXT_BUFFER(method, "sip.method", APP_TS, method, "method of a request");
TEXT_BUFFER(uri, "sip.uri", APP_TS, uri, "URI of a request");
TEXT_BUFFER(protocol, "sip.protocol", APP_BOTH, version, "version of a message");
TEXT_BUFFER(stat_code, "sip.stat_code", APP_TC, code, "status code");
TEXT_BUFFER(stat_msg, "sip.stat_msg", APP_TC, reason, "reason of a status");
TEXT_BUFFER(request_line, "sip.request_line", APP_TS, line, "first line of a request");
TEXT_BUFFER(response_line, "sip.response_line", APP_TC, line, "first line of a response");

/* --- headers ---------------------------------------------------------------------------------- */

static bool has_name(const void *item, const void *name)
{
    return slice_is(((const struct sip_header *)item)->name, name);
}

/* The nth header of this name. Compact names were spelled out by message.c. */
static bool find_header(struct app_tx *tx, enum direction d, const struct app_key *key,
                        unsigned index, struct slice *out)
{
    const struct app_values values = {
        .first = sip_tx_of(tx)->headers, .next = offsetof(struct sip_header, next),
        .fits = has_name, .arg = key->name[d],
    };
    const struct sip_header *h = has_part(tx, d) ? app_value_at(tx, &values, index) : NULL;

    if (h == NULL)
        return false;
    *out = h->value;
    return true;
}

#define HEADER_BUFFER(id, header)                                                             \
    static const struct app_buffer buffer_##id = {                                            \
        .name = "sip." #id, .doc = "each " header " header", .directions = APP_BOTH,          \
        .multi = true, .find = find_header, .key = APP_KEY(header),                           \
    }
HEADER_BUFFER(from, "From");
HEADER_BUFFER(to, "To");
HEADER_BUFFER(via, "Via");
HEADER_BUFFER(user_agent, "User-Agent");
HEADER_BUFFER(content_type, "Content-Type");
HEADER_BUFFER(content_length, "Content-Length");

/* --- session descriptions --------------------------------------------------------------------- */

#define SDP_PATH APP_PATH_POINTER(sip_tx, sdp), APP_SENDER_AT(sip_tx, direction)
static const struct app_path sdp_path = { SDP_PATH };
static const struct app_path bandwidths = { SDP_PATH, APP_PATH_LIST(sdp, bandwidths, sdp_text) };
static const struct app_path attributes = { SDP_PATH, APP_PATH_LIST(sdp, attributes, sdp_text) };
static const struct app_path times = { SDP_PATH, APP_PATH_LIST(sdp, times, sdp_time) };
static const struct app_path media = { SDP_PATH, APP_PATH_LIST(sdp, media, sdp_media) };

#define SDP_BUFFER(id, member, text)                                                          \
    static const struct app_buffer buffer_sdp_##id = {                                        \
        .name = "sdp." #id, .doc = text, .directions = APP_BOTH,                              \
        .field = APP_FIELD_PART(&sdp_path, sdp, member, KNOWN),                               \
    }
SDP_BUFFER(origin, origin, "o= line");
SDP_BUFFER(session_name, name, "s= line");
SDP_BUFFER(session_info, info, "i= line");
SDP_BUFFER(uri, uri, "u= line");
SDP_BUFFER(email, email, "e= line");
SDP_BUFFER(phone_number, phone, "p= line");
SDP_BUFFER(connection_data, connection, "c= line");
SDP_BUFFER(timezone, zone, "z= line");
SDP_BUFFER(encryption_key, key, "k= line");

/* The member of each item of a list. */
#define SDP_LIST_BUFFER(id, keyword, type, list, member, text)                                \
    static const struct app_buffer buffer_sdp_##id = {                                        \
        .name = keyword, .doc = text, .directions = APP_BOTH, .multi = true,                  \
        .field = APP_FIELD_PART(&(list), type, member, KNOWN),                                \
    }
SDP_LIST_BUFFER(bandwidth, "sdp.bandwidth", sdp_text, bandwidths, text, "each b= line");
SDP_LIST_BUFFER(attribute, "sdp.attribute", sdp_text, attributes, text, "each a= line");
SDP_LIST_BUFFER(time, "sdp.time", sdp_time, times, time, "each t= line");
SDP_LIST_BUFFER(repeat_time, "sdp.repeat_time", sdp_time, times, repeat, "each r= line");
SDP_LIST_BUFFER(media, "sdp.media.media", sdp_media, media, media, "each m= line");
SDP_LIST_BUFFER(media_info, "sdp.media.media_info", sdp_media, media, info, "i= of media");
SDP_LIST_BUFFER(media_connection, "sdp.media.connection_data", sdp_media, media, connection,
                "c= of media");
SDP_LIST_BUFFER(media_key, "sdp.media.encryption_key", sdp_media, media, key, "k= of media");

const struct app_buffer *const sip_buffers[] = {
    &buffer_method, &buffer_uri, &buffer_protocol, &buffer_stat_code, &buffer_stat_msg,
    &buffer_request_line, &buffer_response_line, &buffer_from, &buffer_to, &buffer_via,
    &buffer_user_agent, &buffer_content_type, &buffer_content_length, &buffer_sdp_origin,
    &buffer_sdp_session_name, &buffer_sdp_session_info, &buffer_sdp_uri, &buffer_sdp_email,
    &buffer_sdp_phone_number, &buffer_sdp_connection_data, &buffer_sdp_timezone,
    &buffer_sdp_encryption_key, &buffer_sdp_bandwidth, &buffer_sdp_attribute, &buffer_sdp_time,
    &buffer_sdp_repeat_time, &buffer_sdp_media, &buffer_sdp_media_info,
    &buffer_sdp_media_connection, &buffer_sdp_media_key, NULL,
};
