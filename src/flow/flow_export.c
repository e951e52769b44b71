/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/flow_export.c - writes flows for another process, and finds those of another process. */
#include "flow/flow_export.h"

#include "base/memory/lib_memory.h"
#include "flow/flow_match.h"
#include "flow/vars.h"

#include <stdlib.h>
#include <string.h>

#define VAR_HEAD 6
/* Requests that concern data of parsers and reassembly, which stay behind. */
#define REQUESTS_LEFT_BEHIND (FLOW_REQ_DEPTH_FREE_TS | FLOW_REQ_DEPTH_FREE_TC)
#define FLAGS_THAT_GO                                                                             \
    (FLOW_INSPECT_ALERTED | FLOW_INSPECT_IPONLY_TS | FLOW_INSPECT_IPONLY_TC |                     \
     FLOW_INSPECT_ESTABLISHED | FLOW_INSPECT_DROP_LOGGED_TC | FLOW_INSPECT_DROP_LOGGED_TS)

/* ---- out ---- */

/* Names, because numbers differ between processes. */
static bool add_var(const struct flow_var_view *v, void *arg)
{
    const char *name = var_name(v->kind, v->id);
    size_t len = name != NULL ? strlen(name) : 0;
    struct buf *out = arg;

    if ((v->kind != VAR_FLOWBIT && v->kind != VAR_FLOWINT) || len == 0 || len > UINT8_MAX)
        return true;
    buf_add_u8(out, (uint8_t)v->kind);
    buf_add_u8(out, (uint8_t)len);
    buf_add(out, &v->number, sizeof(v->number));
    buf_add(out, name, len);
    return true;
}

static struct flow_export record_of(const struct flow *f)
{
    return (struct flow_export){
        .requests = flow_requests(f), .exception_policies = f->exception_policies,
        .depth = __atomic_load_n(&f->depth, __ATOMIC_RELAXED),
        .key = f->key, .id = f->id, .parent_id = f->parent_id,
        .start_us = f->start_us, .last_us = f->last_us,
        .seen = { f->seen[0], f->seen[1] }, .tenant_id = f->tenant_id,
        .state = (uint8_t)flow_final_state(f), .vlan_count = f->vlan_count,
        .drop_all = f->drop_all, .drop_reason_all = f->drop_reason_all,
        .min_ttl = { f->min_ttl[0], f->min_ttl[1] }, .max_ttl = { f->max_ttl[0], f->max_ttl[1] },
        .swapped = f->swapped, .inspect_flags = f->inspect_flags & FLAGS_THAT_GO,
        .action = f->action, .drop_reason = f->drop_reason,
        .tcp_flags_seen = { f->tcp_flags_seen[0], f->tcp_flags_seen[1] },
        .icmp_code = f->icmp_code, .switched_off = f->switched_off,
    };
}

bool flow_export_add(struct buf *out, const struct flow *f, const struct flow_export_parts *parts)
{
    struct flow_export record = record_of(f);
    size_t at = out->len;

    record.tcp = parts->tcp;
    record.app = parts->app;
    record.app.heard = parts->heard.len;
    record.tail[TO_SERVER] = parts->tail[TO_SERVER].len;
    record.tail[TO_CLIENT] = parts->tail[TO_CLIENT].len;
    buf_add(out, &record, sizeof(record));
    flow_vars_each(f, add_var, out);
    buf_add(out, parts->heard.data, parts->heard.len);
    for (unsigned d = 0; d < 2; d++)
        buf_add(out, parts->tail[d].data, parts->tail[d].len);
    if (!buf_cut_failed(out, at))
        return false;
    record.size = (uint32_t)(out->len - at);
    memcpy(out->data + at, &record, sizeof(record));
    return true;
}

/* ---- in ---- */

struct import {
    uint32_t at;                        /* of the record in the data */
    uint32_t hash;
    int is_taken;                       /* atomic */
};

struct flow_imports {
    const struct flow_conf *conf;
    flow_proto_number_fn proto_of;
    uint8_t *data;
    uint64_t until_us;                  /* by then all have timed out */
    unsigned count, mask;
    unsigned left;                      /* atomic; those that no thread has taken */
    struct import *slot;                /* open addressing; at UINT32_MAX: free */
};

static bool read_record(const struct buf *records, size_t at, struct flow_export *out)
{
    if (records->len - at < sizeof(*out))
        return false;
    memcpy(out, records->data + at, sizeof(*out));
    return out->size >= sizeof(*out) && out->size <= records->len - at &&
           out->app.heard <= FLOW_REPLAY_MAX && out->tail[0] <= FLOW_TAIL_MAX &&
           out->tail[1] <= FLOW_TAIL_MAX &&
           out->app.heard + out->tail[0] + out->tail[1] <= out->size - sizeof(*out);
}

static int count_records(const struct buf *records, unsigned *count, struct err *err)
{
    struct flow_export record;

    *count = 0;
    for (size_t at = 0; at < records->len; at += record.size, ++*count)
        if (!read_record(records, at, &record))
            return err_set(err, "the flows of the engine that runs cannot be read");
    return 0;
}

static void put(struct flow_imports *imports, uint32_t at, uint32_t hash)
{
    unsigned i = hash & imports->mask;

    while (imports->slot[i].at != UINT32_MAX)
        i = (i + 1) & imports->mask;
    imports->slot[i] = (struct import){ .at = at, .hash = hash };
}

/* With the timeouts of this process. In an emergency flows end earlier, which changes nothing. */
static uint64_t end_of(const struct flow_conf *conf, const struct flow_export *e)
{
    unsigned state = MIN(e->state, (uint8_t)FLOW_CAPTURE_BYPASSED);

    return e->last_us + conf->normal.after[flow_proto_of(e->key.proto)][state];
}

static void fill(struct flow_imports *imports, const struct buf *records)
{
    struct flow_export record;

    for (unsigned i = 0; i <= imports->mask; i++)
        imports->slot[i].at = UINT32_MAX;
    for (size_t at = 0; at < records->len; at += record.size) {
        (void)read_record(records, at, &record);
        put(imports, (uint32_t)at,
            flow_match_hash(imports->conf, &record.key, record.vlan_count));
        imports->until_us = MAX(imports->until_us, end_of(imports->conf, &record));
    }
}

/* At most half of the slots are used. The flow table's memcap has limited the number. */
struct flow_imports *flow_imports_new(const struct flow_conf *conf, const struct buf *records,
                                      flow_proto_number_fn proto_of, struct err *err)
{
    struct flow_imports *imports;
    unsigned count, slots = 16;

    if (count_records(records, &count, err) < 0)
        return NULL;
    while (slots < 2 * count)
        slots *= 2;
    imports = calloc(1, sizeof(*imports));
    if (imports != NULL) {
        imports->conf = conf;
        imports->proto_of = proto_of;
        imports->count = imports->left = count;
        imports->mask = slots - 1;
        imports->data = malloc(records->len + 1);
        imports->slot = calloc(slots, sizeof(imports->slot[0]));
    }
    if (imports == NULL || imports->data == NULL || imports->slot == NULL ||
        records->len >= UINT32_MAX) {
        flow_imports_free(imports);
        err_set(err, "no memory for the %u flows of the engine that runs", count);
        return NULL;
    }
    if (records->len > 0)
        memcpy(imports->data, records->data, records->len);
    fill(imports, records);
    return imports;
}

void flow_imports_free(struct flow_imports *imports)
{
    if (imports == NULL)
        return;
    free(imports->data);
    free(imports->slot);
    free(imports);
}

unsigned flow_imports_count(const struct flow_imports *imports)
{
    return imports->count;
}

unsigned flow_imports_left(const struct flow_imports *imports)
{
    return __atomic_load_n(&imports->left, __ATOMIC_RELAXED);
}

bool flow_imports_are_over(const struct flow_imports *imports, uint64_t now_us)
{
    return flow_imports_left(imports) == 0 || now_us > imports->until_us;
}

/* The device number is an address of the other process, so it is not compared. */
static bool matches(const struct flow_conf *conf, const struct flow_export *e,
                    const struct flow *flow)
{
    struct flow_key key = e->key;

    key.device = flow->key.device;
    return flow_key_matches(conf, &key, &flow->key);
}

static bool is_taken(const struct import *slot)
{
    return __atomic_load_n(&slot->is_taken, __ATOMIC_RELAXED) != 0;
}

/* False: another thread was faster. */
static bool take_slot(struct flow_imports *imports, struct import *slot)
{
    if (__atomic_exchange_n(&slot->is_taken, 1, __ATOMIC_RELAXED) != 0)
        return false;
    __atomic_fetch_sub(&imports->left, 1, __ATOMIC_RELAXED);
    return true;
}

/* A name of another version may have no end. */
static void find_protos(const struct flow_imports *imports, struct flow_import *out)
{
    for (unsigned i = 0; i < ARRAY_LEN(out->app_proto); i++) {
        char *name = out->flow.app.proto[i];

        name[APP_EXPORT_NAME - 1] = '\0';
        out->app_proto[i] = imports->proto_of != NULL && name[0] != '\0'
                                ? imports->proto_of(name) : 0;
    }
}

/* read_record() has compared the sizes. */
static void take_rest_of(const uint8_t *record, struct flow_import *out)
{
    struct bytes in = bytes_of(record, out->flow.size);

    take_skip(&in, sizeof(out->flow));
    out->vars = take_sub(&in, bytes_left(&in) - out->flow.app.heard - out->flow.tail[0] -
                                  out->flow.tail[1]);
    out->heard = take_slice(&in, out->flow.app.heard);
    out->tail[TO_SERVER] = take_slice(&in, out->flow.tail[TO_SERVER]);
    out->tail[TO_CLIENT] = take_rest(&in);
}

/* Records are not aligned, so the caller gets a copy. */
bool flow_imports_take(struct flow_imports *imports, const struct flow *flow,
                       struct flow_import *out)
{
    for (unsigned i = flow->hash & imports->mask; imports->slot[i].at != UINT32_MAX;
         i = (i + 1) & imports->mask) {
        struct import *slot = &imports->slot[i];

        if (slot->hash != flow->hash || is_taken(slot))
            continue;
        memcpy(&out->flow, imports->data + slot->at, sizeof(out->flow));
        if (!matches(imports->conf, &out->flow, flow))
            continue;
        take_rest_of(imports->data + slot->at, out);
        find_protos(imports, out);
        return take_slot(imports, slot);
    }
    return false;
}

unsigned flow_imports_pass_on(const struct flow_imports *imports, uint64_t now_us,
                              struct buf *out, unsigned *lost)
{
    unsigned count = 0;

    for (unsigned i = 0; i <= imports->mask; i++) {
        const struct import *slot = &imports->slot[i];
        struct flow_export record;
        size_t at = out->len;

        if (slot->at == UINT32_MAX || is_taken(slot))
            continue;
        memcpy(&record, imports->data + slot->at, sizeof(record));
        if (end_of(imports->conf, &record) < now_us)
            continue;
        buf_add(out, imports->data + slot->at, record.size);
        if (buf_cut_failed(out, at))
            count++;
        else
            ++*lost;
    }
    return count;
}

/* ---- into a flow ---- */

/* Each process has its own numbers for names. Flowbits that no rule here has stay unused. */
static void take_vars(struct flow *flow, struct bytes in)
{
    while (bytes_left(&in) > 0) {
        enum var_kind kind = (enum var_kind)take_u8(&in);
        uint8_t len = take_u8(&in);
        uint32_t number = 0, id;
        const uint8_t *at = take_bytes(&in, sizeof(number));
        char name[UINT8_MAX + 1];

        if (at != NULL)
            memcpy(&number, at, sizeof(number));
        at = take_bytes(&in, len);
        if (at == NULL)
            return;
        memcpy(name, at, len);
        name[len] = '\0';
        id = var_name_id(kind == VAR_FLOWINT ? VAR_FLOWINT : VAR_FLOWBIT, name);
        if (id != 0 && kind == VAR_FLOWINT)
            flowint_put(flow, id, number);
        else if (id != 0)
            flowbit_set(flow, id);
    }
}

/* The records are freed before the flow ends. */
bool flow_replay_set(struct flow *flow, struct slice heard)
{
    struct flow_ext *ext = flow_ext_make(flow);
    struct flow_replay *copy = ext != NULL ? lib_malloc(sizeof(*copy) + heard.len) : NULL;

    if (copy == NULL)
        return false;
    *copy = (struct flow_replay){ .len = heard.len };
    memcpy(copy->data, heard.data, heard.len);
    lib_free(ext->replay);
    ext->replay = copy;
    return true;
}

void flow_tail_set(struct flow *flow, enum direction d, struct slice bytes)
{
    struct flow_ext *ext = flow_ext_make(flow);
    struct flow_tail *tail = ext != NULL ? lib_calloc(1, sizeof(*tail)) : NULL;

    if (tail == NULL)
        return;
    flow_tail_drop(flow, d);
    ext->tail[d] = tail;
    tail->old = bytes.len;
    if (!buf_add(&tail->bytes, bytes.data, bytes.len))
        flow_tail_drop(flow, d);
}

void flow_tail_drop(struct flow *flow, enum direction d)
{
    struct flow_tail *tail = flow_tail(flow, d);

    if (LIKELY(tail == NULL))
        return;
    buf_fini(&tail->bytes);
    lib_free(tail);
    flow->ext->tail[d] = NULL;
}

static void take_tails(struct flow *flow, const struct flow_import *from)
{
    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++)
        if (from->tail[d].len > 0)
            flow_tail_set(flow, d, from->tail[d]);
}

/* A flow that was not recognised yet is recognised here. What was heard of a protocol that this
 * process does not have means nothing. */
static void take_protos(struct flow *flow, const struct flow_import *from)
{
    bool replays = from->heard.len > 0 && flow_replay_set(flow, from->heard);

    if (replays)
        flow->app_resume = FLOW_APP_REPLAYS;
    if (from->app_proto[0] == 0) {
        flow->app_resume = from->flow.app.proto[0][0] == '\0' ? flow->app_resume : 0;
        return;
    }
    flow->app_proto = from->app_proto[0];
    flow->app_proto_dir[0] = from->app_proto[1];
    flow->app_proto_dir[1] = from->app_proto[2];
    if (!replays)
        flow->app_resume = from->flow.app.is_over ? FLOW_APP_OVER : FLOW_APP_RESUMES;
}

/* The key stays that of this process's first packet, which may come from the server. */
void flow_import(struct flow *flow, const struct flow_import *from)
{
    const struct flow_export *e = &from->flow;
    bool same_way = flow_key_same_way(&e->key, &flow->key);

    flow->id = e->id;
    flow->parent_id = e->parent_id;
    flow->requests = e->requests & ~(uint32_t)REQUESTS_LEFT_BEHIND;
    flow->exception_policies = e->exception_policies;
    flow->depth = e->depth;
    flow->swapped = same_way ? e->swapped : !e->swapped;
    flow->drop_all = e->drop_all;
    flow->drop_reason_all = e->drop_reason_all;
    flow->tenant_id = e->tenant_id;
    flow->inspect_flags = e->inspect_flags;
    flow->action = e->action;
    flow->drop_reason = e->drop_reason;
    flow->icmp_code = e->icmp_code;
    flow->switched_off = e->switched_off;
    for (unsigned dir = 0; dir < 2; dir++) {
        flow->seen[dir] = e->seen[dir];
        flow->min_ttl[dir] = e->min_ttl[dir];
        flow->max_ttl[dir] = e->max_ttl[dir];
        flow->tcp_flags_seen[dir] = e->tcp_flags_seen[dir];
    }
    take_protos(flow, from);
    take_tails(flow, from);
    take_vars(flow, from->vars);
}
