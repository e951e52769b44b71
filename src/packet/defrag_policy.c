/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/defrag_policy.c - overlap policies of operating systems, and settings by address. */
#include "packet/defrag_policy.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Whether the older fragment keeps the common bytes, for each kind of system ("target-based"
 * reassembly). An IDS that decides otherwise than the receiver can be evaded. */
bool defrag_policy_keeps_old(enum defrag_policy policy, uint32_t old_start, uint32_t old_end,
                             uint32_t new_start, uint32_t new_end)
{
    switch (policy) {
    case DEFRAG_FIRST:
        return true;
    case DEFRAG_LAST:
        return false;
    case DEFRAG_BSD:            /* the one that starts first; of equal starts the older */
        return old_start <= new_start;
    case DEFRAG_LINUX:          /* the one that starts first; of equal starts the newer */
        return old_start < new_start;
    case DEFRAG_BSD_RIGHT:      /* the one that starts last; of equal starts the newer */
        return old_start > new_start;
    case DEFRAG_WINDOWS:        /* the older, unless the newer exceeds it on both sides */
        return !(new_start < old_start && new_end > old_end);
    case DEFRAG_SOLARIS:        /* the same, but an equal end is enough */
        return !(new_start < old_start && new_end >= old_end);
    }
    return true;
}

struct ip_setting {
    struct ip ip;
    unsigned bits;
    uint32_t value;
};

/* A few entries, searched once per datagram. */
struct ip_settings {
    ARRAY_OF(struct ip_setting) list;
};

static bool prefix_has(const struct ip_setting *s, const struct ip *ip)
{
    unsigned complete = s->bits / 8, rest = s->bits % 8;

    if (s->ip.version != ip->version || memcmp(s->ip.b, ip->b, complete) != 0)
        return false;
    return rest == 0 || ((s->ip.b[complete] ^ ip->b[complete]) >> (8 - rest)) == 0;
}

/* The value of the longest prefix that contains the address. */
uint32_t ip_settings_find(const struct ip_settings *s, const struct ip *ip, uint32_t otherwise)
{
    const struct ip_setting *best = NULL;

    for (size_t i = 0; i < s->list.count; i++)
        if (prefix_has(&s->list.at[i], ip) && (best == NULL || s->list.at[i].bits > best->bits))
            best = &s->list.at[i];
    return best != NULL ? best->value : otherwise;
}

void ip_settings_free(struct ip_settings *s)
{
    if (s == NULL)
        return;
    ARRAY_FREE(&s->list);
    free(s);
}

/* An address, or an address with a prefix length. */
static bool parse_prefix(struct text t, struct ip_setting *out)
{
    struct text rest = t, address = { 0 }, bits = { 0 };
    uint64_t n;

    if (!text_split(&rest, '/', &address) || !ip_parse(address, &out->ip))
        return false;
    out->bits = out->ip.version == 4 ? 32 : 128;
    if (!text_split(&rest, '/', &bits))
        return true;
    if (!text_to_u64(bits, out->bits, &n))
        return false;
    out->bits = (unsigned)n;
    return true;
}

static void add_addresses(struct ip_settings *s, const struct conf_node *node, uint32_t value)
{
    struct text rest = text_of(node->value), one;

    while (text_split(&rest, ',', &one)) {
        struct ip_setting entry = { .value = value };

        if (one.n == 0)
            continue;
        if (parse_prefix(one, &entry))
            ARRAY_PUSH(&s->list, entry);
        else
            conf_error(node, "expected an address or a prefix, got \"%.*s\"", TEXT(one));
    }
}

/* A list of addresses, or a single one. */
static void add_node(struct ip_settings *s, const struct conf_node *node, uint32_t value)
{
    if (node == NULL)
        return;
    if (node->kind == CONF_SCALAR)
        add_addresses(s, node, value);
    CONF_EACH(item, node)
        add_node(s, item, value);
}

/* The systems of `host-os-policy`, with Suricata's names. */
static const struct {
    const char *name;
    enum defrag_policy policy;
} systems[] = {
    { "bsd", DEFRAG_BSD },
    { "hpux10", DEFRAG_BSD },
    { "irix", DEFRAG_BSD },
    { "bsd-right", DEFRAG_BSD_RIGHT },
    { "linux", DEFRAG_LINUX },
    { "old-linux", DEFRAG_LINUX },
    { "old-solaris", DEFRAG_FIRST },
    { "hpux11", DEFRAG_FIRST },
    { "macos", DEFRAG_FIRST },
    { "first", DEFRAG_FIRST },
    { "solaris", DEFRAG_SOLARIS },
    { "windows", DEFRAG_WINDOWS },
    { "vista", DEFRAG_WINDOWS },
    { "windows2k3", DEFRAG_WINDOWS },
    { "last", DEFRAG_LAST },
};

/* Mistakes are reported and skipped, like those of other settings. */
struct ip_settings *defrag_policy_load(const struct conf_node *root)
{
    struct ip_settings *s = xcalloc(1, sizeof(*s));

    CONF_EACH(os, conf_find(root, "host-os-policy")) {
        unsigned i = 0;

        while (i < ARRAY_LEN(systems) && strcasecmp(systems[i].name, os->name) != 0)
            i++;
        if (i == ARRAY_LEN(systems))
            conf_error(os, "host-os-policy: \"%s\" is no operating system known here", os->name);
        else
            add_node(s, os, systems[i].policy);
    }
    return s;
}

#define TIMEOUT_MAX_S 86400

static void load_host(struct ip_settings *s, const struct conf_node *host)
{
    const struct conf_node *address = conf_find(host, "address");

    if (address != NULL)
        add_node(s, address,
                 (uint32_t)conf_u64_range(host, "timeout", 60, 1, TIMEOUT_MAX_S));
}

/* host-config is a list of maps with one named map each, or one map of named maps. */
struct ip_settings *defrag_timeout_load(const struct conf_node *root)
{
    struct ip_settings *s = xcalloc(1, sizeof(*s));

    CONF_EACH(item, conf_find(root, "defrag.host-config")) {
        load_host(s, item);
        if (conf_find(item, "address") == NULL)
            CONF_EACH(host, item)
                load_host(s, host);
    }
    return s;
}
