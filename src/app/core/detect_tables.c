/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/detect_tables.c - builds the tables for recognition: pattern sets, and the ports of each
 * probe as declared or as configured. All of it happens once, before the workers start; they only
 * read the tables. */
#include "app/core/detect_tables.h"

#include "app/core/settings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- patterns --------------------------------------------------------------------------------- */

static struct app_pattern_set *set_new(void)
{
    struct app_pattern_set *set = xcalloc(1, sizeof(*set));

    for (unsigned i = 0; i < ARRAY_LEN(set->first); i++)
        set->first[i] = PATTERN_NONE;
    set->floating = PATTERN_NONE;
    return set;
}

/* Appends, so that a list keeps the order in which protocols register: earlier ones win. */
static void list_append(struct app_pattern_set *set, uint16_t *head, uint16_t index)
{
    while (*head != PATTERN_NONE)
        head = &set->at[*head].next;
    *head = index;
}

/* A pattern at offset 0 without a range goes into the list of its first byte. All others may match
 * anywhere up to their depth, so every flow must try them. */
static void set_add(struct app_pattern_set *set, const struct app_proto *proto,
                    const struct app_pattern *pattern)
{
    uint16_t len = pattern->len != 0 ? pattern->len : (uint16_t)strlen(pattern->bytes);
    uint16_t depth = pattern->depth != 0 ? pattern->depth : (uint16_t)(pattern->offset + len);

    /* A floating pattern is in no first-byte list; a fixed one without case is in two. */
    bool fixed = pattern->offset == 0 && depth == len;
    uint8_t c = (uint8_t)pattern->bytes[0];
    uint8_t other = (uint8_t)(isupper(c) ? tolower(c) : toupper(c));
    unsigned copies = fixed && pattern->nocase && other != c ? 2 : 1;

    for (unsigned i = 0; i < copies; i++) {
        uint16_t index = (uint16_t)set->count;
        struct pattern_item item = { .proto = proto, .pattern = pattern, .len = len,
                                     .depth = depth, .next = PATTERN_NONE };

        ARRAY_PUSH(set, item);
        list_append(set, !fixed ? &set->floating : &set->first[i == 0 ? c : other], index);
    }
    set->max_depth = MAX(set->max_depth, depth);
    if (pattern->confirm != NULL)
        set->confirm_max = MAX(set->confirm_max, pattern->confirm_max);
}

/* Adds the patterns of one protocol to the set of each transport and direction that it names. */
static void add_patterns(struct app_detect_tables *tables, const struct app_proto_conf *pc)
{
    const struct app_pattern *pattern = pc->proto->patterns;

    for (; pattern != NULL && pattern->bytes != NULL; pattern++)
        for (unsigned t = 0; t < TRANSPORT_COUNT; t++)
            for (unsigned d = 0; d < 2; d++)
                if (pc->enabled[t] && (pattern->transport & TRANSPORT_BIT(t)) != 0 &&
                    (pattern->directions & APP_DIRECTION_BIT(d)) != 0)
                    set_add(tables->patterns[t][d], pc->proto, pattern);
}

/* --- ports of probes -------------------------------------------------------------------------- */

/* One element: a port, "low:high", "low:" up to 65535, or "any". False when low > high. */
static bool port_range(struct text t, uint16_t *low, uint16_t *high)
{
    struct text part, rest = t;
    uint64_t a, b;

    if (text_equal_nocase(t, "any")) {
        *low = 0;
        *high = UINT16_MAX;
        return true;
    }
    if (!text_split(&rest, ':', &part) || !text_to_u64(part, UINT16_MAX, &a))
        return false;
    if (memchr(t.p, ':', t.n) == NULL)
        b = a;
    else if (text_trim(rest).n == 0)
        b = UINT16_MAX;
    else if (!text_to_u64(text_trim(rest), UINT16_MAX, &b))
        return false;
    *low = (uint16_t)a;
    *high = (uint16_t)b;
    return a <= b;
}

static void note_spans(struct probe_spans *spans, uint16_t low, uint16_t high)
{
    for (unsigned span = low / 64; span <= high / 64; span++)
        spans->has[span / 64] |= UINT64_C(1) << span % 64;
}

/* Ports of a probe: "53", "80,443", "1024:", "[139, 445]", "any". Ranges before a bad one stay. */
static bool add_ports(struct app_detect_tables *tables, unsigned transport,
                      struct probe_entry entry, struct text ports)
{
    struct text part;

    ports = text_trim(ports);
    if (ports.n >= 2 && ports.p[0] == '[' && ports.p[ports.n - 1] == ']')
        ports = (struct text){ ports.p + 1, ports.n - 2 };
    while (text_split(&ports, ',', &part)) {
        if (!port_range(part, &entry.low, &entry.high))
            return false;
        ARRAY_PUSH(&tables->probes[transport], entry);
        note_spans(&tables->spans[transport][entry.by_source], entry.low, entry.high);
    }
    return true;
}

/* "toserver" and "toclient" are older names of the same keys. */
static const struct conf_node *ports_of_key(const struct conf_node *ports, const char *key,
                                            const char *old_key)
{
    const struct conf_node *node = conf_find(ports, key);

    return node != NULL ? node : conf_find(ports, old_key);
}

/* Bad ports are reported but never stop the start: the probe has no port then. */
static void add_configured(struct app_detect_tables *tables, unsigned transport,
                           struct probe_entry entry, const struct conf_node *node)
{
    if (node == NULL || node->value == NULL || node->value[0] == '\0')
        return;
    if (!add_ports(tables, transport, entry, text_of(node->value)))
        conf_warning(node, "failed to parse port \"%s\"; no port tells the protocol then",
                     node->value);
}

/* The protocol's own list goes before that of its transport. */
static const struct conf_node *configured_ports(const struct conf_node *root, const char *proto,
                                                unsigned transport)
{
    const struct conf_node *node;
    char path[128];

    snprintf(path, sizeof(path), "app-layer.protocols.%s.detection-ports", proto);
    node = conf_find(root, path);
    if (node != NULL)
        return node;
    snprintf(path, sizeof(path), "app-layer.protocols.%s.%s.detection-ports", proto,
             transport == TRANSPORT_TCP ? "tcp" : "udp");
    return conf_find(root, path);
}

/* Configured ports replace those that the protocol declares, both of destination and of source. A
 * probe without declared ports is only called by name, see probe_named(). */
static void add_probe(struct app_detect_tables *tables, unsigned transport,
                      const struct app_proto *proto, const struct app_probe *probe,
                      const struct conf_node *root)
{
    const struct conf_node *ports = configured_ports(root, proto->name, transport);
    struct probe_entry by_dest = { .proto = proto, .probe = probe };
    struct probe_entry by_source = { .proto = proto, .probe = probe, .by_source = true };

    if (probe->ports == NULL)
        return;
    if (ports != NULL) {
        add_configured(tables, transport, by_dest, ports_of_key(ports, "dp", "toserver"));
        add_configured(tables, transport, by_source,
                       ports_of_key(ports, "sp", "toclient"));
        return;
    }
    add_ports(tables, transport, by_dest, text_of(probe->ports));
    if (probe->source_ports != NULL)
        add_ports(tables, transport, by_source, text_of(probe->source_ports));
}

static void add_probes(struct app_detect_tables *tables, const struct app_proto_conf *pc,
                       const struct conf_node *root)
{
    const struct app_probe *probe = pc->proto->probes;

    for (; probe != NULL && probe->probe != NULL; probe++)
        for (unsigned t = 0; t < TRANSPORT_COUNT; t++)
            if (pc->enabled[t] && (probe->transport & TRANSPORT_BIT(t)) != 0)
                add_probe(tables, t, pc->proto, probe, root);
}

/* Returns 0 in all cases; the result is for the caller's chain of checks. */
int app_detect_tables_build(struct app_conf *conf, const struct conf_node *root,
                            struct err *err UNUSED)
{
    struct app_detect_tables *tables = &conf->detect;

    tables->conf = conf;
    tables->midstream = conf_bool(root, "stream.midstream", false);
    for (unsigned t = 0; t < TRANSPORT_COUNT; t++)
        for (unsigned d = 0; d < 2; d++)
            tables->patterns[t][d] = set_new();
    for (unsigned i = 0; i < APP_PROTO_MAX; i++) {
        if (conf->proto[i].proto == NULL)
            continue;
        add_patterns(tables, &conf->proto[i]);
        add_probes(tables, &conf->proto[i], root);
    }
    return 0;
}

/* Copes with sets that were never built, when reading the settings failed before. */
void app_detect_tables_free(struct app_detect_tables *tables)
{
    for (unsigned t = 0; t < TRANSPORT_COUNT; t++) {
        ARRAY_FREE(&tables->probes[t]);
        for (unsigned d = 0; d < 2; d++) {
            if (tables->patterns[t][d] != NULL)
                ARRAY_FREE(tables->patterns[t][d]);
            free(tables->patterns[t][d]);
        }
    }
}
