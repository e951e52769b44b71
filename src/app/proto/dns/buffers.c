/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dns/buffers.c - the buffers and numbers of a message that rules inspect. */
#include "app/proto/dns/dns.h"
#include "app/text_facts.h"

/* The root's name is empty and no buffer. */
static bool not_empty(const struct dns_name *name, struct slice *out)
{
    *out = name->text;
    return name->text.len > 0;
}

static bool question_name(const struct dns_message *m, unsigned index, struct slice *out)
{
    return index < m->question_count && not_empty(&m->question[index].name, out);
}

static bool record_name(const struct dns_section *section, unsigned index, struct slice *out)
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

    if (*at < begin && question_name(m, *at, out))
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

bool dns_name_at(struct app_tx *tx, const struct dns_message *m, enum dns_names which,
                 unsigned index, struct slice *out)
{
    switch (which) {
    case DNS_QUESTION_NAMES: return question_name(m, index, out);
    case DNS_ANSWER_NAMES: return record_name(&m->answers, index, out);
    case DNS_AUTHORITY_NAMES: return record_name(&m->authorities, index, out);
    case DNS_ADDITIONAL_NAMES: return record_name(&m->additionals, index, out);
    case DNS_ALL_NAMES:
        return dns_response_name(m, app_place_of(tx, m, NULL, index), index, out);
    }
    return false;
}

/* --- buffers ---------------------------------------------------------------------------------- */

/* A transaction is one message: it belongs to one direction. */
static bool has_part(const struct app_tx *tx, enum direction direction)
{
    return dns_is_response(tx) == (direction == TO_CLIENT);
}

/* Rules see authority and additional records in responses only, whatever the client sends. */
bool dns_find_name(struct app_tx *tx, enum direction direction, const struct app_key *key,
                   unsigned index, struct slice *out)
{
    const enum dns_names which = (enum dns_names)key->number;
    const bool by_direction = which == DNS_QUESTION_NAMES || which == DNS_ANSWER_NAMES;

    return (by_direction ? has_part(tx, direction) : dns_is_response(tx)) &&
           dns_name_at(tx, dns_message_of(tx), which, index, out);
}

#define NAMES(symbol, name, directions, which, doc)                                            \
    DNS_NAMES(symbol, name, directions, 1, DNS_##which##_NAMES, dns_find_name, doc)

const struct app_text_facts dns_query_facts = {
    .never_last = ".", .mend = "leave the last dot out: names have none there",
};
static const struct app_buffer query = {
    .name = "dns.query", .alias = "dns_query", .doc = "name asked for in a request",
    .directions = APP_TS, .progress = { 1, 1 }, .multi = true,
    .find = dns_find_name, .key.number = DNS_QUESTION_NAMES,
    .facts = &dns_query_facts,
};
NAMES(query_name, "dns.query.name", APP_BOTH, QUESTION, "name in the question section");
NAMES(queries_rrname, "dns.queries.rrname", APP_BOTH, QUESTION, "name in the question section");
NAMES(answer_name, "dns.answer.name", APP_BOTH, ANSWER, "owner name in the answer section");
NAMES(answers_rrname, "dns.answers.rrname", APP_BOTH, ANSWER, "owner name in the answer section");
NAMES(authorities_rrname, "dns.authorities.rrname", APP_BOTH, AUTHORITY,
      "owner name in the authority section");
NAMES(additionals_rrname, "dns.additionals.rrname", APP_BOTH, ADDITIONAL,
      "owner name in the additional section");
NAMES(response_rrname, "dns.response.rrname", APP_TC, ALL, "any name in a response");

const struct app_buffer *const dns_buffers[] = {
    &query, &query_name, &queries_rrname, &answer_name, &answers_rrname, &authorities_rrname,
    &additionals_rrname, &response_rrname, NULL,
};

/* --- numbers ---------------------------------------------------------------------------------- */

static bool type_at(const struct dns_message *m, enum direction direction, unsigned index,
                    uint64_t *out)
{
    if (index >= (direction == TO_SERVER ? m->question_count : m->answers.count))
        return false;
    *out = direction == TO_SERVER ? m->question[index].type : m->answers.at[index].type;
    return true;
}

bool dns_number_at(const struct dns_message *m, enum dns_number which, enum direction direction,
                   unsigned index, uint64_t *out)
{
    if (which == DNS_TYPES)
        return type_at(m, direction, index, out);
    *out = which == DNS_OPCODE_NUMBER ? dns_opcode(m) : dns_rcode(m);
    return index == 0;
}

static bool find_number(struct app_tx *tx, enum direction direction, const struct app_key *key,
                        unsigned index, uint64_t *out)
{
    return has_part(tx, direction) && dns_number_at(dns_message_of(tx),
                                                    (enum dns_number)key->number, direction,
                                                    index, out);
}

static const struct app_integer opcode = {
    .name = "dns.opcode", .doc = "opcode of the header", .bits = 8, .directions = APP_BOTH,
    .progress = { 1, 1 }, .find = find_number, .key.number = DNS_OPCODE_NUMBER,
};
static const struct app_integer rcode = {
    .name = "dns.rcode", .doc = "response code of the header", .bits = 16,
    .directions = APP_BOTH, .progress = { 1, 1 }, .names = dns_rcodes,
    .find = find_number, .key.number = DNS_RCODE_NUMBER,
};
static const struct app_integer rrtype = {
    .name = "dns.rrtype", .doc = "record type asked for, or answered", .bits = 16,
    .directions = APP_BOTH, .progress = { 1, 1 }, .multi = true, .names = dns_types,
    .find = find_number, .key.number = DNS_TYPES,
};

const struct app_integer *const dns_integers[] = { &opcode, &rcode, &rrtype, NULL };
