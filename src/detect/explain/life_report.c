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

static void add_head(struct buf *out, const struct life_flow *f, const struct life_record *r)
{
    uint64_t passed = r->time_us > f->start_us ? r->time_us - f->start_us : 0;
    char number[32] = "no packet";

    if (r->packet != 0)
        snprintf(number, sizeof(number), "packet %llu", ULL(r->packet));
    buf_printf(out, "%-14s +%llu.%06llu  ", number, ULL(passed / 1000000), ULL(passed % 1000000));
    if (r->packet != 0)
        buf_printf(out, "%s  ", life_side((enum direction)r->direction));
    buf_printf(out, "%s\n", r->text != NULL ? r->text : "");
}

/* A series of packets with which nothing new happened. */
static void add_series(struct buf *out, const struct life_record *r)
{
    const struct life_series *s = r->series;

    buf_printf(out, "packets %llu to %llu: nothing new; client %llu packet%s with %llu bytes, "
               "server %llu with %llu", ULL(r->packet), ULL(s->last_packet),
               ULL(s->packets[TO_SERVER]), plural(s->packets[TO_SERVER]),
               ULL(s->bytes[TO_SERVER]), ULL(s->packets[TO_CLIENT]), ULL(s->bytes[TO_CLIENT]));
    if (s->refused > 0)
        buf_printf(out, "; %llu not stored, for the reason before", ULL(s->refused));
    if (s->dropped > 0)
        buf_printf(out, "; %llu dropped, for the reason before", ULL(s->dropped));
    buf_add_u8(out, '\n');
}

static void add_record(struct buf *out, const struct life_flow *f, const struct life_record *r)
{
    if (r->series != NULL)
        add_series(out, r);
    else if (r->kind == LIFE_PACKET)
        add_head(out, f, r);
    else
        buf_printf(out, "    %-12s %s\n", life_kind_name((enum life_kind)r->kind),
                   r->text != NULL ? r->text : "");
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
                   rule_info(r->rule)->msg != NULL ? rule_info(r->rule)->msg : "");
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
    for (unsigned i = 0; l->flow_count == 0 && i < LIFE_OTHERS && l->other[i].id != 0; i++)
        buf_printf(out, "%s  %s\n", i == 0 ? "The flows that are most like it:\n" : "",
                   l->other[i].title);
    for (unsigned i = 0; i < l->flow_count; i++) {
        if (i > 0)
            BUF_LITERAL(out, "\n\n");
        add_sum(out, l->flow[i]);
        for (size_t n = 0; n < l->flow[i]->record.count; n++)
            add_record(out, l->flow[i], &l->flow[i]->record.at[n]);
        add_rules(out, l, l->flow[i]);
    }
    if (l->left_out > 0)
        buf_printf(out, "%llu more events were left out.\n", ULL(l->left_out));
    if (l->flows_left_out > 0)
        buf_printf(out, "Packets of more than %u connections: %llu were left out.\n",
                   LIFE_FLOWS_MAX, ULL(l->flows_left_out));
}
