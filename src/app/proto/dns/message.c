/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dns/message.c - one message, from header to additional records (RFC 1035 section 4.1).
 *
 * An unreadable record invalidates its section. Questions and answers must be complete. Unreadable
 * authorities and additionals are left out, with an event, because clients do not use what follows
 * them either.
 *
 * Names may point backwards and forwards, so that a message of 64 KiB can spell out megabytes. Each
 * name is cut at 1,025 bytes and 255 labels, and all names of a message together at 512 KiB. */
#include "app/proto/dns/dns.h"

#include "app/parser.h"

#include <string.h>

#define NAME_MAX_BYTES 1025         /* as Suricata cuts names */
#define NAME_MAX_STEPS 255                  /* labels and pointers of one name */
#define NAMES_BUDGET (512u << 10)           /* bytes of all names of one message */
#define RECORD_MIN 11                       /* bytes: a root name, type, class, TTL, length */
#define QUESTION_MIN 5                      /* bytes: a root name, type, class */

struct message_reader {
    struct slice complete;                     /* the copy in the arena */
    struct arena *arena;                    /* NULL: only check the form */
    size_t names;                           /* bytes spent on names */
    uint8_t name_flags;
    bool malformed;                         /* more data would not help */
};

/* --- names ------------------------------------------------------------------------------------ */

/* Space for a separator and one label beyond the limit, which is checked after each label. */
struct name_builder {
    uint8_t text[NAME_MAX_BYTES + 1 + 63];
    uint32_t len;
    uint8_t flags;
};

static void add_label(struct name_builder *b, struct slice label)
{
    if ((b->flags & DNS_NAME_TRUNCATED) != 0)
        return;
    if (b->len > 0)
        b->text[b->len++] = '.';
    memcpy(b->text + b->len, label.data, label.len);
    b->len += label.len;
}

/* Follows a pointer (RFC 1035 section 4.1.4): moves *at. *after is set at the first pointer: the
 * name ends there for the reader. False: it points nowhere. */
static bool follow(struct message_reader *r, struct name_builder *b, struct bytes *at,
                   struct bytes *after)
{
    const uint8_t *from = at->next;
    uint16_t offset = take_be16(at) & 0x3fff;

    if (at->failed)
        return false;
    if (offset > r->complete.len) {
        r->malformed = true;
        return false;
    }
    struct bytes target = bytes_of(r->complete.data + offset, r->complete.len - offset);

    /* A pointer to itself. Other loops end at NAME_MAX_STEPS. */
    if (target.next == from && target.end == at->end) {
        b->flags |= DNS_NAME_LOOP;
        r->malformed = after->next == NULL;
        return false;
    }
    if (after->next == NULL)
        *after = *at;
    *at = target;
    return true;
}

static bool is_pointer(uint8_t c) { return (c & 0xc0) == 0xc0; }

/* One label or pointer. 1: continue; 0: the name is complete or cut; -1: unreadable. The label
 * types 0x40 and 0x80 are obsolete and unreadable. */
static int name_step(struct message_reader *r, struct name_builder *b, struct bytes *at,
                     struct bytes *after)
{
    uint8_t c = peek_u8(at);

    if (bytes_left(at) == 0)
        return 0;
    if (c == 0) {
        take_skip(at, 1);
        return 0;
    }
    if (is_pointer(c)) {
        if (follow(r, b, at, after))
            return 1;
        return (b->flags & DNS_NAME_LOOP) != 0 && after->next != NULL ? 0 : -1;
    }
    if ((c & 0xc0) != 0) {
        r->malformed = true;
        return -1;
    }
    take_skip(at, 1);
    struct slice label = take_slice(at, c);

    if (at->failed)
        return -1;
    add_label(b, label);
    return 1;
}

/* Copies the name into the arena, as far as the budget of the message allows. */
static void keep_name(struct message_reader *r, struct name_builder *b, struct dns_name *out)
{
    if (r->arena == NULL || b->len == 0)
        return;
    if (r->names + b->len > NAMES_BUDGET) {
        b->flags |= DNS_NAME_TRUNCATED;
        b->len = (uint32_t)(NAMES_BUDGET - r->names);
    }
    r->names += b->len;
    out->text = arena_slice(r->arena, (struct slice){ (const uint8_t *)b->text, b->len });
}

/* 1: continue; 0: cut the name here; -1: too many labels without a pointer, so that the name's end
 * is not known. */
static int check_limits(struct message_reader *r, struct name_builder *b, unsigned steps,
                        bool pointed)
{
    if (steps > NAME_MAX_STEPS) {
        b->flags |= DNS_NAME_LABELS;
        if (pointed)
            b->flags |= DNS_NAME_TRUNCATED;
        r->malformed |= !pointed;
        return pointed ? 0 : -1;
    }
    if (b->len > NAME_MAX_BYTES) {
        b->len = NAME_MAX_BYTES;
        b->flags |= DNS_NAME_TRUNCATED;
        return pointed ? 0 : 1;
    }
    return 1;
}

/* A cut name is no error: the flags become events. False: the message cannot be read on. */
static bool take_name(struct message_reader *r, struct bytes *in, struct dns_name *out)
{
    struct name_builder b;
    struct bytes at = *in, after = { 0 };
    int more = 1;

    b.len = 0;
    b.flags = 0;
    if (in->failed)
        return false;
    for (unsigned steps = 1; more > 0; steps++) {
        more = name_step(r, &b, &at, &after);
        if (more > 0)
            more = check_limits(r, &b, steps, after.next != NULL);
    }
    if (more < 0) {
        in->failed = true;
        return false;
    }
    keep_name(r, &b, out);
    out->flags = b.flags;
    r->name_flags |= b.flags;
    *in = after.next != NULL ? after : at;
    return true;
}

/* --- records ---------------------------------------------------------------------------------- */

/* One character string of a TXT record: length and text. False: the end. */
bool dns_take_text(struct bytes *data, struct slice *out)
{
    if (bytes_left(data) == 0 || data->failed)
        return false;
    uint8_t len = take_u8(data);

    *out = take_slice(data, len);
    return !data->failed;
}

/* One EDNS option: code, length, data (RFC 6891 section 6.1.2). */
bool dns_take_option(struct bytes *data, uint16_t *code, struct slice *out)
{
    if (bytes_left(data) == 0 || data->failed)
        return false;
    *code = take_be16(data);
    uint16_t len = take_be16(data);

    *out = take_slice(data, len);
    return !data->failed;
}

static bool check_texts(struct bytes data)
{
    struct slice text;

    while (dns_take_text(&data, &text))
        ;
    return !data.failed;
}

static bool check_options(struct bytes data)
{
    struct slice option;
    uint16_t code;

    while (dns_take_option(&data, &code, &option))
        ;
    return !data.failed;
}

/* RFC 1035 section 3.3.13 */
static bool take_soa(struct message_reader *r, struct bytes *data, struct dns_record *out)
{
    struct dns_soa soa = { 0 };

    if (!take_name(r, data, &out->target) || !take_name(r, data, &soa.rname))
        return false;
    soa.serial = take_be32(data);
    soa.refresh = take_be32(data);
    soa.retry = take_be32(data);
    soa.expire = take_be32(data);
    soa.minimum = take_be32(data);
    if (data->failed)
        return false;
    if (r->arena != NULL)
        out->soa = arena_copy(r->arena, &soa, sizeof(soa));
    return true;
}

/* RFC 2782 */
static bool take_srv(struct message_reader *r, struct bytes *data, struct dns_record *out)
{
    out->priority = take_be16(data);
    out->weight = take_be16(data);
    out->port = take_be16(data);
    return take_name(r, data, &out->target);
}

/* Types with names must be read, because names may be compressed; TXT and OPT are only checked.
 * Data of other types stay as they are. */
static bool take_data(struct message_reader *r, struct dns_record *out)
{
    struct bytes data = bytes_of_slice(out->data);

    switch (out->type) {
    case DNS_CNAME:
    case DNS_NS:
    case DNS_PTR:
        return take_name(r, &data, &out->target);
    case DNS_MX:
        take_skip(&data, 2);    /* preference, RFC 1035 section 3.3.9 */
        return take_name(r, &data, &out->target);
    case DNS_SOA:
        return take_soa(r, &data, out);
    case DNS_SRV:
        return take_srv(r, &data, out);
    case DNS_TXT:
        return check_texts(data);
    case DNS_OPT:
        return check_options(data);
    case DNS_SSHFP:
        return bytes_have(&data, 2);
    default:
        return true;
    }
}

static bool take_record(struct message_reader *r, struct bytes *in, struct dns_record *out)
{
    *out = (struct dns_record){ 0 };
    if (!take_name(r, in, &out->name))
        return false;
    out->type = take_be16(in);
    out->class = take_be16(in);
    out->ttl = take_be32(in);
    uint16_t len = take_be16(in);

    out->data = take_slice(in, len);
    return !in->failed && take_data(r, out);
}

/* False: the section is unreadable, and left empty. The count is checked against the bytes that are
 * left before memory is taken for it. */
static bool take_section(struct message_reader *r, struct bytes *in, unsigned count,
                         struct dns_section *out)
{
    struct dns_record scratch, *records = NULL;

    *out = (struct dns_section){ 0 };
    if (count == 0)
        return true;
    if (bytes_left(in) / RECORD_MIN < count)
        return false;
    if (r->arena != NULL)
        records = arena_alloc(r->arena, count * sizeof(*records));
    for (unsigned i = 0; i < count; i++)
        if (!take_record(r, in, records != NULL ? &records[i] : &scratch))
            return false;
    out->at = records;
    out->count = records != NULL ? count : 0;
    return true;
}

/* Questions must be complete, see the top of the file. */
static bool take_questions(struct message_reader *r, struct bytes *in, unsigned count,
                           struct dns_message *out)
{
    struct dns_question scratch;

    if (bytes_left(in) / QUESTION_MIN < count)
        return false;
    if (r->arena != NULL && count > 0)
        out->question = arena_alloc(r->arena, count * sizeof(*out->question));
    for (unsigned i = 0; i < count; i++) {
        struct dns_question *q = out->question != NULL ? &out->question[i] : &scratch;

        *q = (struct dns_question){ 0 };
        take_name(r, in, &q->name);
        q->type = take_be16(in);
        q->class = take_be16(in);
        if (in->failed)
            return false;
    }
    out->question_count = out->question != NULL ? count : 0;
    return true;
}

/* --- messages --------------------------------------------------------------------------------- */

/* Could this be a DNS header? Each record takes at least 2 bytes, a message with more than a header
 * has records, and a request has a question. */
bool dns_header_fits(struct bytes message, size_t len, bool *request)
{
    uint32_t records;
    uint16_t flags, questions;

    take_skip(&message, 2);
    flags = take_be16(&message);
    questions = take_be16(&message);
    records = questions;
    for (unsigned i = 0; i < 3; i++)
        records += take_be16(&message);
    *request = (flags & DNS_FLAG_QR) == 0;
    if (message.failed || 2 * (size_t)records > len)
        return false;
    if (records == 0 && len > 12)
        return false;
    return !*request || questions > 0;
}

/* Data that are only too short may still become a message, over TCP. */
static enum dns_parse failure(const struct message_reader *r)
{
    return r->malformed ? DNS_MALFORMED : DNS_INCOMPLETE;
}

/* With `arena` the message is copied, because names and data point into it. */
enum dns_parse dns_message_parse(struct slice in, struct arena *arena, struct dns_message *out)
{
    struct message_reader r = { .complete = in, .arena = arena };
    unsigned answers, authorities, additionals, questions;
    struct bytes b;

    if (arena != NULL)
        r.complete = arena_slice(arena, in);
    b = bytes_of_slice(r.complete);
    *out = (struct dns_message){ .len = in.len };
    out->id = take_be16(&b);
    out->flags = take_be16(&b);
    questions = take_be16(&b);
    answers = take_be16(&b);
    authorities = take_be16(&b);
    additionals = take_be16(&b);
    if (b.failed || !take_questions(&r, &b, questions, out) ||
        !take_section(&r, &b, answers, &out->answers))
        return failure(&r);
    out->invalid_authorities = !take_section(&r, &b, authorities, &out->authorities);
    out->invalid_additionals = !out->invalid_authorities &&
                               !take_section(&r, &b, additionals, &out->additionals);
    out->name_flags = r.name_flags;
    return DNS_PARSED;
}

/* Events in Suricata's order. */
void dns_message_events(struct app_tx *tx)
{
    const struct dns_message *m = dns_message_of(tx);

    if (m->invalid_additionals)
        app_tx_event(tx, DNS_INVALID_ADDITIONALS);
    if (m->invalid_authorities)
        app_tx_event(tx, DNS_INVALID_AUTHORITIES);
    if ((m->flags & DNS_FLAG_Z) != 0)
        app_tx_event(tx, DNS_Z_FLAG_SET);
    if (dns_opcode(m) >= 7)     /* RFC 1035 and later assign 0 to 6 */
        app_tx_event(tx, DNS_INVALID_OPCODE);
    if ((m->name_flags & DNS_NAME_TRUNCATED) != 0)
        app_tx_event(tx, DNS_NAME_TOO_LONG);
    if ((m->name_flags & DNS_NAME_LOOP) != 0)
        app_tx_event(tx, DNS_INFINITE_LOOP);
    if ((m->name_flags & DNS_NAME_LABELS) != 0)
        app_tx_event(tx, DNS_TOO_MANY_LABELS);
}
