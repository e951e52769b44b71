/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/cpu_list.h - the language of CPU lists, for affinity.c. */
#ifndef ENGINE_CPU_LIST_H
#define ENGINE_CPU_LIST_H

#include "conf/conf.h"
#include "engine/affinity.h"

struct cpu_list {
    const struct topology *topology;
    const char *const *interfaces;      /* NULL-ended; for `nic` */
    struct diagnostics *diagnostics;
    const char *what;                   /* "worker-cpu-set: cpu" for messages */
    bool may_exceed;                    /* CPUs that do not exist cause a warning, not an error */
    /* Returns the CPUs of a named set, for "!management"; -1 with *err when there is no such
     * set. */
    int (*named)(void *arg, enum cpu_role role, struct cpu_set *out, struct err *err);
    void *named_arg;

    struct cpu_set cpus;                /* result */
    bool is_auto;                       /* the list contains `auto` */
};

/* node: a list of scalars, or one scalar with commas. */
int cpu_list_parse(struct cpu_list *l, const struct conf_node *node, struct err *err);

#endif
