/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf/read.c - values by type. A malformed value is reported with its position, and the
 * default applies. A number is a warning then, as in Suricata, a yes or no and a word an error:
 * there Suricata says nothing. Only a memory limit or size that cannot be read ends the start,
 * because a run with another limit could fail in operation. */
#include "conf/conf.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const kind_names[] = {
    [CONF_NULL] = "nothing",
    [CONF_SCALAR] = "a value",
    [CONF_LIST] = "a list",
    [CONF_MAP] = "a section",
};

/* Returns the node if it has a value, else NULL. A list or a section is an error. */
static const struct conf_node *find_value(const struct conf_node *node, const char *path,
                                          const char *expected)
{
    const struct conf_node *found = conf_find(node, path);

    if (found == NULL || found->kind == CONF_NULL)
        return NULL;
    if (found->kind != CONF_SCALAR) {
        conf_error(found, "expected %s, found %s", expected, kind_names[found->kind]);
        return NULL;
    }
    return found;
}

/* The default applies then, so this is not fatal. */
static void malformed(const struct conf_node *node, const char *expected)
{
    conf_error(node, "expected %s, got \"%s\"", expected, node->value);
}

/* Borrowed from the tree. A list or section counts as missing. */
const char *conf_string(const struct conf_node *node, const char *path, const char *otherwise)
{
    const struct conf_node *found = conf_find(node, path);

    return found != NULL && found->kind == CONF_SCALAR ? found->value : otherwise;
}

bool conf_bool(const struct conf_node *node, const char *path, bool otherwise)
{
    const struct conf_node *found = find_value(node, path, "yes or no");
    bool value;

    if (found == NULL)
        return otherwise;
    if (text_to_bool(text_of(found->value), &value))
        return value;
    malformed(found, "yes or no");
    return otherwise;
}

/* Says which numbers are valid and which is used. A number outside the range is not cut to its
 * end. */
static void malformed_u64(const struct conf_node *node, uint64_t min, uint64_t max,
                          uint64_t otherwise)
{
    char range[64] = "";

    if (min > 0 || max < UINT64_MAX)
        snprintf(range, sizeof(range), " from %" PRIu64 " to %" PRIu64, min, max);
    conf_warning(node, "expected a number%s, got \"%s\"; the default is used: %" PRIu64, range,
                 node->value, otherwise);
}

/* NULL: *value is what it says, or `otherwise` where it says nothing. Else the node, which is
 * malformed; *value is `otherwise`. */
static const struct conf_node *malformed_range(const struct conf_node *node, const char *path,
                                               uint64_t *value, uint64_t min, uint64_t max)
{
    const struct conf_node *found = find_value(node, path, "a number");
    uint64_t n;

    if (found == NULL)
        return NULL;
    if (!text_to_u64(text_of(found->value), UINT64_MAX, &n) || n < min || n > max)
        return found;
    *value = n;
    return NULL;
}

uint64_t conf_u64_range(const struct conf_node *node, const char *path, uint64_t otherwise,
                        uint64_t min, uint64_t max)
{
    const struct conf_node *wrong = malformed_range(node, path, &otherwise, min, max);

    if (wrong != NULL)
        malformed_u64(wrong, min, max, otherwise);
    return otherwise;
}

uint64_t conf_u64_or_end(const struct conf_node *node, const char *path, uint64_t otherwise,
                         uint64_t min, uint64_t max)
{
    const struct conf_node *wrong = malformed_range(node, path, &otherwise, min, max);

    if (wrong != NULL)
        conf_fatal(wrong, "expected a number from %" PRIu64 " to %" PRIu64 ", got \"%s\"", min, max,
                   wrong->value);
    return otherwise;
}

uint64_t conf_u64_within(const struct conf_node *node, const char *path, uint64_t otherwise,
                         uint64_t min, uint64_t max)
{
    const struct conf_node *found = conf_find(node, path);
    int64_t value;

    if (found != NULL && found->kind == CONF_SCALAR && text_to_i64(text_of(found->value), &value))
        return conf_u64_or_end(node, path, otherwise, min, max);
    return conf_u64_range(node, path, otherwise, min, max);
}

uint64_t conf_u64(const struct conf_node *node, const char *path, uint64_t otherwise)
{
    return conf_u64_range(node, path, otherwise, 0, UINT64_MAX);
}

int64_t conf_i64(const struct conf_node *node, const char *path, int64_t otherwise)
{
    const struct conf_node *found = find_value(node, path, "a number");
    int64_t value;

    if (found == NULL)
        return otherwise;
    if (text_to_i64(text_of(found->value), &value))
        return value;
    conf_warning(found, "expected a number, got \"%s\"; the default is used: %" PRId64,
                 found->value, otherwise);
    return otherwise;
}

double conf_double(const struct conf_node *node, const char *path, double otherwise)
{
    const struct conf_node *found = find_value(node, path, "a number");
    double value;

    if (found == NULL)
        return otherwise;
    if (text_to_double(text_of(found->value), &value))
        return value;
    conf_warning(found, "expected a number such as 1.5, got \"%s\"; the default is used: %g",
                 found->value, otherwise);
    return otherwise;
}

static const char a_size[] = "a size such as 512, 100 KiB, 64mb or 1 GiB";

/* As malformed_range(). Bytes; 0 is a valid size, whose meaning depends on the key. */
static const struct conf_node *malformed_size(const struct conf_node *node, const char *path,
                                              uint64_t *value)
{
    const struct conf_node *found = find_value(node, path, a_size);
    uint64_t size;

    if (found == NULL)
        return NULL;
    if (!text_to_size(text_of(found->value), &size))
        return found;
    *value = size;
    return NULL;
}

uint64_t conf_size(const struct conf_node *node, const char *path, uint64_t otherwise)
{
    const struct conf_node *wrong = malformed_size(node, path, &otherwise);

    if (wrong != NULL)
        conf_fatal(wrong, "expected %s, got \"%s\"", a_size, wrong->value);
    return otherwise;
}

uint64_t conf_size_or_default(const struct conf_node *node, const char *path, uint64_t otherwise)
{
    const struct conf_node *wrong = malformed_size(node, path, &otherwise);

    if (wrong != NULL)
        conf_warning(wrong, "expected %s, got \"%s\"; the default is used: %" PRIu64, a_size,
                     wrong->value, otherwise);
    return otherwise;
}

/* Without a unit seconds, as in Suricata. */
static const struct { const char *unit; uint64_t ms; } time_units[] = {
    { "", 1000 },
    { "ms", 1 },
    { "s", 1000 },
    { "m", 60 * 1000 },
    { "h", 3600 * 1000 },
    { "d", 24 * 3600 * 1000 },
    { "w", 7 * 24 * 3600 * 1000 },
};

/* False also when the time does not fit into 64 bits of milliseconds. */
static bool duration_parse(struct text in, uint64_t *out)
{
    size_t digits = 0;
    struct text unit;
    uint64_t number;

    in = text_trim(in);
    while (digits < in.n && in.p[digits] >= '0' && in.p[digits] <= '9')
        digits++;
    if (!text_to_u64((struct text){ in.p, digits }, UINT64_MAX, &number))
        return false;
    unit = text_trim(text_from(in, digits));
    for (size_t i = 0; i < ARRAY_LEN(time_units); i++) {
        if (!text_equal_nocase(unit, time_units[i].unit))
            continue;
        if (number > UINT64_MAX / time_units[i].ms)
            return false;
        *out = number * time_units[i].ms;
        return true;
    }
    return false;
}

uint64_t conf_duration_ms(const struct conf_node *node, const char *path, uint64_t otherwise)
{
    static const char expected[] = "a time such as 30 (seconds), 250ms, 5m, 2h or 1d";
    const struct conf_node *found = find_value(node, path, expected);
    uint64_t value;

    if (found == NULL)
        return otherwise;
    if (duration_parse(text_of(found->value), &value))
        return value;
    conf_warning(found, "expected %s, got \"%s\"; the default is used: %" PRIu64 "ms", expected,
                 found->value, otherwise);
    return otherwise;
}

/* "no, yes, auto", for messages; cut when it is too long. */
static void join_words(const char *const *words, char *buf, size_t size)
{
    size_t used = 0;

    buf[0] = '\0';
    for (int i = 0; words[i] != NULL && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%s", i > 0 ? ", " : "", words[i]);
}

/* Returns the index of the word, or -1 after reporting that it is none of them. */
static int choose(const struct conf_node *found, const char *const *words,
                  void (*report)(const struct conf_node *, const char *, ...))
{
    char list[300];

    for (int i = 0; words[i] != NULL; i++)
        if (text_equal_nocase(text_of(found->value), words[i]))
            return i;
    join_words(words, list, sizeof(list));
    report(found, "expected one of %s, got \"%s\"", list, found->value);
    return -1;
}

/* An unknown word is an error, and the default applies. */
int conf_choice(const struct conf_node *node, const char *path, const char *const *words,
                int otherwise)
{
    const struct conf_node *found = find_value(node, path, "one word");
    int choice = found != NULL ? choose(found, words, conf_error) : otherwise;

    return choice >= 0 ? choice : otherwise;
}

/* An unknown word ends the start: for settings where a guess could be dangerous. */
int conf_choice_or_end(const struct conf_node *node, const char *path, const char *const *words,
                       int otherwise)
{
    const struct conf_node *found = find_value(node, path, "one word");
    int choice = found != NULL ? choose(found, words, conf_fatal) : otherwise;

    return choice >= 0 ? choice : otherwise;
}
