/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/flow/config.c - settings for the transaction that a rule matched. */
#include "detect/keyword.h"

/* "logging disable, type tx, scope tx" is the one combination that there is. */
static int config_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct text rest = in, part;
    static const char *const wanted[] = { "logging disable", "type tx", "scope tx" };
    bool seen[ARRAY_LEN(wanted)] = { false };

    while (text_split(&rest, ',', &part)) {
        size_t i = 0;

        while (i < ARRAY_LEN(wanted) && !text_equal(part, wanted[i]))
            i++;
        if (i == ARRAY_LEN(wanted) || seen[i])
            return rule_error(p, "config: want \"logging disable, type tx, scope tx\", found "
                              "\"%.*s\"", TEXT(part));
        seen[i] = true;
    }
    if (!seen[0])
        return rule_error(p, "config: want \"logging disable, type tx, scope tx\", found "
                          "\"%.*s\"", TEXT(in));
    return 0;
}

static bool config_match(const struct match_input *in, const void *arg UNUSED)
{
    if (in->tx != NULL)
        in->tx->no_log = true;
    return true;
}

const struct keyword_ops keyword_config = {
    .name = "config",
    .doc = "switch logging of the matched transaction off",
    .features = "supports firewall",
    .point = POINT_POST,
    .parse = config_parse,
    .match = config_match,
};
