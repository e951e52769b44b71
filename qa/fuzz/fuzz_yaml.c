/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/fuzz_yaml.c - any bytes as a configuration: loaded, looked up, set, checked, dumped. */
#include "base/report/log.h"
#include "conf/conf.h"
#include "conf/vars.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int fuzz_input(const uint8_t *data, size_t size);

static void count_line(const char *text, void *arg)
{
    *(size_t *)arg += strlen(text);
}

static void discard(void *self, const struct log_message *m)
{
    (void)self;
    (void)m;
}

static const struct log_sink_ops silent = { .write = discard };

/* The check of keys reads the outline of all keys each time: half of the time, so not for all. */
static void use(struct conf *conf, bool checks_keys)
{
    const struct conf_node *root = conf_root(conf);
    size_t dumped = 0;

    conf_set(conf, "outputs.1.eve-log.types.0.alert.packet", "yes");
    conf_set(conf, "a.b", "c");
    conf_bool(root, "outputs.1.eve-log.types.0.alert.packet", false);
    conf_size(root, "a", 1);
    conf_duration_ms(root, "a", 1);
    conf_var(conf, "HOME_NET");
    if (checks_keys)
        conf_check_keys(conf, NULL);
    conf_dump(conf, count_line, &dumped);
}

int fuzz_input(const uint8_t *data, size_t size)
{
    static bool is_silent;
    char *text = malloc(size + 1);
    struct conf *conf = conf_new();
    struct err err;

    if (!is_silent)
        log_add_sink(&silent, NULL, LOG_LEVEL_ERROR);
    is_silent = true;
    if (text != NULL) {
        if (size > 0)
            memcpy(text, data, size);
        text[size] = '\0';
        conf_load_string(conf, text, "fuzz.yaml", &err);
        use(conf, size % 4 == 0);       /* also what stood before a mistake */
    }
    conf_free(conf);
    free(text);
    return 0;
}
