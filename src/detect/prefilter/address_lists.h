/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/address_lists.h - finds rules whose only condition is addresses. The IPv4 space
 * is divided where a range of any rule begins or ends; each part has a list of its rules. A rule is
 * listed by the side for which it names fewer addresses. */
#ifndef DETECT_ADDRESS_LISTS_H
#define DETECT_ADDRESS_LISTS_H

#include "base/memory/arena.h"
#include "base/text/ip.h"
#include "detect/prefilter/port_lists.h"

struct address_range { uint32_t lo, list; };

struct address_ranges {
    struct address_range *at;   /* sorted; each ends before the `lo` of the next */
    unsigned count;
    const struct rule_ids *list;    /* list 0 is empty */
    /* The space in equal slots: for each the part that its first address is in, and at the end the
     * last part. */
    const uint32_t *slot;
    uint8_t slot_bits;          /* of an address that are the same within a slot */
};

struct address_lists {
    struct address_ranges src, dst;
    struct rule_ids any_v4;     /* rules for which neither side is selective */
    struct rule_ids v6;
};

void address_lists_build(struct address_lists *lists, struct rule *const *rule,
                         const uint32_t *ids, unsigned count, struct arena *arena);
void address_lists_collect(const struct address_lists *lists, const struct ip *src,
                           const struct ip *dst, struct candidates *out);

#endif
