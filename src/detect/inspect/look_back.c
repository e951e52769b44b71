/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/look_back.c - what rules on bodies found in windows that have been reported. */
#include "detect/inspect/look_back.h"

#include "detect/inspect/inspect_private.h"
#include "detect/rule/program.h"
#include "flow/flow.h"

/* stream_ext.earlier holds pairs: a rule, and the lower 32 bits of where the window began in which
 * it was found. With this bit: in which something was that must be absent. */
#define REFUTED (UINT32_C(1) << 31)

/* Entries of the list, which is searched for each of its rules. Further ones are forgotten. */
#define EARLIER_MOST 256

uint32_t look_back_by(const struct app_flow *af, enum direction d)
{
    if (af == NULL || af->proto == NULL || af->stopped || af->proto->lookbehind == NULL)
        return 0;
    return af->proto->lookbehind(af, d);
}

/* The last window counts. */
static void note(struct stream_dir *ds, uint32_t what)
{
    struct stream_ext *ext = stream_ext_get(ds);
    uint32_t start = (uint32_t)stream_dir_from(ds);

    if (ext == NULL)
        return;
    for (unsigned i = 0; i + 1 < stream_rules_count(ext->earlier); i += 2)
        if (ext->earlier->at[i] == what) {
            ext->earlier->at[i + 1] = start;
            return;
        }
    if (stream_rules_count(ext->earlier) < EARLIER_MOST &&
        stream_rules_push(&ext->earlier, what) && !stream_rules_push(&ext->earlier, start))
        ext->earlier->count--;
}

void look_back_missed(struct stream_dir *ds, const struct rule *r)
{
    if (r->looks_back && r->payload->only_absent)
        note(ds, r->index | REFUTED);
}

/* Of a rule that must not find something, each window decides for itself and for later ones. */
static void note_hits(const struct detect_plan *plan, struct stream_dir *ds)
{
    for (unsigned i = 0; i < stream_rules_count(ds->payload_hits); i++) {
        const struct rule *r = plan->rule[ds->payload_hits->at[i]];

        if (r->looks_back && r->payload != NULL && !r->payload->only_absent)
            note(ds, r->index);
    }
}

static void remove_rule(struct stream_rules *s, uint32_t rule)
{
    unsigned n = 0;

    for (unsigned i = 0; i < stream_rules_count(s); i++)
        if (s->at[i] != rule)
            s->at[n++] = s->at[i];
    if (s != NULL)
        s->count = (uint16_t)n;
}

static void apply(struct stream_dir *ds, uint32_t what)
{
    if (what & REFUTED)
        remove_rule(ds->payload_hits, what & ~REFUTED);
    else if (!stream_rules_has(ds->payload_hits, what))
        stream_rules_push(&ds->payload_hits, what);
}

void look_back(const struct detect_thread *dt, const struct flow *f, enum direction d)
{
    struct stream_dir *ds = &f->detect->ds[d];
    struct stream_rules *earlier;
    uint32_t from, by;
    unsigned n = 0;

    if (LIKELY(!dt->plan->looks_back) || dt->is_inline)
        return;
    note_hits(dt->plan, ds);
    earlier = ds->ext != NULL ? ds->ext->earlier : NULL;
    if (stream_rules_count(earlier) == 0)
        return;
    by = look_back_by(f->app, d);
    from = by < ds->to ? (uint32_t)(ds->to - by) : 0;
    for (unsigned i = 0; i + 1 < earlier->count; i += 2) {
        if ((int32_t)(earlier->at[i + 1] - from) < 0)
            continue;
        apply(ds, earlier->at[i]);
        earlier->at[n++] = earlier->at[i];
        earlier->at[n++] = earlier->at[i + 1];
    }
    earlier->count = (uint16_t)n;
}
