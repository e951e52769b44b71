/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/detect_tables.h - the patterns by which protocols are detected, arranged for lookup.
 *
 * There is one set per transport and direction, read-only once built. All patterns are near the
 * start of the data, so a set is a list per first byte, and one list for the few patterns that do
 * not begin at offset 0 or have no fixed offset. */
#ifndef APP_DETECT_TABLES_H
#define APP_DETECT_TABLES_H

#include "app/core/detect_proto.h"
#include "app/proto.h"

#define PATTERN_NONE UINT16_MAX

struct pattern_item {
    const struct app_proto *proto;
    const struct app_pattern *pattern;
    uint16_t len, depth;
    uint16_t next;              /* in its list; PATTERN_NONE ends */
};

struct app_pattern_set {
    struct pattern_item *at;
    size_t count, cap;
    uint16_t first[256];        /* list of patterns that begin with this byte at offset 0 */
    uint16_t floating;
    uint16_t max_depth;         /* if this many bytes have no hit, no later byte can give one */
    uint16_t confirm_max;       /* if this many bytes have no confirmation, later bytes cannot
                                 * give one */
};

enum pattern_result { PATTERN_NOT_YET, PATTERN_NEVER, PATTERN_FOUND };

/* own: the set is for the direction of the bytes. */
enum pattern_result app_pattern_set_match(const struct app_pattern_set *set,
                                          const struct proto_detect_input *q, bool own,
                                          enum app_proto_id *found, bool *reversed);

#endif
