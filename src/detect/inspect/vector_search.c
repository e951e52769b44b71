/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/vector_search.c - candidates of the payloads of a vector, found before its first
 * packet is inspected. */
#include "detect/inspect/vector_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "detect/inspect/address_case.h"
#include "detect/inspect/search_ahead.h"
#include "detect/prefilter/payload_batch.h"
#include "flow/elephant.h"

#define JOBS_MAX 128            /* packets: two usual vectors */
#define RULES_MAX (16 * JOBS_MAX)       /* candidates of all */
/* Jobs of a queue are searched for the same patterns. */
#define QUEUES (2 * TRANSPORT_COUNT * ADDRESS_CASES)
/* Fewer packets have no group with two of them often enough. */
#define VECTOR_MIN 4

struct payload_job {
    const struct packet *packet;
    const uint8_t *data;
    const struct transport_group *group;
    const struct payload_sets *sets;
    uint32_t len;
    uint16_t first, count;      /* of its candidates */
    uint16_t at;                /* position of the packet in the vector; rising */
    uint8_t next;               /* job of the same queue, index + 1; 0: none */
    uint8_t app_proto;          /* of the flow; UNKNOWN: the candidates are those of any protocol */
    bool is_searched;           /* false: there was no space for its candidates */
};

_Static_assert(JOBS_MAX <= UINT8_MAX, "payload_job.next is a byte");
_Static_assert(RULES_MAX <= UINT16_MAX, "payload_job.first has two");

/* Of the packet thread alone. */
struct vector_search {
    unsigned count;
    unsigned reached;           /* the first job whose packet was not passed */
    unsigned at;                /* the packet that was reached */
    unsigned rule_count;
    struct payload_batch *batch;
    uint8_t first[QUEUES], last[QUEUES];        /* jobs of a queue, index + 1; 0: none */
    struct payload_job job[JOBS_MAX];
    uint32_t rule[RULES_MAX];
};

struct vector_search *vector_search_new(void)
{
    struct vector_search *vs = xcalloc(1, sizeof(*vs));

    vs->batch = payload_batch_new();
    return vs;
}

void vector_search_free(struct vector_search *vs)
{
    if (vs == NULL)
        return;
    payload_batch_free(vs->batch);
    free(vs);
}

void vector_search_clear(struct vector_search *vs)
{
    vs->count = vs->reached = vs->rule_count = 0;
    memset(vs->first, 0, sizeof(vs->first));
}

/* After a reload a flow keeps results of other rules until it is inspected. */
static void header_init(const struct detect_thread *dt, const struct packet *p,
                        struct header_view *h)
{
    header_view_init(h, p, packet_direction(p));
    if (p->flow != NULL && UNLIKELY(p->flow->rules_generation != dt->generation))
        h->cache = &h->own;
}

static void queue_put(struct vector_search *vs, unsigned queue)
{
    uint8_t id = (uint8_t)++vs->count;

    if (vs->first[queue] == 0)
        vs->first[queue] = id;
    else
        vs->job[vs->last[queue] - 1].next = id;
    vs->last[queue] = id;
}

void vector_search_add(struct detect_thread *dt, unsigned at, const struct packet *p)
{
    struct vector_search *vs = dt->vector;
    unsigned transport = packet_group(p), d = packet_direction(p), addresses;
    const struct transport_group *g = &dt->plan->group[transport][d];
    struct header_view h;

    if (vs->count == JOBS_MAX || at > UINT16_MAX)
        return;
    header_init(dt, p, &h);
    addresses = address_case(dt->plan, &h);
    vs->job[vs->count] = (struct payload_job){
        .packet = p, .data = p->payload, .len = p->payload_len, .at = (uint16_t)at,
        .group = g, .sets = g->payload[addresses],
        .app_proto = p->flow != NULL ? (uint8_t)p->flow->app_proto : APP_PROTO_UNKNOWN,
    };
    queue_put(vs, (2 * transport + d) * ADDRESS_CASES + addresses);
}

/* Sections of another protocol than the flow's are left out, unless it may become known until the
 * packet is inspected. */
static void collect_anchored(struct detect_thread *dt, const struct payload_job *job,
                             struct header_view *h)
{
    const struct anchored_lists *lists = &job->group->payload_anchored;

    for (unsigned i = 0; i < lists->count; i++) {
        const struct anchored_section *s = &lists->section[i];

        if (section_may_fit(dt->plan, s, h) &&
            (job->app_proto == APP_PROTO_UNKNOWN || proto_fits(s->app_proto, job->packet)))
            anchored_section_collect(s, (struct slice){ job->data, job->len }, 0, &dt->found);
    }
}

/* Drops what cannot match this packet, whatever happens before its inspection. */
static void keep_candidates(struct detect_thread *dt, struct payload_job *job,
                            struct header_view *h)
{
    struct vector_search *vs = dt->vector;
    const uint8_t refused = rule_conditions(h->refused);
    unsigned n = vs->rule_count;

    if (dt->found.count > RULES_MAX - n)
        return;
    for (unsigned i = 0; i < dt->found.count; i++) {
        const struct rule_mask *m = &dt->plan->mask[dt->found.list[i]];

        if (!(m->conditions & refused) && header_may_fit(dt->plan, m->header_id, h) &&
            (job->app_proto == APP_PROTO_UNKNOWN || proto_fits(m->app_proto, job->packet)))
            vs->rule[n++] = dt->found.list[i];
    }
    job->first = (uint16_t)vs->rule_count;
    job->count = (uint16_t)(n - vs->rule_count);
    job->is_searched = true;
    vs->rule_count = n;
}

/* `number`: of its payload in the batch. */
static void job_finish(struct detect_thread *dt, struct payload_job *job, unsigned number)
{
    const struct packet *p = job->packet;
    const struct transport_group *g = job->group;
    struct slice data = { job->data, job->len };
    struct header_view h;

    if (!payload_batch_collect(dt->vector->batch, number, dt->hs, &dt->found))
        return;
    header_init(dt, p, &h);
    collect_anchored(dt, job, &h);
    port_lists_collect(&g->payload_non_prefilter, p->src_port, p->dst_port, data, &dt->found);
    port_lists_collect(&g->non_prefilter, p->src_port, p->dst_port, data, &dt->found);
    keep_candidates(dt, job, &h);
    candidates_clear(&dt->found);
}

/* Searches jobs of a queue from this one on, as many as the batch has space for. Returns the job
 * after them. A payload that is too long for any batch is left out. */
static unsigned batch_search(struct detect_thread *dt, unsigned from)
{
    struct vector_search *vs = dt->vector;
    unsigned count = 0, id = from;

    payload_batch_begin(vs->batch, vs->job[from - 1].sets);
    for (; id != 0; id = vs->job[id - 1].next, count++) {
        const struct payload_job *job = &vs->job[id - 1];

        if (!payload_batch_add(vs->batch, &(struct sent_payload){
                { job->data, job->len }, job->packet->src_port, job->packet->dst_port }))
            break;
    }
    payload_batch_scan(vs->batch, dt->hs);
    for (unsigned i = 0; i < count; i++, from = vs->job[from - 1].next)
        job_finish(dt, &vs->job[from - 1], i);
    return count > 0 ? id : vs->job[id - 1].next;
}

void vector_search_run(struct detect_thread *dt)
{
    struct vector_search *vs = dt->vector;

    for (unsigned queue = 0; queue < QUEUES; queue++)
        for (unsigned id = vs->first[queue]; id != 0; )
            id = batch_search(dt, id);
}

void vector_search_reach(struct vector_search *vs, unsigned at)
{
    while (vs->reached < vs->count && vs->job[vs->reached].at < at)
        vs->reached++;
    vs->at = at;
}

/* A parser may have turned the flow, or found out its protocol. A packet whose parts are timed is
 * searched when it is inspected. */
bool vector_search_take(struct detect_thread *dt, const struct packet *p,
                        const struct transport_group *g)
{
    struct vector_search *vs = dt->vector;
    const struct payload_job *job;

    if (vs == NULL || vs->reached == vs->count || UNLIKELY(dt->laps.on))
        return false;
    job = &vs->job[vs->reached];
    if (job->at != vs->at || job->data != p->payload || job->len != p->payload_len ||
        job->group != g || !job->is_searched ||
        (job->app_proto != APP_PROTO_UNKNOWN && job->app_proto != p->flow->app_proto))
        return false;
    for (unsigned i = 0; i < job->count; i++)
        candidates_add(&dt->found, vs->rule[job->first + i]);
    return true;
}

/* --- the vector ------------------------------------------------------------------------------- */

/* For the helper: shorter payloads are searched in less time than a job takes. */
#define PAYLOAD_MIN_AHEAD 256

/* A prediction only: if the packet is not inspected, or in the other direction, its job is not
 * used. */
static bool may_search(const struct packet *p)
{
    const struct flow *f = p->flow;

    return p->payload_len > 0 && p->src.version != 0 &&
           !(p->flags & (PACKET_PSEUDO | PACKET_NO_INSPECT | PACKET_NO_PAYLOAD_INSPECT |
                         PACKET_STREAM_NO_APP)) &&
           (f == NULL || (!(f->action & (ACTION_DROP | ACTION_PASS)) && f->switched_off == 0));
}

static bool is_for_helper(const struct packet *p)
{
    const struct flow_elephant *e = p->flow != NULL ? flow_elephant(p->flow) : NULL;

    return e != NULL && e->action == ELEPHANT_SPREAD && p->payload_len >= PAYLOAD_MIN_AHEAD;
}

static void helper_add(struct detect_thread *dt, unsigned at, const struct packet *p)
{
    const struct transport_group *g = &dt->plan->group[packet_group(p)][packet_direction(p)];
    struct sent_payload payload = { { p->payload, p->payload_len }, p->src_port, p->dst_port };
    struct header_view h;

    header_init(dt, p, &h);
    search_ahead_add(dt->ahead, at, g->payload[address_case(dt->plan, &h)], &payload);
}

/* Headers are compared with results that the flow keeps. */
static void prefetch_results(const struct packet_vector *v, unsigned at)
{
    const struct flow *f = at < v->count ? v->packet[at]->flow : NULL;

    if (f != NULL && f->detect != NULL)
        PREFETCH(f->detect);
}

/* The helper searches while this thread does. */
void detect_search_ahead(struct detect_thread *dt, const struct packet_vector *v)
{
    bool helps = dt->ahead != NULL && dt->ahead_works;
    bool searches = dt->vector != NULL && dt->plan->any_rules && dt->set->firewall == NULL &&
                    v->count >= VECTOR_MIN;

    for (unsigned i = 0; i < v->count && (helps || searches); i++) {
        const struct packet *p = v->packet[i];

        prefetch_results(v, i + 4);
        if (!may_search(p))
            continue;
        if (UNLIKELY(helps) && is_for_helper(p))
            helper_add(dt, i, p);
        else if (searches)
            vector_search_add(dt, i, p);
    }
    if (UNLIKELY(helps))
        search_ahead_start(dt->ahead);
    if (searches)
        vector_search_run(dt);
}

void detect_search_reach(struct detect_thread *dt, unsigned at)
{
    if (UNLIKELY(dt->ahead != NULL))
        search_ahead_reach(dt->ahead, at);
    if (dt->vector != NULL)
        vector_search_reach(dt->vector, at);
}

void detect_search_end(struct detect_thread *dt)
{
    if (UNLIKELY(dt->ahead != NULL))
        search_ahead_end(dt->ahead);
    if (dt->vector != NULL)
        vector_search_clear(dt->vector);
}

uint64_t detect_search_answers(const struct detect_thread *dt)
{
    return search_ahead_answers(dt->ahead);
}
