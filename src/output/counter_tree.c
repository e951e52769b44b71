/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/counter_tree.c - builds the tree once per change of the registry, walks it per round. */
#include "output/counter_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Cannot be an id: those have 16 bits. */
#define NO_COUNTER UINT32_MAX

/* One part of a dotted name. A node owns its name and its children. */
struct counter_tree {
    char *name;
    uint32_t counter;               /* NO_COUNTER: a branch only */
    ARRAY_OF(struct counter_tree *) child;
};

static struct counter_tree *node_new(const char *name, size_t len)
{
    struct counter_tree *node = xcalloc(1, sizeof(*node));

    node->name = text_dup((struct text){ name, len });
    node->counter = NO_COUNTER;
    return node;
}

/* Finds the child of this name, else adds it after the others, so that members of a
 * record keep the order of registration. */
static struct counter_tree *node_child(struct counter_tree *node, const char *name, size_t len)
{
    struct counter_tree *child;

    for (size_t i = 0; i < node->child.count; i++) {
        child = node->child.at[i];
        if (strlen(child->name) == len && memcmp(child->name, name, len) == 0)
            return child;
    }
    child = node_new(name, len);
    ARRAY_PUSH(&node->child, child);
    return child;
}

/* "decoder.ipv4" is the child "ipv4" of the root's child "decoder". No counter may have
 * the name of a branch: counter_tree_write() would not write it. */
struct counter_tree *counter_tree_new(void)
{
    struct counter_tree *root = node_new("", 0);

    for (unsigned id = 0; id < counter_count(); id++) {
        const char *name = counter_name((counter_id)id);
        struct counter_tree *node = root;

        while (*name != '\0') {
            size_t len = strcspn(name, ".");

            node = node_child(node, name, len);
            name += len + (name[len] == '.');
        }
        node->counter = id;
    }
    return root;
}

void counter_tree_free(struct counter_tree *tree)
{
    if (tree == NULL)
        return;
    for (size_t i = 0; i < tree->child.count; i++)
        counter_tree_free(tree->child.at[i]);
    ARRAY_FREE(&tree->child);
    free(tree->name);
    free(tree);
}

/* A delta may be negative: gauges fall, too. */
static void write_value(const struct counter_tree *node, struct json *j, uint64_t now,
                        const uint64_t *previous)
{
    char key[128];

    json_u64(j, node->name, now);
    if (previous == NULL)
        return;
    snprintf(key, sizeof(key), "%s_delta", node->name);
    json_i64(j, key, (int64_t)(now - previous[node->counter]));
}

static void write_counter(const struct counter_tree *node, struct json *j,
                          const struct counter_values *values)
{
    counter_id id = (counter_id)node->counter;
    uint64_t now;

    if (counter_is_own(id) && !values->own)
        return;
    now = values->value(id, values->arg);
    if (now != 0 || values->zeros)
        write_value(node, j, now, values->previous);
}

/* Recursive; the depth is that of the dotted names. A branch without a counter to write leaves no
 * empty object: the writer returns to the object's start. */
void counter_tree_write(const struct counter_tree *tree, struct json *j,
                        const struct counter_values *values)
{
    struct counter_values below = *values;

    below.extra = NULL;         /* only branches at the root have more than counters */
    for (size_t i = 0; i < tree->child.count; i++) {
        const struct counter_tree *node = tree->child.at[i];

        if (node->child.count > 0) {
            struct json_mark mark = json_mark(j);
            size_t empty;

            json_object(j, node->name);
            empty = j->out->len;
            if (values->extra != NULL)
                values->extra(j, node->name, values->extra_arg);
            counter_tree_write(node, j, &below);
            if (j->out->len == empty)
                json_rewind(j, mark);
            else
                json_object_end(j);
        } else if (node->counter != NO_COUNTER) {
            write_counter(node, j, values);
        }
    }
}
