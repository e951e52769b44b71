/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/fuzz_names.c - classification.config, a zero byte, reference.config; then what rules look
 * up in them. */
#include "detect/rule/classification.h"
#include "memory_file.h"
#include "quiet.h"

#include <string.h>

int fuzz_input(const uint8_t *data, size_t size);

static void look_up(struct rule_names *names)
{
    (void)rule_class_find(names, text_of("misc-activity"));
    (void)rule_class_add_unknown(names, text_of("not-there"));
    (void)rule_reference_prefix(names, text_of("url"));
}

int fuzz_input(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size > 0 ? memchr(data, 0, size) : NULL;
    size_t first = zero != NULL ? (size_t)(zero - data) : size;
    const char *classes = memory_file(0, data, first);
    const char *references = memory_file(1, data + first, size - first);
    static struct conf *conf;
    static struct arena arena;
    struct rule_names *names;

    if (conf == NULL) {
        quiet();
        conf = conf_new();
        conf_set(conf, "classification-file", classes);
        conf_set(conf, "reference-config-file", references);
        arena_init(&arena, 4096, 0);
    }
    names = rule_names_load(&arena, conf_root(conf));
    look_up(names);
    rule_names_fini(names);
    arena_reset(&arena);
    return 0;
}
