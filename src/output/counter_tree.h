/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/counter_tree.h - counters as the tree that their dotted names describe. */
#ifndef OUTPUT_COUNTER_TREE_H
#define OUTPUT_COUNTER_TREE_H

#include "base/report/counters.h"
#include "base/report/json.h"

struct counter_tree;

/* Creates a tree of all counters registered so far; children are in the order of registration. */
struct counter_tree *counter_tree_new(void);
void counter_tree_free(struct counter_tree *tree);

/* Adds members that are not counters to the branch of this name at the root; may be NULL. */
typedef void (*counter_branch_fn)(struct json *j, const char *name, void *arg);

/* Selects the values to write. */
struct counter_values {
    uint64_t (*value)(counter_id id, void *arg);
    void *arg;
    const uint64_t *previous;   /* values of the last round, by id, for "_delta" members; NULL:
                                 * none */
    bool zeros;                 /* writes counters that are zero too */
    bool own;                   /* writes counters that Suricata does not have */
    counter_branch_fn extra;    /* NULL: none */
    void *extra_arg;
};

/* Writes all branches with values as members of the open object. */
void counter_tree_write(const struct counter_tree *tree, struct json *j,
                        const struct counter_values *values);

#endif
