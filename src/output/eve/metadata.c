/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/eve/metadata.c - `metadata`: a record for each packet that a rule gave variables. */
#include "output/eve/eve.h"

static bool metadata_condition(const struct packet *p)
{
    return detect_slot(p)->vars != NULL;
}

static void metadata_packet(struct render *r, const struct eve *eve, void *settings,
                            struct packet *p)
{
    struct json j;

    (void)settings;
    eve_begin(r, eve, &j, p, (struct eve_head){ EVE_AS_PACKET, "metadata", EVE_NO_TX });
    if (!eve->metadata)
        eve_vars(&j, p->flow, p);
    eve_end(r, eve, &j, p);
}

const struct eve_type eve_type_metadata = {
    .name = "metadata",
    .condition = metadata_condition,
    .packet = metadata_packet,
};
