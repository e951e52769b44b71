/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tftp/tftp.c - TFTP (RFC 1350): requests to read and to write.
 *
 * The transfer itself uses other ports (RFC 1350 section 4) and is another flow. */
#include "app/log.h"
#include "app/proto.h"

#include <string.h>

enum { READ = 1, WRITE = 2, OPCODE_MAX = 5 };   /* RFC 1350 section 5; 5 is ERROR */

/* Text in the arena; the mode in lower case. */
struct tftp_tx {
    struct app_tx tx;
    uint16_t opcode;
    struct slice file, mode;
};

/* Opcodes are below 256, so the first byte is 0. */
static enum app_probe_result tftp_probe(struct bytes in, enum direction direction UNUSED,
                                        const struct flow *flow UNUSED)
{
    return bytes_have(&in, 4) && peek_u8(&in) == 0 ? APP_PROBE_YES : APP_PROBE_NO;
}

static const struct app_probe probes[] = {
    { .transport = APP_UDP, .directions = APP_BOTH, .ports = "69", .min = 4, .probe = tftp_probe },
    { .probe = NULL },
};

/* --- requests --------------------------------------------------------------------------------- */

/* Modes are compared without case (RFC 1350 section 5). */
static struct slice lower_copy(struct arena *arena, struct slice s)
{
    uint8_t *p = arena_copy(arena, s.data, s.len);

    for (uint32_t i = 0; p != NULL && i < s.len; i++)
        if (p[i] >= 'A' && p[i] <= 'Z')
            p[i] |= 0x20;
    return (struct slice){ .data = p, .len = p != NULL ? s.len : 0 };
}

static bool slice_is(struct slice s, const char *text)
{
    return s.len == strlen(text) && memcmp(s.data, text, s.len) == 0;
}

/* The three modes of RFC 1350 section 5. */
static bool is_mode(struct slice s)
{
    return slice_is(s, "netascii") || slice_is(s, "mail") || slice_is(s, "octet");
}

/* Takes a request: opcode, file name, mode, each text with a zero byte after it; the zero byte of
 * the mode may be missing. Options after the mode (RFC 2347) are ignored. Opcodes 3 to 5 pass when
 * they have the same form. False: not a request. */
static bool take_request(struct bytes *in, struct tftp_tx *tx)
{
    struct slice file, mode;

    tx->opcode = take_be16(in);
    if (in->failed || tx->opcode < READ || tx->opcode > OPCODE_MAX)
        return false;
    if (!take_until(in, 0, &file))
        return false;
    if (!take_until(in, 0, &mode))
        mode = take_rest(in);
    tx->file = arena_slice(&tx->tx.arena, file);
    tx->mode = lower_copy(&tx->tx.arena, mode);
    return is_mode(tx->mode);
}

/* Only the client's datagrams. A datagram that is not a request ends the parser and has no
 * transaction. */
static enum parse_status tftp_parse(struct app_flow *af, struct app_input *input)
{
    struct bytes in = app_input_bytes(input);
    struct tftp_tx *tx;

    if (input->direction == TO_CLIENT || input->len == 0)
        return PARSE_OK;
    tx = (struct tftp_tx *)app_tx_new(af);
    if (tx == NULL)
        return PARSE_STOP;
    if (!take_request(&in, tx)) {
        app_tx_discard(&tx->tx);
        return PARSE_STOP;
    }
    tx->tx.progress[TO_SERVER] = tx->tx.progress[TO_CLIENT] = 1;
    return PARSE_OK;
}

/* --- EVE -------------------------------------------------------------------------------------- */

/* Other opcodes than read and write are "error". */
static bool tftp_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                     const void *conf UNUSED)
{
    const struct tftp_tx *t = CONTAINER_OF(tx, struct tftp_tx, tx);

    json_string(j, "packet", t->opcode == READ ? "read" : t->opcode == WRITE ? "write" : "error");
    json_slice(j, "file", t->file);
    json_slice(j, "mode", t->mode);
    return true;
}

static void tftp_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "tftp");
    (void)tftp_log(j, tx, TO_SERVER, NULL);
    json_object_end(j);
}

static const struct app_log log_tftp = {
    .as_packet = true,
    .conf_name = "tftp",
    .event_type = "tftp",
    .key = "tftp",
    .progress = { 1, 1 },
    .log = tftp_log,
};
static const struct app_log *const logs[] = { &log_tftp, NULL };

const struct app_proto app_tftp = {
    .id = APP_PROTO_tftp,
    .name = "tftp",
    .transports = APP_UDP,
    .probes = probes,
    .tx_size = sizeof(struct tftp_tx),
    .parse = tftp_parse,
    .progress_done = { 1, 1 },
    .logs = logs,
    .alert_metadata = tftp_alert_metadata,
    .marks_tx = true,           /* a request is complete at once, so app_tx_new() has marked it */
};
