/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/packet/vlan.c - vlan.id and vlan.layers: VLAN tags (IEEE 802.1Q),
 * outermost first. */
#include "detect/rule/keyword.h"

struct vlan_arg { /* `layer`: which tags are compared */
    struct int_match value;
    struct index_match layer;
};

/* An id has 12 bits. A layer that the decoder does not keep (PACKET_VLANS_MAX) could never
 * match. */
static int vlan_id_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct vlan_arg *a = arg;

    if (index_match_parse(p, &in, &a->layer) < 0 ||
        (a->layer.mode != INDEX_COUNT && int_match_parse(p, in, 16, NULL, &a->value) < 0))
        return -1;
    if (a->value.a > 4095 || a->value.b > 4095)
        return rule_error(p, "vlan.id: a VLAN id is at most 4095, found \"%.*s\"", TEXT(in));
    if (a->layer.nth < -PACKET_VLANS_MAX || a->layer.nth >= PACKET_VLANS_MAX)
        return rule_error(p, "vlan.id: the layer must be from -%d to %d, found %d",
                          PACKET_VLANS_MAX, PACKET_VLANS_MAX - 1, a->layer.nth);
    return 0;
}

/* Tag `index`, 0 is the outermost; false past the last one. */
static bool vlan_get(void *arg, unsigned index, uint64_t *out)
{
    const struct packet *p = arg;

    if (index >= p->vlan_count)
        return false;
    *out = p->vlan[index];
    return true;
}

static bool vlan_id_match(const struct match_input *in, const void *arg)
{
    const struct vlan_arg *a = arg;

    return index_match_has(&a->layer, &a->value, true,
                           &(struct index_values){ .get = vlan_get, .arg = in->packet });
}

const struct keyword_ops keyword_vlan_id = {
    .name = "vlan.id",
    .doc = "VLAN id of a tag, 0 is the outermost, or the number of tags",
    .syntax = "<number>[,<index>]\n"
              "count <number>",
    .features = "prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(struct vlan_arg),
    .parse = vlan_id_parse,
    .match = vlan_id_match,
};

/* More layers than the decoder keeps could never match. */
static int vlan_layers_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct int_match *m = arg;

    if (int_match_parse(p, in, 8, NULL, m) < 0)
        return -1;
    if (m->a > PACKET_VLANS_MAX || m->b > PACKET_VLANS_MAX)
        return rule_error(p, "vlan.layers: there are at most %d, found \"%.*s\"",
                          PACKET_VLANS_MAX, TEXT(in));
    return 0;
}

static bool vlan_layers_match(const struct match_input *in, const void *arg)
{
    return int_match_has(arg, in->packet->vlan_count);
}

const struct keyword_ops keyword_vlan_layers = {
    .name = "vlan.layers",
    .doc = "number of VLAN tags",
    .syntax = "<number>",
    .features = "prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(struct int_match),
    .parse = vlan_layers_parse,
    .match = vlan_layers_match,
};
