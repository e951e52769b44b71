/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/tenant_threads.c - the detection states of one packet thread, one for each tenant. */
#include "modules/tenant_threads.h"

#include <stdlib.h>

static struct detect_thread *thread_of(struct tenant_threads *tt, uint32_t id)
{
    for (size_t i = 0; i < tt->all.count; i++)
        if (tt->all.at[i].id == id)
            return tt->all.at[i].detect;
    return NULL;
}

static int take_one(struct tenant_threads *tt, const struct tenant *tenant, struct err *err)
{
    const struct run_context *ctx = tt->ctx;
    struct detect_thread *detect = thread_of(tt, tenant->id);

    if (detect != NULL) {
        detect_thread_set_rules(detect, tenant->rules);
    } else {
        detect = detect_thread_new(tenant->rules, ctx->conf, tt->counters, ctx->is_inline, err);
        if (detect == NULL)
            return -1;
        detect_thread_keep_alert_payload(detect, tt->alert_payload_size);
        ARRAY_PUSH(&tt->all, (struct tenant_thread){ tenant->id, detect });
    }
    ARRAY_PUSH(&tt->at, detect);
    return 0;
}

/* A tenant that is gone keeps its state with the general rules, because packets in flight may refer
 * to it. */
int tenant_threads_take(struct tenant_threads *tt, struct ruleset *rules, unsigned generation,
                        struct err *err)
{
    struct tenants *table = run_context_tenants(tt->ctx), *old = tt->table;
    int status = 0;

    if (table == NULL)
        return 0;
    tt->at.count = 0;
    tt->table = table;
    for (size_t i = 0; i < table->list.count; i++)
        if (take_one(tt, table->list.at[i], err) < 0) {
            ARRAY_PUSH(&tt->at, tt->everybody);
            status = -1;
        }
    for (size_t i = 0; i < tt->all.count; i++) {
        if (tenants_find(table, tt->all.at[i].id) < 0)
            detect_thread_set_rules(tt->all.at[i].detect, rules);
        detect_thread_set_generation(tt->all.at[i].detect, (uint8_t)generation);
    }
    detect_thread_set_generation(tt->everybody, (uint8_t)generation);
    tenants_unref(old);
    return status;
}

void tenant_threads_follow_profile(struct tenant_threads *tt)
{
    for (size_t i = 0; i < tt->all.count; i++)
        detect_thread_follow_profile(tt->all.at[i].detect);
}

void tenant_threads_fini(struct tenant_threads *tt)
{
    for (size_t i = 0; i < tt->all.count; i++)
        detect_thread_free(tt->all.at[i].detect);
    ARRAY_FREE(&tt->all);
    ARRAY_FREE(&tt->at);
    tenants_unref(tt->table);
}

/* A flow keeps its first packet's tenant, so that a selector by packet cannot change it midway. */
struct detect_thread *tenant_thread_of(const struct tenant_threads *tt, struct packet *p)
{
    uint32_t id = p->flow != NULL && p->flow->tenant_id != 0 ? p->flow->tenant_id
                                                             : tenants_of(tt->table, p);
    int at = id != 0 ? tenants_find(tt->table, id) : -1;

    detect_slot(p)->tenant_id = at >= 0 ? id : 0;
    if (p->flow != NULL)
        p->flow->tenant_id = detect_slot(p)->tenant_id;
    return at >= 0 ? tt->at.at[at] : tt->everybody;
}
