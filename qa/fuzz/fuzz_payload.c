/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/fuzz_payload.c - any options of a rule against any payload: a line with the options,
 * then the bytes. What loads is run through prefilter and program, with the program alone as the
 * witness for rules of one list. */
#include "base/report/log.h"
#include "detect/compile/compile.h"
#include "detect/rule/program.h"
#include "detect/tests/rules_helper.h"

#include <stdlib.h>
#include <string.h>

int fuzz_input(const uint8_t *data, size_t size);

static void discard(void *self, const struct log_message *m)
{
    (void)self;
    (void)m;
}

static const struct log_sink_ops silent = { .write = discard };

static void run(const struct test_rules *rules, const uint8_t *payload, size_t len)
{
    uint8_t *copy = malloc(len + 1);
    struct packet p = { .payload = copy, .payload_len = (uint32_t)len, .ip_proto = 17,
                        .src.version = 4, .dst.version = 4 };

    if (copy == NULL)
        return;
    memcpy(copy, payload, len);
    test_rules_inspect(rules->thread, &p);
    packet_fini(&p);
    free(copy);
}

int fuzz_input(const uint8_t *data, size_t size)
{
    const uint8_t *line = size > 0 ? memchr(data, '\n', size) : NULL;
    struct test_rules rules;
    static bool quiet;

    if (!quiet) {
        log_add_sink(&silent, NULL, LOG_LEVEL_ERROR);
        quiet = true;
    }
    if (line == NULL || line - data > 1000 || memchr(data, '\0', (size_t)(line - data)) != NULL)
        return 0;
    /* Files are no business of a fuzzer. */
    if (memmem(data, (size_t)(line - data), "data", 4) != NULL)
        return 0;
    if (test_rules_load(&rules, "alert udp any any -> any any (%.*s sid:1;)", (int)(line - data),
                        (const char *)data))
        run(&rules, line + 1, size - (size_t)(line + 1 - data));
    test_rules_free(&rules);
    return 0;
}
