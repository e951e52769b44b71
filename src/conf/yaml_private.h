/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf/yaml_private.h - one YAML file being read: load.c finds and opens it, yaml.c reads its
 * events, yaml_problem.c says what is wrong with it. */
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
    const char *name;               /* as the user sees it; the configuration's */
    dev_t device;                   /* of the file, to notice that it includes itself; */
    ino_t inode;                    /* both 0 for text in memory */
    unsigned depth;                 /* of nesting, includes and all */
    const char *text;
    size_t len;
    yaml_parser_t parser;
    struct map anchors;             /* name to struct conf_node */
};

/* What the file holds, added to `into`. */
int yaml_read_file(struct yaml_file *f, struct conf_node *into);

/* Reads another file into `into`. `at`: where it is asked for. */
int yaml_include(struct yaml_file *from, struct text path, struct where at,
                 struct conf_node *into);

/* Fills in f->err from what libyaml stumbled over; -1. */
int yaml_problem(struct yaml_file *f);

#endif
