/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/os_policy.c - the operating system of a host by address: `host-os-policy`. A short list of
 * prefixes, longest first, which is searched once per stream. */
#include "stream/os_policy.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

struct os_prefix {
    struct ip ip;
    uint8_t bits, os;
};

struct os_policies {
    ARRAY_OF(struct os_prefix) list;
};

/* Suricata's names; first and last are for tests. */
static const char *const os_names[OS_POLICY_COUNT] = {
    [OS_NONE] = "none",
    [OS_BSD] = "bsd",
    [OS_BSD_RIGHT] = "bsd-right",
    [OS_OLD_LINUX] = "old-linux",
    [OS_LINUX] = "linux",
    [OS_OLD_SOLARIS] = "old-solaris",
    [OS_SOLARIS] = "solaris",
    [OS_HPUX10] = "hpux10",
    [OS_HPUX11] = "hpux11",
    [OS_IRIX] = "irix",
    [OS_MACOS] = "macos",
    [OS_WINDOWS] = "windows",
    [OS_VISTA] = "vista",
    [OS_WINDOWS2K3] = "windows2k3",
    [OS_FIRST] = "first",
    [OS_LAST] = "last",
};

const char *os_policy_name(enum os_policy os)
{
    return os < OS_POLICY_COUNT && os_names[os] != NULL ? os_names[os] : "unknown";
}

enum os_policy os_policy_by_name(const char *name)
{
    for (unsigned i = OS_NONE; i < OS_POLICY_COUNT; i++)
        if (strcmp(name, os_names[i]) == 0)
            return (enum os_policy)i;
    return OS_UNKNOWN;
}

/* "default" is 0.0.0.0/0, as in Suricata; it only covers IPv4. */
static int add_prefix(struct os_policies *policies, const struct conf_node *node,
                      struct text text, enum os_policy os, struct err *err)
{
    struct os_prefix prefix = { .os = (uint8_t)os };
    struct text address = { NULL, 0 };
    uint64_t bits;

    text = text_trim(text);
    if (text_equal_nocase(text, "default"))
        text = TEXT_LITERAL("0.0.0.0/0");
    (void)text_split(&text, '/', &address);
    if (!ip_parse(address, &prefix.ip))
        return err_at(err, node->at,
                      "host-os-policy: expected an address or ADDRESS/BITS, got \"%s\"",
                      node->value);
    bits = prefix.ip.version == 4 ? 32 : 128;
    if (text.n > 0 && !text_to_u64(text, bits, &bits))
        return err_at(err, node->at, "host-os-policy: bad prefix length in \"%s\"", node->value);
    prefix.bits = (uint8_t)bits;
    ARRAY_PUSH(&policies->list, prefix);
    return 0;
}

/* Takes a scalar with commas ("10.0.0.0/8, 192.168.1.1") or a YAML list. */
static int add_list(struct os_policies *policies, const struct conf_node *node, enum os_policy os,
                    struct err *err)
{
    if (node->kind == CONF_SCALAR) {
        struct text rest = text_of(node->value), part;

        while (text_split(&rest, ',', &part))
            if (part.n > 0 && add_prefix(policies, node, part, os, err) < 0)
                return -1;
        return 0;
    }
    CONF_EACH(child, node)
        if (add_list(policies, child, os, err) < 0)
            return -1;
    return 0;
}

static int longest_first(const void *a, const void *b)
{
    const struct os_prefix *x = a, *y = b;

    return (int)y->bits - (int)x->bits;
}

struct os_policies *os_policies_new(const struct conf_node *root, struct err *err)
{
    struct os_policies *policies = xcalloc(1, sizeof(*policies));
    const struct conf_node *all = conf_find(root, "host-os-policy");

    CONF_EACH(node, all) {
        enum os_policy os = os_policy_by_name(node->name);

        if (os == OS_UNKNOWN || os >= OS_FIRST) {
            conf_error(node, "host-os-policy: no system named \"%s\"", node->name);
            continue;
        }
        if (add_list(policies, node, os, err) < 0) {
            os_policies_free(policies);
            return NULL;
        }
    }
    if (policies->list.count > 0)
        qsort(policies->list.at, policies->list.count, sizeof(policies->list.at[0]),
              longest_first);
    return policies;
}

void os_policies_free(struct os_policies *policies)
{
    if (policies == NULL)
        return;
    ARRAY_FREE(&policies->list);
    free(policies);
}

static bool prefix_has(const struct os_prefix *prefix, const struct ip *ip)
{
    unsigned complete = prefix->bits / 8, rest = prefix->bits % 8;
    uint8_t mask = (uint8_t)(0xff00u >> rest);

    return prefix->ip.version == ip->version && memcmp(prefix->ip.b, ip->b, complete) == 0 &&
           (rest == 0 || ((prefix->ip.b[complete] ^ ip->b[complete]) & mask) == 0);
}

/* Systems with the same policy share one; unknown hosts are BSD. */
enum os_policy os_policy_find(const struct os_policies *policies, const struct ip *ip)
{
    for (size_t i = 0; policies != NULL && i < policies->list.count; i++) {
        if (!prefix_has(&policies->list.at[i], ip))
            continue;
        switch (policies->list.at[i].os) {
        case OS_BSD_RIGHT:
            return OS_BSD;
        case OS_OLD_SOLARIS:
            return OS_SOLARIS;
        default:
            return (enum os_policy)policies->list.at[i].os;
        }
    }
    return OS_BSD;
}
