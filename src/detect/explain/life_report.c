/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/life_report.c - the life of a flow as text: a line that sums it up, then packet by
 * packet what differs from a flow to which nothing happens. */
#include "app/proto.h"
#include "detect/explain/life_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ULL(n) ((unsigned long long)(n))

const char *life_kind_name(enum life_kind kind)
{
    static const char *const names[] = {
#define E(id, name) [id] = name,
        LIFE_KIND_LIST(E)
#undef E
    };

    return names[kind];
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* --- packets ---------------------------------------------------------------------------------- */

/* One past the records of the packet that begins at `at`. */
static size_t packet_end(const struct life_flow *f, size_t at)
{
    for (at++; at < f->record.count && f->record.at[at].kind != LIFE_PACKET; at++)
        ;
    return at;
}

static bool is_plain(const struct life_flow *f, size_t at, size_t end)
{
    for (; at < end; at++)
        if (!f->record.at[at].is_plain)
            return false;
    return true;
}

static void add_head(struct buf *out, const struct life_flow *f, const struct life_record *r)
{
    uint64_t passed = r->time_us > f->start_us ? r->time_us - f->start_us : 0;
    char number[32] = "no packet";

    if (r->packet != 0)
        snprintf(number, sizeof(number), "packet %llu", ULL(r->packet));
    buf_printf(out, "%-14s +%llu.%06llu  ", number, ULL(passed / 1000000), ULL(passed % 1000000));
    if (r->packet != 0)
        buf_printf(out, "%s  ", life_side((enum direction)r->direction));
    buf_printf(out, "%s\n", r->text);
}

static void add_packet(struct buf *out, const struct life_flow *f, size_t at, size_t end)
{
    add_head(out, f, &f->record.at[at]);
    for (at++; at < end; at++)
        buf_printf(out, "    %-12s %s\n", life_kind_name((enum life_kind)f->record.at[at].kind),
                   f->record.at[at].text);
}

static uint64_t member_of(const struct life_record *r, const char *key)
{
    for (unsigned i = 0; i < r->member_count; i++)
        if (strcmp(r->member[i].key, key) == 0)
            return r->member[i].number;
    return 0;
}

/* A series of packets with which nothing happened but that they were in order. */
static void add_series(struct buf *out, const struct life_flow *f, size_t at, size_t end)
{
    const struct life_record *first = &f->record.at[at], *last = first;
    uint64_t packets[2] = { 0 }, bytes[2] = { 0 };

    for (; at < end; at++) {
        const struct life_record *r = &f->record.at[at];

        if (r->kind != LIFE_PACKET)
            continue;
        packets[r->direction]++;
        bytes[r->direction] += member_of(r, "length");
        last = r;
    }
    buf_printf(out, "packets %llu to %llu: nothing but data in order and ACKs; ",
               ULL(first->packet), ULL(last->packet));
    buf_printf(out, "client %llu packet%s with %llu bytes, server %llu with %llu\n",
               ULL(packets[0]), plural(packets[0]), ULL(bytes[0]), ULL(packets[1]),
               ULL(bytes[1]));
}

/* Fewer plain packets than this are shown each. */
#define SERIES_MIN 4

static void add_records(struct buf *out, const struct life_flow *f)
{
    for (size_t at = 0; at < f->record.count;) {
        size_t end = at, next = packet_end(f, at);
        unsigned plain = 0;

        for (; next > end && end < f->record.count && is_plain(f, end, next); plain++) {
            end = next;
            next = end < f->record.count ? packet_end(f, end) : end;
        }
        if (plain >= SERIES_MIN) {
            add_series(out, f, at, end);
            at = end;
            continue;
        }
        add_packet(out, f, at, packet_end(f, at));
        at = packet_end(f, at);
    }
}

/* --- rules ------------------------------------------------------------------------------------ */

static int by_matches(const void *x, const void *y)
{
    const struct life_rule *a = x, *b = y;

    if (a->alerts != b->alerts)
        return a->alerts > b->alerts ? -1 : 1;
    if (a->matched != b->matched)
        return a->matched > b->matched ? -1 : 1;
    if (a->asked != b->asked)
        return a->asked > b->asked ? -1 : 1;
    return a->rule->sid < b->rule->sid ? -1 : a->rule->sid > b->rule->sid;
}

#define RULES_SHOWN 10

static void add_rules(struct buf *out, const struct life *l, const struct life_flow *f)
{
    size_t matched = 0, shown = MIN(f->rule.count, RULES_SHOWN);

    for (size_t i = 0; i < f->rule.count; i++)
        matched += f->rule.at[i].matched > 0;
    buf_printf(out, "\nRules: %u loaded; %zu of them asked, %llu times; %zu matched\n",
               l->set->plan->rule_count, f->rule.count, ULL(f->asked), matched);
    if (f->rule.count > 0)
        qsort(f->rule.at, f->rule.count, sizeof(f->rule.at[0]), by_matches);
    for (size_t i = 0; i < shown; i++) {
        const struct life_rule *r = &f->rule.at[i];

        buf_printf(out, "  %-10u asked %u time%s, matched %u, alerts %u  %s\n", r->rule->sid,
                   r->asked, plural(r->asked), r->matched, r->alerts,
                   r->rule->msg != NULL ? r->rule->msg : "");
    }
    if (f->rule.count > shown)
        buf_printf(out, "  and %zu more; ids --explain SID says why one did not match\n",
                   f->rule.count - shown);
}

/* --- the whole -------------------------------------------------------------------------------- */

static const char *proto_text(const struct life_flow *f)
{
    if (f->app_proto == APP_PROTO_UNKNOWN)
        return "no protocol recognised";
    if (f->app_proto == APP_PROTO_FAILED)
        return "no known protocol";
    return app_proto_name((enum app_proto_id)f->app_proto);
}

static void add_sum(struct buf *out, const struct life_flow *f)
{
    uint64_t packets = f->packets[0] + f->packets[1], took = f->last_us - f->start_us;
    time_t start = (time_t)(f->start_us / 1000000);
    struct tm tm;
    char date[40];

    gmtime_r(&start, &tm);
    strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
    buf_printf(out, "%s %s, %s: ", f->id != 0 ? "Flow" : "No flow:", f->title, proto_text(f));
    buf_printf(out, "%llu packet%s in %llu.%06llu s, %llu transaction%s, %llu file%s, "
               "%llu alert%s, %llu dropped\n", ULL(packets), plural(packets),
               ULL(took / 1000000), ULL(took % 1000000), ULL(f->transactions),
               plural(f->transactions), ULL(f->files), plural(f->files), ULL(f->alerts),
               plural(f->alerts), ULL(f->dropped));
    buf_printf(out, "from %s.%06llu UTC; the client sent %llu bytes, the server %llu\n\n", date,
               ULL(f->start_us % 1000000), ULL(f->bytes[TO_SERVER]), ULL(f->bytes[TO_CLIENT]));
}

void life_write_text(const struct life *l, struct buf *out)
{
    if (l->flow_count == 0)
        BUF_LITERAL(out, "No packet of this flow was seen.\n");
    for (unsigned i = 0; i < l->flow_count; i++) {
        if (i > 0)
            BUF_LITERAL(out, "\n\n");
        add_sum(out, l->flow[i]);
        add_records(out, l->flow[i]);
        add_rules(out, l, l->flow[i]);
    }
    if (l->left_out > 0)
        buf_printf(out, "%llu more events were left out.\n", ULL(l->left_out));
    if (l->flows_left_out > 0)
        buf_printf(out, "Packets of more than %u connections: %llu were left out.\n",
                   LIFE_FLOWS_MAX, ULL(l->flows_left_out));
}
