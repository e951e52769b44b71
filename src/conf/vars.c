/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf/vars.c - variables of rules: groups of addresses and ports, as text. Rules parse
 * the text. */
#include "conf/vars.h"

#include "base/memory/buf.h"
#include "conf/conf_private.h"

static const char *const group_paths[] = {
    [CONF_VAR_ADDRESS] = "vars.address-groups",
    [CONF_VAR_PORT] = "vars.port-groups",
};

const struct conf_node *conf_var_node(const struct conf_node *root, enum conf_var_kind kind,
                                      const char *name)
{
    const struct conf_node *group = conf_find(root, group_paths[kind]);

    return group != NULL ? conf_node_child(group, text_of(name)) : NULL;
}

/* Addresses first; the result is borrowed from the tree. */
const char *conf_var(const struct conf *conf, const char *name)
{
    const struct conf_node *node = conf_var_node(conf->root, CONF_VAR_ADDRESS, name);

    if (node == NULL)
        node = conf_var_node(conf->root, CONF_VAR_PORT, name);
    return node != NULL ? node->value : NULL;
}

/* A YAML list becomes "[a,b]", the notation of rules; lists may be nested. */
static void add_text(struct buf *out, const struct conf_node *node)
{
    if (node->kind != CONF_LIST) {
        buf_add_string(out, node->value);
        return;
    }
    buf_add_u8(out, '[');
    CONF_EACH(item, node) {
        if (item != node->child)
            buf_add_u8(out, ',');
        add_text(out, item);
    }
    buf_add_u8(out, ']');
}

/* After each load. The node stays a list, and gets a text as well. */
void conf_vars_normalize(struct conf *conf, struct conf_node *root)
{
    struct buf text = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(group_paths); i++) {
        const struct conf_node *group = conf_find(root, group_paths[i]);

        for (struct conf_node *var = group != NULL ? group->child : NULL; var != NULL;
             var = var->next) {
            if (var->kind != CONF_LIST)
                continue;
            buf_clear(&text);
            add_text(&text, var);
            var->value = arena_text(&conf->arena, (struct text){ (char *)text.data, text.len });
        }
    }
    buf_fini(&text);
}
