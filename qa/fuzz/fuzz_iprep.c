/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/fuzz_iprep.c - files of IP reputation: categories, a zero byte, addresses with scores. */
#include "detect/state/iprep.h"
#include "memory_file.h"
#include "quiet.h"

#include <stdlib.h>
#include <string.h>

int fuzz_input(const uint8_t *data, size_t size);

#define CATEGORIES 60   /* as in Suricata */

static struct conf *settings(const char *categories, const char *addresses)
{
    struct conf *conf = conf_new();

    conf_set(conf, "reputation-categories-file", categories);
    conf_set(conf, "reputation-files.0", addresses);
    return conf;
}

static void look_up(const struct iprep *rep)
{
    static const char *const addresses[] = { "0.0.0.0", "10.1.1.1", "255.255.255.255", "::",
                                             "2001:db8::7", "::ffff:10.1.1.1" };
    struct ip ip;

    for (unsigned i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        if (!ip_parse(text_of(addresses[i]), &ip))
            abort();
        for (unsigned category = 0; category < CATEGORIES; category += 7)
            if (iprep_score(rep, &ip, category) < -1 || iprep_score(rep, &ip, category) > 127)
                abort();
    }
    (void)iprep_category(rep, text_of("CnC"));
}

int fuzz_input(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size > 0 ? memchr(data, 0, size) : NULL;
    size_t first = zero != NULL ? (size_t)(zero - data) : size;
    static struct conf *conf;
    const char *categories = memory_file(0, data, first);
    const char *addresses = memory_file(1, data + first, size - first);
    struct iprep *rep;

    if (conf == NULL) {
        quiet();
        conf = settings(categories, addresses);
    }
    rep = iprep_load(conf_root(conf));
    if (rep != NULL)
        look_up(rep);
    iprep_free(rep);
    return 0;
}
