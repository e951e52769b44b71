/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ftp/buffers.c - the buffers and keywords for commands and replies. */
#include "app/proto/ftp/ftp.h"
#include "app/values.h"

#include <string.h>

static struct ftp_tx *ftp_tx_of(struct app_tx *tx)
{
    return CONTAINER_OF(tx, struct ftp_tx, tx);
}

/* --- buffers -------------------------------------------------------------------------------- */

static bool get_command(struct app_tx *tx, enum direction d UNUSED, unsigned index UNUSED,
                        struct slice *out)
{
    const char *name = ftp_command_name(ftp_tx_of(tx)->command);

    if (name == NULL)
        return false;
    *out = (struct slice){ .data = (const uint8_t *)name, .len = (uint32_t)strlen(name) };
    return true;
}

static bool get_command_data(struct app_tx *tx, enum direction d UNUSED, unsigned index UNUSED,
                             struct slice *out)
{
    *out = ftp_command_data(ftp_tx_of(tx));
    return out->len > 0;
}

/* The nth line of the reply, a struct ftp_reply. Transactions without a known command have none for
 * rules. They ask for one after another: the search goes on from the last. */
static const void *nth_reply(struct app_tx *tx, enum direction d UNUSED, unsigned index)
{
    if (ftp_tx_of(tx)->command == FTP_UNKNOWN)
        return NULL;
    return APP_ITEM_AT(tx, ftp_tx_of(tx)->replies, ftp_reply, index);
}

static const struct app_path replies_path = { .find = nth_reply };

static const struct app_buffer buffer_command = {
    .name = "ftp.command", .doc = "name of the command", .directions = APP_TS,
    .progress = { FTP_DONE, 0 }, .get = get_command,
    .firewall = true,
};
static const struct app_buffer buffer_command_data = {
    .name = "ftp.command_data", .doc = "the arguments of the command", .directions = APP_TS,
    .progress = { FTP_DONE, 0 }, .get = get_command_data,
    .firewall = true,
};
static const struct app_buffer buffer_reply = {
    .name = "ftp.reply", .doc = "each line of the reply, without its code", .directions = APP_TC,
    .progress = { 0, FTP_DONE }, .multi = true,
    .field = APP_FIELD_PART(&replies_path, ftp_reply, text, ALWAYS),
    .firewall = true,
};
static const struct app_buffer buffer_completion_code = {
    .name = "ftp.completion_code", .doc = "code of each line of the reply",
    .directions = APP_TC, .progress = { 0, FTP_DONE }, .multi = true,
    .field = APP_FIELD_PART(&replies_path, ftp_reply, code, ALWAYS),
    .firewall = true,
};
const struct app_buffer *const ftp_buffers[] = {
    &buffer_command, &buffer_command_data, &buffer_reply, &buffer_completion_code, NULL,
};

/* --- numbers -------------------------------------------------------------------------------- */

static const struct app_integer integer_dynamic_port = {
    .name = "ftp.dynamic_port", .doc = "port that PORT, EPRT, PASV or EPSV agreed on",
    .bits = 16, .directions = APP_BOTH, .progress = { FTP_DONE, FTP_DONE },
    .field = APP_FIELD(ftp_tx, dynamic_port, KNOWN),
    .firewall = true,
};
const struct app_integer *const ftp_integers[] = { &integer_dynamic_port, NULL };

/* --- the rest ------------------------------------------------------------------------------- */

static int mode_parse(struct text in, void *arg, struct arena *arena UNUSED, struct err *err)
{
    bool *active = arg;

    in = text_trim(in);
    *active = text_equal_nocase(in, "active");
    if (!*active && !text_equal_nocase(in, "passive"))
        return err_set(err, "ftp.mode: expected active or passive, got \"%.*s\"", TEXT(in));
    return 0;
}

static bool mode_match(struct app_tx *tx, enum direction d UNUSED, const void *arg)
{
    const bool *active = arg;

    return ftp_tx_of(tx)->dynamic_port != 0 && ftp_tx_of(tx)->active == *active;
}

static int received_parse(struct text in, void *arg, struct arena *arena UNUSED, struct err *err)
{
    static const struct { const char *word; bool value; } words[] = {
        { "true", true }, { "1", true }, { "yes", true }, { "on", true },
        { "false", false }, { "0", false }, { "no", false }, { "off", false },
    };
    bool *received = arg;

    in = text_trim(in);
    for (unsigned i = 0; i < ARRAY_LEN(words); i++) {
        if (!text_equal_nocase(in, words[i].word))
            continue;
        *received = words[i].value;
        return 0;
    }
    return err_set(err, "ftp.reply_received: expected yes or no, got \"%.*s\"", TEXT(in));
}

static bool received_match(struct app_tx *tx, enum direction d UNUSED, const void *arg)
{
    const struct ftp_tx *t = ftp_tx_of(tx);
    const bool *received = arg;

    /* Before any reply line there is nothing to decide, nor without a command. */
    return t->command != FTP_UNKNOWN && t->replied == *received &&
           (t->replies != NULL || tx->flow->end[TO_CLIENT]);
}

/* A PORT that names another host makes the server connect there: the FTP bounce attack (RFC 2577
 * section 2). */
static bool bounce_match(struct app_tx *tx, enum direction d UNUSED, const void *arg UNUSED)
{
    const struct flow *f = tx->flow->flow;
    const struct ip *client = f->swapped ? &f->key.dst : &f->key.src;
    uint32_t address;

    return ftp_tx_of(tx)->command == FTP_COMMAND_PORT && client->version == 4 &&
           ftp_address_of_port(ftp_tx_of(tx)->request, &address) &&
           address != get_be32(client->b);
}

static bool tell_mode(struct app_tx *tx, enum direction d UNUSED, struct buf *out)
{
    const struct ftp_tx *t = ftp_tx_of(tx);

    buf_add_string(out, t->dynamic_port == 0 ? "the transaction agrees on no data connection" :
                        t->active ? "the mode is active" : "the mode is passive");
    return true;
}

static bool tell_received(struct app_tx *tx, enum direction d UNUSED, struct buf *out)
{
    const struct ftp_tx *t = ftp_tx_of(tx);

    buf_add_string(out, t->command == FTP_UNKNOWN ? "there is no command" :
                        t->replied ? "a final reply has come" : "no final reply has come");
    return true;
}

static bool tell_bounce(struct app_tx *tx, enum direction d UNUSED, struct buf *out)
{
    uint32_t address;

    if (ftp_tx_of(tx)->command != FTP_COMMAND_PORT ||
        !ftp_address_of_port(ftp_tx_of(tx)->request, &address))
        buf_add_string(out, "the command is no PORT with an address");
    else
        buf_printf(out, "PORT names %u.%u.%u.%u", address >> 24, address >> 16 & 255,
                   address >> 8 & 255, address & 255);
    return true;
}

static const struct app_match match_mode = {
    .name = "ftp.mode", .doc = "who opens the data connection: active or passive",
    .syntax = "active|passive",
    .directions = APP_BOTH, .progress = { FTP_DONE, FTP_DONE }, .arg_size = sizeof(bool),
    .parse = mode_parse, .match = mode_match,
    .firewall = true, .tell = tell_mode,
};
static const struct app_match match_reply_received = {
    .name = "ftp.reply_received", .doc = "a final reply has come",
    .syntax = "yes|no",
    .directions = APP_TC,
    .arg_size = sizeof(bool), .parse = received_parse, .match = received_match,
    .firewall = true, .tell = tell_received,
};
static const struct app_match match_bounce = {
    .name = "ftpbounce", .doc = "PORT names another host", .directions = APP_TS,
    .progress = { FTP_DONE, 0 }, .no_argument = true, .match = bounce_match,
    .firewall = true, .tell = tell_bounce,
};
const struct app_match *const ftp_matches[] = {
    &match_mode, &match_reply_received, &match_bounce, NULL,
};
