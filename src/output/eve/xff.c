/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/eve/xff.c - `xff:`, the client behind a proxy of protocols that name it. */
#include "output/eve/eve.h"
#include "output/output_private.h"

/* The settings are Suricata's. `forward`: the first address of the list is the client's;
 * otherwise the last one, which the proxy itself has added. */
#include "app/proto.h"

void eve_read_xff(struct xff *xff, const struct conf_node *node)
{
    static const char *const modes[] = { "extra-data", "overwrite", NULL };
    static const char *const deployments[] = { "reverse", "forward", NULL };

    if (!conf_bool(node, "xff.enabled", false))
        return;
    xff->mode = conf_choice(node, "xff.mode", modes, 0) == 1 ? XFF_OVERWRITE : XFF_EXTRA;
    xff->forward = conf_choice(node, "xff.deployment", deployments, 0) == 1;
    xff->header = conf_string(node, "xff.header", "X-Forwarded-For");
}

/* Any client can send the header, so "overwrite" is only for a proxy that one trusts. A
 * record about a packet without a transaction uses the flow's first. */
void eve_xff_begin(struct render *r, const struct xff *xff, const struct packet *p,
                   struct app_tx *tx, struct xff_use *use)
{
    const struct app_proto *proto;

    use->found = false;
    if (xff->mode == XFF_OFF || p->flow == NULL)
        return;
    if (tx == NULL && p->flow->app != NULL)
        tx = p->flow->app->first;
    proto = tx != NULL ? tx->flow->proto : NULL;
    if (proto == NULL || proto->forwarded_for == NULL)
        return;
    use->found = proto->forwarded_for(tx, xff->header, xff->forward, use->text);
    if (use->found && xff->mode == XFF_OVERWRITE && ip_parse(text_of(use->text), &use->address))
        r->client = &use->address;
}

/* The text is borrowed by the record, so `use` must live until here. */
void eve_xff_end(struct render *r, const struct xff *xff, struct json *j,
                 const struct xff_use *use)
{
    if (UNLIKELY(use->found) && xff->mode == XFF_EXTRA)
        json_string(j, "xff", use->text);
    r->client = NULL;
}
