/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/requires.c - the keyword `requires`: checks whether the rule is meant for this
 * engine. "version >= 7.0.4 < 8 | >= 8.0.3, feature output::file-store, keyword foo". Versions are
 * those of Suricata, whose rule language ids reads. */
#include "config.h"

#include "app/proto.h"
#include "base/report/log.h"
#include "detect/rule/parser.h"

#include <stdio.h>
#include <string.h>

/* The release of Suricata whose rules this engine reads. */
#define LANGUAGE_MAJOR 8
#define LANGUAGE_MINOR 0
#define LANGUAGE_PATCH 6

struct version { unsigned part[3]; };

static int compare_versions(const struct version *a, const struct version *b)
{
    for (unsigned i = 0; i < 3; i++)
        if (a->part[i] != b->part[i])
            return a->part[i] < b->part[i] ? -1 : 1;
    return 0;
}

/* "8", "8.0", "8.0.6", "8.0.6-dev"; missing parts are 0. False: it is no version. */
static bool version_parse(struct text *in, struct version *out)
{
    struct text t = text_trim(*in);
    size_t n = 0;

    *out = (struct version){ { 0 } };
    while (n < t.n && t.p[n] != ' ' && t.p[n] != '|')
        n++;
    *in = text_from(t, n);
    t.n = n;
    for (unsigned i = 0; i < 3; i++) {
        struct text part = { t.p, 0 };
        uint64_t value;

        while (part.n < t.n && t.p[part.n] != '.' && t.p[part.n] != '-')
            part.n++;
        if (!text_to_u64(part, 255, &value))
            return false;
        out->part[i] = (unsigned)value;
        if (part.n == t.n || t.p[part.n] == '-')
            return true;
        t = text_from(t, part.n + 1);
    }
    return false;
}

/* Takes one comparison off *in; *valid false: there is none. */
static bool comparison_holds(struct text *in, bool *valid)
{
    static const struct version engine = { { LANGUAGE_MAJOR, LANGUAGE_MINOR, LANGUAGE_PATCH } };
    static const struct { const char *text; bool less, equal, more; } operators[] = {
        { ">=", false, true, true },  { ">", false, false, true },
        { "<=", true, true, false },  { "<", true, false, false },
    };
    struct version required;
    int c;

    *in = text_trim(*in);
    *valid = false;
    for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
        if (!text_starts(*in, operators[i].text))
            continue;
        *in = text_from(*in, strlen(operators[i].text));
        *valid = version_parse(in, &required);
        c = compare_versions(&engine, &required);
        return c < 0 ? operators[i].less : c > 0 ? operators[i].more : operators[i].equal;
    }
    return false;
}

/* "|" separates alternatives. Within one all comparisons must hold. */
static enum requires_result check_version(struct text in, struct err *err)
{
    struct text rest = in, alternative;
    bool any = false, valid = false;

    while (text_split(&rest, '|', &alternative)) {
        bool all = true;

        do {
            all &= comparison_holds(&alternative, &valid);
            alternative = text_trim(alternative);
        } while (valid && alternative.n > 0);
        if (!valid)
            break;
        any |= all;
    }
    if (!valid) {
        err_set(err, "requires: expected version and comparisons such as >= 8.0.1, found \"%.*s\"",
                TEXT(in));
        return REQUIRES_BAD;
    }
    if (any)
        return REQUIRES_MET;
    err_set(err, "the rule is for version %.*s, this is %d.%d.%d", TEXT(in), LANGUAGE_MAJOR,
            LANGUAGE_MINOR, LANGUAGE_PATCH);
    return REQUIRES_UNMET;
}

/* "auto" counts as on, because the rule itself makes the parser compute it. */
static bool is_turned_off(const struct conf_node *root, const char *proto, const char *key)
{
    char path[96];
    bool on = true;

    snprintf(path, sizeof(path), "app-layer.protocols.%s.%s", proto, key);
    return text_to_bool(text_of(conf_string(root, path, "auto")), &on) && !on;
}

static bool has_protocol_feature(struct text name, const struct conf_node *root)
{
    for (enum app_proto_id id = APP_PROTO_FIRST; id < app_proto_end(); id++) {
        const struct app_proto *proto = app_proto_by_id(id);
        const struct app_optional_feature *f = proto->optional_features;

        for (; f != NULL && f->name != NULL; f++)
            if (text_equal(name, f->name))
                return !is_turned_off(root, proto->name, f->key);
    }
    return false;
}

/* Features that the configuration can switch off. */
static bool has_configured_feature(struct text name, const struct conf_node *root)
{
    if (text_equal(name, "output::file-store"))
        return conf_bool(root, "outputs.file-store.enabled", false);
    return has_protocol_feature(name, root);
}

/* Features that a build may lack; "true" is always there. */
static const char *const built_features[] = {
    "true",
#ifdef HAVE_LUA
    "lua",
#endif
#ifdef HAVE_MAXMINDDB
    "geoip",
#endif
};

static bool has_feature(struct text name, const struct conf_node *root)
{
    for (size_t i = 0; i < ARRAY_LEN(built_features); i++)
        if (text_equal(name, built_features[i]))
            return true;
    return has_configured_feature(name, root);
}

/* An unknown requirement is unmet: a later version of Suricata may define it. */
static enum requires_result check_one(struct text key, struct text value,
                                      const struct conf_node *root, struct err *err)
{
    if (text_equal(key, "version"))
        return check_version(value, err);
    if (text_equal(key, "feature") && !has_feature(value, root)) {
        err_set(err, "missing a required feature: feature %.*s", TEXT(value));
        return REQUIRES_UNMET;
    }
    if (text_equal(key, "keyword") && keyword_find(value) == NULL) {
        err_set(err, "missing a required keyword: keyword %.*s", TEXT(value));
        return REQUIRES_UNMET;
    }
    if (text_equal(key, "feature") || text_equal(key, "keyword"))
        return REQUIRES_MET;
    err_set(err, "unknown requirement \"%.*s\"", TEXT(key));
    return REQUIRES_UNMET;
}

/* Several unmet requirements report the first one. */
enum requires_result rule_requires(struct text in, const struct conf_node *root,
                                   struct err *err)
{
    struct text rest = in, part;
    bool has_version = false;
    enum requires_result result = REQUIRES_MET;

    if (text_trim(in).n == 0) {
        err_set(err, "requires: a value is missing, as in \"requires: version >= 8;\"");
        return REQUIRES_BAD;
    }
    while (text_split(&rest, ',', &part)) {
        struct text key = { part.p, 0 };
        enum requires_result r;
        struct err first = *err;

        if (part.n == 0)
            continue;
        while (key.n < part.n && part.p[key.n] != ' ' && part.p[key.n] != '<' &&
               part.p[key.n] != '>')
            key.n++;
        if (text_equal(key, "version") && has_version) {
            err_set(err, "requires: \"version\" may stand only once");
            return REQUIRES_BAD;
        }
        has_version |= text_equal(key, "version");
        r = check_one(key, text_trim(text_from(part, key.n)), root, err);
        if (r == REQUIRES_BAD)
            return r;
        if (result == REQUIRES_UNMET)
            *err = first;
        else
            result = r;
    }
    return result;
}
