/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/eve/metadata.c - the record type `metadata`: one record for each packet in which
 * rules set packet variables. */
#include "output/eve/eve.h"

static bool metadata_condition(const struct packet *p)
{
    return detect_slot(p)->vars != NULL;
}

/* eve_begin() has written the variables, unless `metadata` is off for the eve-log. */
static void metadata_packet(struct render *r, const struct eve *eve, void *settings,
                            struct packet *p)
{
    struct json j;

    (void)settings;
    eve_begin(r, eve, &j, p, (struct eve_head){ EVE_AS_PACKET, "metadata", EVE_NO_TX });
    if (!eve->metadata)
        eve_vars(&j, p->flow, p);
    eve_end_limited(r, eve, &j, p);
}

const struct eve_type eve_type_metadata = {
    .name = "metadata",
    .condition = metadata_condition,
    .only_notable = true,
    .packet = metadata_packet,
};
