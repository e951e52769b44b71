/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf/yaml_private.h - one YAML file being read: load.c finds and opens it, yaml.c reads its
 * events, yaml_problem.c explains errors. */
#ifndef CONF_YAML_PRIVATE_H
#define CONF_YAML_PRIVATE_H

#include "base/containers/map.h"
#include "conf/conf_private.h"

#include <sys/types.h>
#include <yaml.h>

struct yaml_file {
    struct conf *conf;
    struct err *err;
    const struct yaml_file *from;   /* the file that includes this one */
    const char *name;               /* path in messages; owned by the configuration */
    dev_t device;                   /* identify the file, to detect that it includes itself; */
    ino_t inode;                    /* both 0 for text in memory */
    unsigned depth;                 /* nesting depth, includes counted */
    const char *text;
    size_t len;
    yaml_parser_t parser;
    struct map anchors;             /* name to struct conf_node */
};

/* Adds the contents of the file to `into`. */
int yaml_read_file(struct yaml_file *f, struct conf_node *into);

/* Reads another file into `into`. `at`: location of the include. */
int yaml_include(struct yaml_file *from, struct text path, struct where at,
                 struct conf_node *into);

/* Fills in f->err from the error of libyaml; returns -1. */
int yaml_problem(struct yaml_file *f);

#endif
