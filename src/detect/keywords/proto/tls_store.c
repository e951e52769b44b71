/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/proto/tls_store.c - keep the certificates of whom the packet comes from; the
 * output tls-store writes them. */
#include "app/proto/tls/tls.h"
#include "detect/rule/keyword.h"

static int tls_store_parse(struct rule_parser *p, struct text in UNUSED, void *arg UNUSED)
{
    return rule_set_app_proto(p, APP_PROTO_tls);
}

/* The flow's first transaction is that of its handshake. */
static bool tls_store_match(const struct match_input *in, const void *arg UNUSED)
{
    const struct app_flow *af = in->flow != NULL ? in->flow->app : NULL;

    if (af != NULL && af->proto == &app_tls && af->first != NULL)
        tls_tx_of(af->first)->ds[in->direction].store = true;
    return true;
}

const struct keyword_ops keyword_tls_store = {
    .name = "tls_store",
    .alias = "tls.store",
    .doc = "keep the certificates, see the output tls-store",
    .point = POINT_POST,
    .argument = ARGUMENT_NONE,
    .rule_flag = "tlsstore",
    .parse = tls_store_parse,
    .match = tls_store_match,
};
