/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/analysis/groups.c - rule_group.json: the rules of each range of ports. The ports that
 * rules name divide all ports into ranges with equal rules. Ranges are ordered by weight: first
 * those of expensive rules and busy ports, then those with more rules. As many as the configuration
 * allows become groups; the rest is one group. Ranges with equal rules share a group. This is
 * Suricata's grouping; the engine's own is in compile/. */
#include "detect/analysis/private.h"

#include "conf/conf.h"
#include "detect/keywords/packet/tcp_flags.h"

#include <stdlib.h>
#include <string.h>

#define PORTS 65536u /* of TCP or UDP */

/* A range of ports with the set of its rules: one bit per rule, by evaluation order. */
struct rule_range {
    uint32_t lo, hi;
    uint64_t *rules;
    unsigned count, weight;
    unsigned id;                        /* of the group; equal for equal rules */
    unsigned number;                    /* in order of ports */
};
typedef ARRAY_OF(struct rule_range) rule_range_array;

/* State of one report. */
struct grouping {
    const struct ruleset *set;
    size_t words;                       /* of a bit set of all rules */
    bool with_rules, with_patterns;
    unsigned limit[2];                  /* groups to the server, to the client */
    uint64_t busy[2][PORTS / 64];       /* TCP, UDP ports that come first */
    unsigned next_id;
};

/* --- settings ----------------------------------------------------------------------------- */

/* The defaults are Suricata's. */
static void busy_ports_read(struct grouping *g, const struct conf_node *root, unsigned udp)
{
    const char *list = udp ? conf_string(root, "detect.grouping.udp-priority-ports",
                                         "53, 135, 5060")
                           : conf_string(root, "detect.grouping.tcp-priority-ports",
                                         "53, 80, 139, 443, 445, 1433, 3306, 3389, 6666, 6667, "
                                         "8080");
    struct text rest = text_of(list), word;
    uint64_t port;

    while (text_split(&rest, ',', &word))
        if (text_to_u64(text_trim(word), PORTS - 1, &port))
            g->busy[udp][port >> 6] |= 1ull << (port & 63);
}

/* Groups by detect.profile, as in Suricata; "custom" takes custom-values. */
static void limits_read(struct grouping *g, const struct conf_node *root)
{
    static const struct { const char *profile; unsigned limit[2]; } profiles[] = {
        { "low", { 25, 15 } }, { "medium", { 40, 20 } }, { "high", { 75, 75 } },
    };
    const char *profile = conf_string(root, "detect.profile", "medium");

    memcpy(g->limit, profiles[1].limit, sizeof(g->limit));
    for (size_t i = 0; i < ARRAY_LEN(profiles); i++)
        if (strcmp(profile, profiles[i].profile) == 0)
            memcpy(g->limit, profiles[i].limit, sizeof(g->limit));
    if (strcmp(profile, "custom") != 0)
        return;
    g->limit[TO_SERVER] = (unsigned)conf_u64(root, "detect.custom-values.toserver-groups", 40);
    g->limit[TO_CLIENT] = (unsigned)conf_u64(root, "detect.custom-values.toclient-groups", 20);
}

/* --- weight ------------------------------------------------------------------------------- */

/* Suricata's weights ("whitelist" scores). */
enum { WEIGHT_SYN = 33, WEIGHT_SHORT = 55, WEIGHT_NEGATED = 77, WEIGHT_NO_PATTERN = 99,
       WEIGHT_BUSY_PORT = 111 };

/* The server's ports in either direction. */
static const struct port_set *ports_of(const struct rule *r, unsigned direction)
{
    return direction == TO_SERVER ? r->dst_port : r->src_port;
}

/* The cost of having the rule in a group: a rule without a good pattern is inspected
 * often. A rule for all ports is in every group anyway, so it has no weight. */
static unsigned rule_weight(const struct rule *r)
{
    bool negated;
    const struct rule_op *op = analysis_pattern(r, &negated);

    if (ports_of(r, r->flags & RULE_TO_SERVER ? TO_SERVER : TO_CLIENT)->any)
        return 0;
    if (op == NULL && rule_payload(r) != NULL)
        return WEIGHT_NO_PATTERN;
    if (negated)
        return WEIGHT_NEGATED;
    if (op != NULL && op->list->buffer == NULL && op->content.len == 1)
        return WEIGHT_SHORT;
    return rule_tcp_flags(r, true) == TCP_SYN ? WEIGHT_SYN : 0;
}

/* Only a rule that names the port alone counts. */
static bool is_busy_port(const struct grouping *g, const struct port_range *range, unsigned udp)
{
    return range->lo == range->hi && (g->busy[udp][range->lo >> 6] >> (range->lo & 63) & 1);
}

/* --- ranges ------------------------------------------------------------------------------- */

/* SYN scans come from clients: to the client such a rule would only cost time. */
static bool is_scan_rule(const struct rule *r)
{
    uint32_t both = RULE_TO_SERVER | RULE_TO_CLIENT;

    return rule_tcp_flags(r, true) == TCP_SYN && (r->flags & both) == both && !r->dst_port->any;
}

/* Rules on addresses only are not grouped by port. */
static bool concerns(const struct rule *r, uint8_t ip_proto, unsigned direction)
{
    if (r->type == RULE_IP_ONLY || !rule_has_ip_proto(r, ip_proto) ||
        !(r->flags & (direction == TO_SERVER ? RULE_TO_SERVER : RULE_TO_CLIENT)))
        return false;
    return direction == TO_SERVER || !is_scan_rule(r);
}

static const struct port_range all_ports = { 0, PORTS - 1 };

/* Borrowed from the rule. */
static const struct port_range *ranges_of(const struct rule *r, unsigned direction,
                                          uint32_t *count)
{
    const struct port_set *set = ports_of(r, direction);

    *count = set->any ? 1 : set->count;
    return set->any ? &all_ports : set->range;
}

/* A range starts at this port. */
static void cut(uint64_t *cuts, uint32_t at)
{
    if (at < PORTS)
        cuts[at >> 6] |= 1ull << (at & 63);
}

/* Cuts at both ends of each rule's ranges; a bit set, because 65,536 ports fit in 8 KB. */
static void ranges_split(const struct grouping *g, uint8_t ip_proto, unsigned direction,
                       rule_range_array *out)
{
    uint64_t *cuts = xcalloc(PORTS / 64, sizeof(*cuts));

    cut(cuts, 0);
    for (size_t i = 0; i < g->set->rules.count; i++) {
        const struct rule *r = g->set->rules.at[i];
        const struct port_range *range;
        uint32_t count;

        if (!concerns(r, ip_proto, direction))
            continue;
        range = ranges_of(r, direction, &count);
        for (uint32_t k = 0; k < count; k++) {
            cut(cuts, range[k].lo);
            cut(cuts, range[k].hi + 1u);
        }
    }
    for (uint32_t port = 0; port < PORTS; port++) {
        if (!(cuts[port >> 6] >> (port & 63) & 1))
            continue;
        if (out->count > 0)
            out->at[out->count - 1].hi = port - 1;
        ARRAY_PUSH(out, (struct rule_range){ .lo = port,
                                             .hi = PORTS - 1,
                                             .number = (unsigned)out->count,
                                             .rules = xcalloc(g->words, sizeof(uint64_t)) });
    }
    free(cuts);
}

/* The range of a rule is a union of cut ranges, so each is inside or outside. */
static void ranges_add(rule_range_array *ranges, size_t index, const struct port_range *range,
                       unsigned weight)
{
    for (size_t i = 0; i < ranges->count; i++) {
        struct rule_range *p = &ranges->at[i];

        if (p->hi < range->lo || p->lo > range->hi)
            continue;
        p->rules[index >> 6] |= 1ull << (index & 63);
        p->weight = MAX(p->weight, weight);
    }
}

/* Fills the sets; the highest weight of its rules is that of a range. */
static void ranges_fill(const struct grouping *g, uint8_t ip_proto, unsigned direction,
                        rule_range_array *ranges)
{
    for (size_t i = 0; i < g->set->rules.count; i++) {
        const struct rule *r = g->set->rules.at[i];
        const struct port_range *range;
        unsigned weight;
        uint32_t count;

        if (!concerns(r, ip_proto, direction))
            continue;
        weight = rule_weight(r);
        range = ranges_of(r, direction, &count);
        for (uint32_t k = 0; k < count; k++)
            ranges_add(ranges, i, &range[k],
                       is_busy_port(g, &range[k], ip_proto == 17) ? WEIGHT_BUSY_PORT : weight);
    }
}

static unsigned bits_count(const uint64_t *bits, size_t words)
{
    unsigned n = 0;

    for (size_t i = 0; i < words; i++)
        n += (unsigned)__builtin_popcountll(bits[i]);
    return n;
}

static bool same_rules(const struct grouping *g, const struct rule_range *a,
                       const struct rule_range *b)
{
    return memcmp(a->rules, b->rules, g->words * sizeof(uint64_t)) == 0;
}

/* Removes ranges without rules, and joins neighbours with the same rules. */
static void ranges_coalesce(const struct grouping *g, rule_range_array *ranges)
{
    size_t retained = 0;

    for (size_t i = 0; i < ranges->count; i++) {
        struct rule_range *p = &ranges->at[i];

        p->count = bits_count(p->rules, g->words);
        if (p->count > 0 && retained > 0 && ranges->at[retained - 1].hi + 1 == p->lo &&
            same_rules(g, &ranges->at[retained - 1], p)) {
            ranges->at[retained - 1].hi = p->hi;
            free(p->rules);
        } else if (p->count > 0) {
            ranges->at[retained++] = *p;
        } else {
            free(p->rules);
        }
    }
    ranges->count = retained;
}

/* The port decides last, so the order is total. */
static int by_weight(const void *a, const void *b)
{
    const struct rule_range *x = a, *y = b;

    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return x->number < y->number ? -1 : 1;
}

/* Ranges over the limit become one group for all ports. */
static void ranges_limit(const struct grouping *g, rule_range_array *ranges, unsigned limit)
{
    struct rule_range *rest;

    if (limit == 0 || ranges->count <= limit)
        return;
    rest = &ranges->at[limit];
    for (size_t i = limit + 1; i < ranges->count; i++) {
        for (size_t w = 0; w < g->words; w++)
            rest->rules[w] |= ranges->at[i].rules[w];
        free(ranges->at[i].rules);
    }
    rest->lo = 0;
    rest->hi = PORTS - 1;
    rest->weight = 0;
    rest->count = bits_count(rest->rules, g->words);
    ranges->count = limit + 1;
}

/* Equal sets get one number. Quadratic in the number of groups, which is limited. */
static void ranges_number(struct grouping *g, rule_range_array *ranges)
{
    for (size_t i = 0; i < ranges->count; i++) {
        size_t k = 0;

        while (k < i && !same_rules(g, &ranges->at[k], &ranges->at[i]))
            k++;
        ranges->at[i].id = k < i ? ranges->at[k].id : g->next_id++;
        if (k < i)
            ranges->at[i].weight = ranges->at[k].weight;
    }
}

static void ranges_free(rule_range_array *ranges)
{
    for (size_t i = 0; i < ranges->count; i++)
        free(ranges->at[i].rules);
    ARRAY_FREE(ranges);
}

/* The groups of one transport and direction. */
static void rule_ranges_of(struct grouping *g, uint8_t ip_proto, unsigned direction,
                           rule_range_array *out)
{
    ranges_split(g, ip_proto, direction, out);
    ranges_fill(g, ip_proto, direction, out);
    ranges_coalesce(g, out);
    if (out->count > 1)
        qsort(out->at, out->count, sizeof(out->at[0]), by_weight);
    ranges_limit(g, out, g->limit[direction]);
    ranges_number(g, out);
}

/* --- the contents of a group -------------------------------------------------------------- */

/* Numbers of rules by kind. */
struct group_stats {
    unsigned pattern, no_pattern, depth, endswith, negated, payload_no_pattern, prefilter, syn,
             any;
    unsigned proto[APP_PROTO_COUNT];
};

/* Suricata's "any5": any protocol, addresses and ports. */
static bool is_for_all(const struct rule *r)
{
    uint32_t any = RULE_SRC_ANY | RULE_DST_ANY | RULE_SPORT_ANY | RULE_DPORT_ANY;

    for (unsigned i = 0; i < sizeof(r->ip_proto); i++)
        if (r->ip_proto[i] != 0xff)
            return false;
    return (r->flags & any) == any;
}

static void stats_add(struct group_stats *s, const struct rule *r)
{
    bool negated;
    const struct rule_op *op = analysis_pattern(r, &negated);

    s->proto[r->app_proto]++;
    s->any += is_for_all(r);
    s->prefilter += r->prefilter != NULL;
    s->payload_no_pattern += op == NULL && rule_payload(r) != NULL;
    if (op == NULL) {
        s->no_pattern++;
        s->syn += (rule_tcp_flags(r, true) & TCP_SYN) != 0;
        return;
    }
    s->pattern++;
    s->negated += negated;
    s->depth += (analysis_position(op).flags & OP_DEPTH) != 0;
    s->endswith += (op->flags & OP_ENDSWITH) != 0;
}

/* For a buffer: the number of rules found in it, and the length and strength of their patterns. */
struct buffer_stats {
    unsigned count, length[256], total, least, most;
};

/* Slot 0 is the payload. */
static unsigned buffer_slot(const struct buffer *b)
{
    return b != NULL ? b->id + 1u : 0;
}

static void buffer_add(struct buffer_stats *all, const struct rule_op *op)
{
    struct buffer_stats *s = &all[buffer_slot(op->list->buffer)];
    unsigned strength = analysis_strength(op->content.bytes, op->content.len);

    s->least = s->count == 0 ? strength : MIN(s->least, strength);
    s->most = MAX(s->most, strength);
    s->total += strength;
    s->count++;
    s->length[MIN(op->content.len, 255)]++;
}

static void count_member(struct json *j, const char *key, unsigned count)
{
    json_u64(j, key, count);
}

/* The keys are Suricata's. */
static void write_types(struct json *j, const struct group_stats *s)
{
    json_object(j, "types");
    count_member(j, "mpm", s->pattern);
    count_member(j, "non_mpm", s->no_pattern);
    count_member(j, "mpm_depth", s->depth);
    count_member(j, "mpm_endswith", s->endswith);
    count_member(j, "negated_mpm", s->negated);
    count_member(j, "payload_but_no_mpm", s->payload_no_pattern);
    count_member(j, "prefilter", s->prefilter);
    count_member(j, "syn", s->syn);
    count_member(j, "any5", s->any);
    json_object_end(j);
}

/* A loop over the rules of a bit set; the inner one runs at most once. */
#define EACH_RULE(g, bits, r, i)                                              \
    for (size_t i = 0; i < (g)->set->rules.count; i++)                        \
        for (const struct rule *r = (bits)[i >> 6] >> (i & 63) & 1 ? (g)->set->rules.at[i] : NULL; \
             r != NULL; r = NULL)

static const struct buffer *slot_buffer(const struct grouping *g, unsigned slot)
{
    return slot > 0 ? buffer_by_id(g->set, slot - 1) : NULL;
}

/* For the rules of one protocol: the buffers in which they are found. */
static void write_proto(struct json *j, const struct grouping *g, const uint64_t *bits,
                        enum app_proto_id proto, unsigned total)
{
    unsigned slots = buffer_count(g->set) + 1, *count = xcalloc(slots, sizeof(*count));
    char name[ENGINE_NAME_SIZE];

    EACH_RULE (g, bits, r, i) {
        bool negated;
        const struct rule_op *op = analysis_pattern(r, &negated);

        if (r->app_proto == proto && op != NULL)
            count[buffer_slot(op->list->buffer)]++;
    }
    json_object(j, proto == APP_PROTO_UNKNOWN ? "payload" : app_proto_name(proto));
    json_u64(j, "total", total);
    for (unsigned i = 0; i < slots; i++)
        if (count[i] > 0)
            json_u64(j, engine_buffer_name(slot_buffer(g, i), name), count[i]);
    json_object_end(j);
    free(count);
}

/* count is not 0 here. */
static void write_buffer(struct json *j, const char *name, const struct buffer_stats *s)
{
    json_array(j, name);
    for (unsigned i = 0; i < 256; i++) {
        if (s->length[i] == 0)
            continue;
        json_object(j, NULL);
        json_u64(j, "size", i);
        json_u64(j, "count", s->length[i]);
        json_object_end(j);
    }
    json_object(j, NULL);
    json_u64(j, "total", s->count);
    json_u64(j, "avg_strength", s->total / s->count);
    json_u64(j, "min_strength", s->least);
    json_u64(j, "max_strength", s->most);
    json_object_end(j);
    json_array_end(j);
}

/* Buffers that differ only in their transforms have the same name in the report. */
static void write_patterns(struct json *j, const struct grouping *g, const uint64_t *bits)
{
    unsigned slots = buffer_count(g->set) + 1;
    struct buffer_stats *all = xcalloc(slots, sizeof(*all));
    char name[ENGINE_NAME_SIZE];

    EACH_RULE (g, bits, r, i) {
        bool negated;
        const struct rule_op *op = analysis_pattern(r, &negated);

        if (op != NULL)
            buffer_add(all, op);
    }
    json_object(j, "mpm");
    for (unsigned i = 0; i < slots; i++)
        if (all[i].count > 0)
            write_buffer(j, engine_buffer_name(slot_buffer(g, i), name), &all[i]);
    json_object_end(j);
    free(all);
}

static void write_group(struct json *j, const struct grouping *g, const struct rule_range *p)
{
    struct group_stats s = { 0 };

    json_object(j, "rulegroup");
    json_u64(j, "id", p->id);
    json_array(j, "rules");
    EACH_RULE (g, p->rules, r, i) {
        stats_add(&s, r);
        if (!g->with_rules)
            continue;
        json_object(j, NULL);
        json_u64(j, "sig_id", r->sid);
        json_object_end(j);
    }
    json_array_end(j);
    json_object(j, "stats");
    json_u64(j, "total", p->count);
    write_types(j, &s);
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++)
        if (s.proto[id] > 0)
            write_proto(j, g, p->rules, (enum app_proto_id)id, s.proto[id]);
    if (g->with_patterns)
        write_patterns(j, g, p->rules);
    json_object_end(j);
    json_u64(j, "score", p->weight);
    json_object_end(j);
}

/* --- the report --------------------------------------------------------------------------- */

/* Protocols without ports have one range per direction. */
static void full_range_of(struct grouping *g, uint8_t ip_proto, unsigned direction,
                          rule_range_array *out)
{
    struct rule_range p = { .rules = xcalloc(g->words, sizeof(uint64_t)) };

    for (size_t i = 0; i < g->set->rules.count; i++)
        if (concerns(g->set->rules.at[i], ip_proto, direction))
            p.rules[i >> 6] |= 1ull << (i & 63);
    ARRAY_PUSH(out, p);
    ranges_coalesce(g, out);
    ranges_number(g, out);
}

static void write_ports(struct json *j, const struct grouping *g, const rule_range_array *ranges)
{
    for (size_t i = 0; i < ranges->count; i++) {
        json_object(j, NULL);
        json_u64(j, "port", ranges->at[i].lo);
        json_u64(j, "port2", ranges->at[i].hi);
        write_group(j, g, &ranges->at[i]);
        json_object_end(j);
    }
}

static void write_direction(struct json *j, const struct grouping *g, bool has_ports,
                            const char *name, const rule_range_array *ranges)
{
    if (has_ports) {
        json_array(j, name);
        write_ports(j, g, ranges);
        json_array_end(j);
    } else if (ranges->count > 0) {
        json_object(j, name);
        write_group(j, g, &ranges->at[0]);
        json_object_end(j);
    }
}

/* Numbers are given to groups with ports first, in Suricata's order, then the report is
 * written. */
static void write_all(struct buf *out, struct grouping *g)
{
    /* In the order of the report; those with ports are numbered first. */
    static const struct { const char *name; uint8_t ip_proto; bool has_ports; } of[] = {
        { "icmpv4", 1, false }, { "tcp", 6, true }, { "udp", 17, true }, { "icmpv6", 58, false },
    };
    rule_range_array ranges[ARRAY_LEN(of)][2] = { 0 };
    struct json j;

    for (unsigned pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < ARRAY_LEN(of); i++)
            for (unsigned d = 0; d < 2 && of[i].has_ports == (pass == 0); d++)
                (of[i].has_ports ? rule_ranges_of : full_range_of)(g, of[i].ip_proto, d,
                                                                   &ranges[i][d]);
    json_init(&j, out);
    json_object(&j, NULL);
    for (size_t i = 0; i < ARRAY_LEN(of); i++) {
        json_object(&j, of[i].name);
        write_direction(&j, g, of[i].has_ports, "toserver", &ranges[i][TO_SERVER]);
        write_direction(&j, g, of[i].has_ports, "toclient", &ranges[i][TO_CLIENT]);
        json_object_end(&j);
        ranges_free(&ranges[i][TO_SERVER]);
        ranges_free(&ranges[i][TO_CLIENT]);
    }
    json_object_end(&j);
    buf_add_u8(out, '\n');
}

/* struct grouping has 16 KB of ports, so it is on the heap. */
void analysis_groups_json(struct buf *out, const struct ruleset *set,
                          const struct conf_node *root)
{
    struct grouping *g = xcalloc(1, sizeof(*g));

    g->set = set;
    g->words = set->rules.count / 64 + 1;
    g->with_rules = conf_bool(root, "detect.profiling.grouping.include-rules", false);
    g->with_patterns = conf_bool(root, "detect.profiling.grouping.include-mpm-stats", false);
    limits_read(g, root);
    busy_ports_read(g, root, 0);
    busy_ports_read(g, root, 1);
    write_all(out, g);
    free(g);
}
