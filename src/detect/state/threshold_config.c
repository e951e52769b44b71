/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/threshold_config.c - threshold.config: thresholds and suppressions apart from rules.
 *
 *     threshold gen_id 1, sig_id 2, type limit, track by_src, count 1, seconds 60
 *     rate_filter gen_id 1, sig_id 2, track by_src, count 5, seconds 1, new_action drop,
 *         timeout 30
 *     suppress gen_id 1, sig_id 2, track by_src, ip 10.0.0.0/8
 *
 * A number 0 means all. event_filter is another name of threshold. */
#include "base/report/log.h"
#include "detect/rule/text.h"
#include "detect/state/threshold.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The settings of one line as they are written; p NULL: missing. */
struct line {
    struct text gen_id, sig_id, type, track, count, seconds, new_action, timeout, ip;
};

/* State of reading one file, on the stack of the loader. */
struct config_reader {
    struct ruleset *set;
    const struct rule_text *at;         /* the line being read */
    struct err err;
    unsigned good;
    struct set_vars vars;
};

static int line_error(struct config_reader *r, struct text t, const char *what)
{
    return err_at(&r->err, rule_text_at(r->at, t.p != NULL ? t.p : r->at->text.p),
                  "%s, found \"%.*s\"", what, TEXT(t));
}

/* Takes the text up to the next blank. */
static struct text take_word(struct text *rest)
{
    struct text t = text_trim(*rest), word = { t.p, 0 };

    while (word.n < t.n && t.p[word.n] != ' ' && t.p[word.n] != '\t')
        word.n++;
    *rest = text_trim(text_from(t, word.n));
    return word;
}

/* Takes the name if the text begins with it. As in Suricata no blank need follow. */
static bool take_name(struct text *rest, const char *name)
{
    struct text t = text_trim(*rest);

    if (!text_starts_nocase(t, name))
        return false;
    *rest = text_trim(text_from(t, strlen(name)));
    return true;
}

/* Reads "key value" pairs, each at most once. The addresses of `ip` may contain commas, so
 * they are the rest of the line. */
static int take_settings(struct config_reader *r, struct text rest, struct line *out)
{
    const struct { const char *key; struct text *value; } settings[] = {
        { "gen_id", &out->gen_id }, { "sig_id", &out->sig_id },
        { "type", &out->type }, { "track", &out->track }, { "count", &out->count },
        { "seconds", &out->seconds }, { "new_action", &out->new_action },
        { "timeout", &out->timeout }, { "ip", &out->ip },
    };
    struct text pair;

    while (rest.n > 0) {
        struct text complete = text_trim(rest), all;
        size_t i = 0;

        text_split(&rest, ',', &pair);
        all = pair;
        while (i < ARRAY_LEN(settings) && !take_name(&pair, settings[i].key))
            i++;
        if (i == ARRAY_LEN(settings) || settings[i].value->p != NULL)
            return line_error(r, take_word(&all), "expected gen_id, sig_id, type, track, count, "
                              "seconds, new_action, timeout or ip, each once");
        *settings[i].value = pair;
        if (settings[i].value == &out->ip) {
            take_name(&complete, settings[i].key);
            out->ip = complete;
            break;
        }
    }
    return 0;
}

/* --- words and numbers ------------------------------------------------------------------------ */

struct word { const char *name; uint8_t value; }; /* a list ends with a NULL name */

static int word_parse(struct config_reader *r, struct text in, const struct word *words,
                      const char *what, uint8_t *out)
{
    for (; words->name != NULL; words++) {
        if (text_equal_nocase(in, words->name)) {
            *out = words->value;
            return 0;
        }
    }
    return line_error(r, in, what);
}

static int number_parse(struct config_reader *r, struct text in, const char *what, uint64_t min,
                        uint32_t *out)
{
    uint64_t value;

    if (in.p == NULL || !text_to_u64(in, UINT32_MAX, &value) || value < min)
        return line_error(r, in, what);
    *out = (uint32_t)value;
    return 0;
}

bool threshold_track_parse(struct text word, uint8_t *track)
{
    static const struct word words[] = {
        { "by_src", TRACK_SRC }, { "by_dst", TRACK_DST }, { "by_both", TRACK_BOTH },
        { "by_rule", TRACK_RULE }, { "by_flow", TRACK_FLOW },
    };

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (text_equal_nocase(word, words[i].name)) {
            *track = words[i].value;
            return true;
        }
    }
    return false;
}

/* The words of Suricata's threshold.config. "log" and "sdrop" are accepted and keep the
 * rule's action. */
static const struct word type_words[] = {
    { "limit", THRESHOLD_LIMIT }, { "threshold", THRESHOLD_EVERY }, { "both", THRESHOLD_BOTH },
    { NULL, 0 },
};
static const struct word suppress_words[] = {
    { "by_src", TRACK_SRC }, { "by_dst", TRACK_DST }, { "by_either", TRACK_EITHER }, { NULL, 0 },
};
static const struct word action_words[] = {
    { "alert", RATE_ALERT }, { "drop", RATE_DROP }, { "reject", RATE_REJECT },
    { "pass", RATE_PASS }, { "log", RATE_KEEP }, { "sdrop", RATE_KEEP }, { NULL, 0 },
};

/* Parses the common settings of threshold and rate_filter. */
static int rate_parse(struct config_reader *r, const struct line *l, struct threshold_spec *spec)
{
    if (number_parse(r, l->count, "count: expected a number from 1", 1, &spec->count) < 0 ||
        number_parse(r, l->seconds, "seconds: expected a number", 0, &spec->seconds) < 0)
        return -1;
    if (!threshold_track_parse(l->track, &spec->track))
        return line_error(r, l->track,
                          "track: expected by_src, by_dst, by_both, by_rule or by_flow");
    return 0;
}

static int threshold_parse(struct config_reader *r, const struct line *l,
                           struct threshold_spec *spec)
{
    if (word_parse(r, l->type, type_words, "type: expected limit, threshold or both",
                   &spec->type) < 0)
        return -1;
    return rate_parse(r, l, spec);
}

static int rate_filter_parse(struct config_reader *r, const struct line *l,
                             struct threshold_spec *spec)
{
    spec->type = THRESHOLD_RATE;
    if (word_parse(r, l->new_action, action_words,
                   "new_action: expected alert, drop, pass or reject", &spec->new_action) < 0 ||
        number_parse(r, l->timeout, "timeout: expected a number", 0, &spec->timeout) < 0)
        return -1;
    return rate_parse(r, l, spec);
}

/* Without track and ip the rule is suppressed for all addresses. */
static int suppress_parse(struct config_reader *r, const struct line *l,
                          struct threshold_spec *spec)
{
    spec->type = THRESHOLD_SUPPRESS;
    if (l->track.p == NULL && l->ip.p == NULL) {
        spec->track = TRACK_RULE;       /* silent altogether */
        return 0;
    }
    if (word_parse(r, l->track, suppress_words, "track: expected by_src, by_dst or by_either",
                   &spec->track) < 0)
        return -1;
    if (l->ip.n == 0)
        return line_error(r, l->ip, "ip: expected addresses");
    spec->addresses = address_set_get(&r->set->addresses, l->ip, &r->vars,
                                      rule_text_at(r->at, l->ip.p), &r->err);
    return spec->addresses != NULL ? 0 : -1;
}

/* --- attaching to rules ----------------------------------------------------------------------- */

/* One spec per rule: the lists of rules are linked through them. */
static struct threshold_spec *copy_spec(struct config_reader *r, const struct threshold_spec *spec)
{
    struct threshold_spec *copy = arena_copy(&r->set->arena, spec, sizeof(*spec));

    copy->file = r->at->file;
    copy->line = rule_text_at(r->at, r->at->text.p).line;
    return copy;
}

/* The link after the suppressions, which come first. */
static struct threshold_spec **threshold_of(struct rule *rule)
{
    struct threshold_spec **link = &rule->threshold;

    while (*link != NULL && (*link)->type == THRESHOLD_SUPPRESS)
        link = &(*link)->next;
    return link;
}

/* In front: files with thousands of lines for one rule exist, so the list is not walked. */
static void attach_suppression(struct config_reader *r, struct rule *rule,
                               const struct threshold_spec *spec)
{
    struct threshold_spec *copy;

    if (spec->track == TRACK_RULE) {
        rule->flags |= RULE_NOALERT;
        return;
    }
    copy = copy_spec(r, spec);
    copy->next = rule->threshold;
    rule->threshold = copy;
}

/* A threshold for one rule by its number replaces the rule's own. A rate_filter does not,
 * and neither does a line for all rules, as in Suricata. */
static void attach(struct config_reader *r, struct rule *rule, const struct threshold_spec *spec,
                   bool by_number)
{
    struct threshold_spec **link;

    if (spec->type == THRESHOLD_SUPPRESS) {
        attach_suppression(r, rule, spec);
        return;
    }
    link = threshold_of(rule);
    if (*link != NULL) {
        if (!by_number || spec->type == THRESHOLD_RATE) {
            log_at(LOG_LEVEL_WARNING, "threshold-config", rule_text_at(r->at, r->at->text.p),
                   "rule %u has a threshold of its own, which stays", rule->sid);
            return;
        }
        *link = NULL;
    }
    *link = copy_spec(r, spec);
}

/* Attaches the spec to all rules that the numbers name. 0 means all; a rule that does not
 * exist is a warning, because a ruleset update may have removed it. */
static int install(struct config_reader *r, const struct line *l,
                   const struct threshold_spec *spec)
{
    uint32_t gid, sid;
    bool found = false;

    if (number_parse(r, l->gen_id, "gen_id: expected a number", 0, &gid) < 0 ||
        number_parse(r, l->sig_id, "sig_id: expected a number", 0, &sid) < 0)
        return -1;
    if (sid > 0 && gid == 0)
        return line_error(r, l->gen_id, "gen_id 0 (all groups) goes only with sig_id 0");
    for (size_t i = 0; i < r->set->rules.count; i++) {
        struct rule *rule = r->set->rules.at[i];

        if ((gid != 0 && rule->gid != gid) || (sid != 0 && rule->sid != sid))
            continue;
        attach(r, rule, spec, sid != 0);
        found = true;
    }
    if (!found && sid != 0)
        log_at(LOG_LEVEL_WARNING, "threshold-config", rule_text_at(r->at, r->at->text.p),
               "can't suppress sid %u, gid %u: unknown rule", sid, gid);
    return 0;
}

/* One line of the file. */
static int line_parse(struct config_reader *r)
{
    static const struct {
        const char *name;
        int (*parse)(struct config_reader *r, const struct line *l, struct threshold_spec *spec);
    } kinds[] = {
        { "threshold", threshold_parse }, { "event_filter", threshold_parse },
        { "rate_filter", rate_filter_parse }, { "suppress", suppress_parse },
    };
    struct threshold_spec spec = { 0 };
    struct text rest = r->at->text, kind = rest;
    struct line l = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!take_name(&rest, kinds[i].name))
            continue;
        if (take_settings(r, rest, &l) < 0 || kinds[i].parse(r, &l, &spec) < 0)
            return -1;
        return install(r, &l, &spec);
    }
    return line_error(r, take_word(&kind),
                      "expected threshold, event_filter, rate_filter or suppress");
}

/* --- the file --------------------------------------------------------------------------------- */

/* A wrong line is logged and left out. */
static void visit_line(const struct rule_text *text, void *arg)
{
    struct config_reader *r = arg;

    r->at = text;
    if (line_parse(r) == 0)
        r->good++;
    else
        log_err(LOG_LEVEL_ERROR, "threshold-config", &r->err);
}

/* Variables in `ip` are those of rules. */
static const char *find_var(void *arg, struct text name)
{
    char path[256];
    int n = snprintf(path, sizeof(path), "vars.address-groups.%.*s", TEXT(name));

    return n < 0 || (size_t)n >= sizeof(path) ? NULL : conf_string(arg, path, NULL);
}

static struct config_reader reader_of(struct ruleset *set, const struct conf_node *root)
{
    return (struct config_reader){ .set = set, .vars = { find_var, (void *)root } };
}

/* Reads a text instead of a file, for tests. */
unsigned threshold_config_lines(struct ruleset *set, struct text all, const char *name)
{
    struct config_reader r = reader_of(set, set->conf);

    rule_lines_read(all, name,
                    &(struct rule_visitor){ visit_line, &r, &set->arena, &set->arena });
    return r.good;
}

/* A missing file is a warning: most installations have an empty one. */
void threshold_config_load(struct ruleset *set, const struct conf_node *root)
{
    const char *path = conf_string(root, "threshold-file", IDS_SYSCONFDIR "/threshold.config");
    struct config_reader r = reader_of(set, root);
    struct rule_visitor visitor = { visit_line, &r, &set->arena, &set->arena };

    if (access(path, R_OK) != 0) {
        log_warning("threshold-config", "Error opening file: \"%s\": %s", path, strerror(errno));
        return;
    }
    if (strcmp(path, "/dev/null") != 0 && rule_file_read(path, &visitor, &r.err) < 0)
        log_err(LOG_LEVEL_ERROR, "threshold-config", &r.err);
    log_info("threshold-config", "Threshold config parsed: %u rule(s) found", r.good);
}
