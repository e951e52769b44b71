/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/web/rule_costs.c - what rules cost, for the page. */
#include "control/web/web_private.h"

#include "base/report/json.h"
#include "control/private.h"

/* Rules that /api/rule-costs names in each order. */
#define COSTS_SHOWN 50

void rule_cost_json(struct json *j, struct control *c, uint32_t sid)
{
    struct rule_costs t;

    rule_costs_collect(&t, c->conf.context);
    for (size_t i = 0; i < t.rows.count; i++) {
        if (t.rows.at[i].rule->sid != sid || t.rows.at[i].tenant_id != 0)
            continue;
        json_object(j, "cost");
        rule_cost_members(&t, &t.rows.at[i], j);
        json_object_end(j);
        break;
    }
    rule_costs_fini(&t);
}

const char *rule_costs_write(struct web *web, const struct web_request *request, struct buf *out)
{
    struct control *c = web_control(web);
    struct json j;

    (void)request;
    json_init(&j, out);
    json_object(&j, NULL);
    pthread_mutex_lock(&c->lock);
    rule_costs_json(c->conf.context, COSTS_SHOWN, &j);
    pthread_mutex_unlock(&c->lock);
    json_object_end(&j);
    return NULL;
}
