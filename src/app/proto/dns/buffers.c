/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dns/buffers.c - the buffers and numbers of a message that rules inspect. */
#include "app/proto/dns/dns.h"

/* The root's name is empty and no buffer. */
static bool not_empty(const struct dns_name *name, struct slice *out)
{
    *out = name->text;
    return name->text.len > 0;
}

bool dns_question_name(const struct dns_message *m, unsigned index, struct slice *out)
{
    return index < m->question_count && not_empty(&m->question[index].name, out);
}

bool dns_record_name(const struct dns_section *section, unsigned index, struct slice *out)
{
    return index < section->count && not_empty(&section->at[index].name, out);
}

/* Record types whose data begin with a name that dns.response.rrname shows. */
static bool target_is_name(const struct dns_record *r)
{
    return r->type == DNS_CNAME || r->type == DNS_PTR || r->type == DNS_MX || r->type == DNS_NS ||
           r->type == DNS_SOA;
}

/* The places of names in a response, in wire order: one for each question, then two for each
 * record, its owner and its target. */
static bool name_in_section(const struct dns_section *section, unsigned at, struct slice *out)
{
    const struct dns_record *r = &section->at[at / 2];

    if (at % 2 == 0)
        return not_empty(&r->name, out);
    return target_is_name(r) && not_empty(&r->target, out);
}

/* The first name from place *at on. A question without a name ends the questions, and a record
 * without an owner its section. */
static bool next_name(const struct dns_message *m, unsigned *at, struct slice *out)
{
    const struct dns_section *sections[] = { &m->answers, &m->authorities, &m->additionals };
    unsigned begin = m->question_count;

    if (*at < begin && dns_question_name(m, *at, out))
        return true;
    *at = MAX(*at, begin);
    for (unsigned i = 0; i < ARRAY_LEN(sections); i++) {
        unsigned end = begin + 2 * (unsigned)sections[i]->count;

        for (; *at < end; (*at)++) {
            if (name_in_section(sections[i], *at - begin, out))
                return true;
            if ((*at - begin) % 2 == 0)
                *at = end - 1;
        }
        begin = end;
    }
    return false;
}

bool dns_response_name(const struct dns_message *m, struct app_place *place, unsigned index,
                       struct slice *out)
{
    unsigned at = place->at;

    for (unsigned n = place->index; next_name(m, &at, out); n++, at++) {
        if (n < index)
            continue;
        place->item = m;
        place->index = index;
        place->at = at;
        return true;
    }
    return false;
}

/* --- buffers ---------------------------------------------------------------------------------- */

static bool is_response(const struct app_tx *tx)
{
    return ((const struct dns_tx *)(const void *)tx)->is_response;
}

/* A transaction is one message: it belongs to one direction. */
static bool has_part(const struct app_tx *tx, enum direction direction)
{
    return is_response(tx) == (direction == TO_CLIENT);
}

static bool get_question(struct app_tx *tx, enum direction direction, unsigned index,
                         struct slice *out)
{
    return has_part(tx, direction) && dns_question_name(dns_message_of(tx), index, out);
}

static bool get_answer(struct app_tx *tx, enum direction direction, unsigned index,
                       struct slice *out)
{
    return has_part(tx, direction) &&
           dns_record_name(&dns_message_of(tx)->answers, index, out);
}

/* Requests have no authority records that rules see, whatever the client sends. */
static bool get_authority(struct app_tx *tx, enum direction direction, unsigned index,
                          struct slice *out)
{
    (void)direction;
    return is_response(tx) && dns_record_name(&dns_message_of(tx)->authorities, index, out);
}

static bool get_additional(struct app_tx *tx, enum direction direction, unsigned index,
                           struct slice *out)
{
    (void)direction;
    return is_response(tx) && dns_record_name(&dns_message_of(tx)->additionals, index, out);
}

static bool get_response(struct app_tx *tx, enum direction direction, unsigned index,
                         struct slice *out)
{
    (void)direction;
    return is_response(tx) && dns_response_name_at(tx, dns_message_of(tx), index, out);
}

#define BUFFER(symbol, name_, directions_, doc_, get_)                                          \
    static const struct app_buffer symbol = {                                                  \
        .name = (name_), .doc = (doc_), .directions = (directions_), .progress = { 1, 1 },     \
        .multi = true, .get = (get_),                                                          \
    }

static const struct app_buffer query = {
    .name = "dns.query", .alias = "dns_query", .doc = "name asked for in a request",
    .directions = APP_TS, .progress = { 1, 1 }, .multi = true, .get = get_question,
};
BUFFER(query_name, "dns.query.name", APP_BOTH, "name in the question section", get_question);
BUFFER(queries_rrname, "dns.queries.rrname", APP_BOTH, "name in the question section",
       get_question);
BUFFER(answer_name, "dns.answer.name", APP_BOTH, "owner name in the answer section", get_answer);
BUFFER(answers_rrname, "dns.answers.rrname", APP_BOTH, "owner name in the answer section",
       get_answer);
BUFFER(authorities_rrname, "dns.authorities.rrname", APP_BOTH,
       "owner name in the authority section", get_authority);
BUFFER(additionals_rrname, "dns.additionals.rrname", APP_BOTH,
       "owner name in the additional section", get_additional);
BUFFER(response_rrname, "dns.response.rrname", APP_TC, "any name in a response", get_response);

const struct app_buffer *const dns_buffers[] = {
    &query, &query_name, &queries_rrname, &answer_name, &answers_rrname, &authorities_rrname,
    &additionals_rrname, &response_rrname, NULL,
};

/* --- numbers ---------------------------------------------------------------------------------- */

static bool get_opcode(struct app_tx *tx, enum direction direction, unsigned index, uint64_t *out)
{
    *out = dns_opcode(dns_message_of(tx));
    return index == 0 && has_part(tx, direction);
}

static bool get_rcode(struct app_tx *tx, enum direction direction, unsigned index, uint64_t *out)
{
    *out = dns_rcode(dns_message_of(tx));
    return index == 0 && has_part(tx, direction);
}

/* The types of questions in a request, of answers in a response. */
static bool get_rrtype(struct app_tx *tx, enum direction direction, unsigned index, uint64_t *out)
{
    const struct dns_message *m = dns_message_of(tx);

    if (!has_part(tx, direction))
        return false;
    if (direction == TO_SERVER ? index >= m->question_count : index >= m->answers.count)
        return false;
    *out = direction == TO_SERVER ? m->question[index].type : m->answers.at[index].type;
    return true;
}

static const struct app_integer opcode = {
    .name = "dns.opcode", .doc = "opcode of the header", .bits = 8, .directions = APP_BOTH,
    .progress = { 1, 1 }, .get = get_opcode,
};
static const struct app_integer rcode = {
    .name = "dns.rcode", .doc = "response code of the header", .bits = 16,
    .directions = APP_BOTH, .progress = { 1, 1 }, .names = dns_rcodes, .get = get_rcode,
};
static const struct app_integer rrtype = {
    .name = "dns.rrtype", .doc = "record type asked for, or answered", .bits = 16,
    .directions = APP_BOTH, .progress = { 1, 1 }, .multi = true, .names = dns_types,
    .get = get_rrtype,
};

const struct app_integer *const dns_integers[] = { &opcode, &rcode, &rrtype, NULL };
