/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf/values.c - values with which Suricata 8.0 does not start, of keys that have little or no
 * effect here. A mistake in such a key is found here too, whichever engine is started first. */
#include "conf/conf.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/memory/buf.h"

/* Bounds are of a size: a packet's in memory is 32 bits wide in Suricata, and the table of address
 * pairs has 4096 buckets of 64 bytes. */
struct checked {
    const char *path;
    const char *const *words;       /* NULL: a size */
    uint64_t least, most;
};

static const char *const mpm[] = { "auto", "ac", "ac-bs", "ac-ks", "hs", NULL };
static const char *const spm[] = { "auto", "bm", "hs", NULL };
static const char *const context[] = { "auto", "full", "single", NULL };

static const struct checked checked[] = {
    { "mpm-algo", mpm, 0, 0 },
    { "spm-algo", spm, 0, 0 },
    { "detect.sgh-mpm-context", context, 0, 0 },
    { "default-packet-size", NULL, 0, UINT32_MAX },
    { "ippair.memcap", NULL, 4096 * 64, UINT64_MAX },
};

/* As in Suricata, a search that the build lacks is an error: it was asked for by name. */
static void check_built(const struct conf_node *node, const struct checked *c)
{
    if ((c->words == mpm || c->words == spm) && strcmp(node->value, "hs") == 0)
        conf_fatal(node, "hs needs libhs (Hyperscan, Vectorscan), which this build does not have; "
                   "auto does not need it");
}

/* Only lower case matches, as in Suricata. */
static void check_word(const struct conf_node *node, const struct checked *c, bool has_hs)
{
    struct buf all = { 0 };

    for (size_t i = 0; c->words[i] != NULL; i++) {
        if (node->value != NULL && strcmp(node->value, c->words[i]) == 0) {
            if (!has_hs)
                check_built(node, c);
            buf_fini(&all);
            return;
        }
        buf_printf(&all, "%s%s", i > 0 ? ", " : "", c->words[i]);
    }
    conf_fatal(node, "expected one of %.*s, got \"%s\"", (int)all.len, (const char *)all.data,
               node->value != NULL ? node->value : "");
    buf_fini(&all);
}

static void check_size(const struct conf_node *node, const struct checked *c)
{
    uint64_t size = conf_size(node, NULL, c->least);

    if (size < c->least || size > c->most)
        conf_fatal(node, "expected %llu bytes or %s, got \"%s\"",
                   (unsigned long long)(size < c->least ? c->least : c->most),
                   size < c->least ? "more" : "less", node->value);
}

void conf_check_values(const struct conf_node *root, bool has_hs)
{
    for (size_t i = 0; i < sizeof(checked) / sizeof(checked[0]); i++) {
        const struct checked *c = &checked[i];
        const struct conf_node *node = conf_find(root, c->path);

        if (node == NULL || node->kind == CONF_NULL)
            continue;
        if (c->words != NULL)
            check_word(node, c, has_hs);
        else if (node->kind == CONF_SCALAR)
            check_size(node, c);
    }
}
