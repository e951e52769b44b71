/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/flow/threshold.c - threshold and detection_filter: how often the rule
 * may alert. */
#include "detect/rule/keyword.h"
#include "detect/state/threshold.h"

enum { THRESHOLD_SETTINGS = 4 }; /* type, track, count and seconds */

/* Words of the rule's text, in any order, each at most once. `p` is NULL when one is
 * missing. */
struct settings {
    struct text type, track, count, seconds, multiplier, unique_on;
};

/* "NAME VALUE"; the value is checked later, by the function for its kind. */
static int setting_take(struct rule_parser *p, struct text in, struct settings *s)
{
    const struct { const char *name; struct text *value; } known[] = {
        { "type", &s->type }, { "track", &s->track }, { "count", &s->count },
        { "seconds", &s->seconds }, { "multiplier", &s->multiplier },
        { "unique_on", &s->unique_on },
    };
    struct text name = { in.p, 0 };

    while (name.n < in.n && in.p[name.n] != ' ' && in.p[name.n] != '\t')
        name.n++;
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (!text_equal_nocase(name, known[i].name))
            continue;
        if (known[i].value->p != NULL)
            return rule_error(p, "%s: \"%.*s\"occurs twice", p->keyword->name, TEXT(name));
        *known[i].value = text_trim(text_from(in, name.n));
        return 0;
    }
    return rule_error(p, "%s: expected type, track, count, seconds or multiplier, found \"%.*s\"",
                      p->keyword->name, TEXT(in));
}

/* Settings after the four of a threshold are ignored: rules for later versions of Suricata have
 * more, and 8.0 loads them. */
static int settings_parse(struct rule_parser *p, struct text in, struct settings *s)
{
    bool may_have_more = text_equal(text_of(p->keyword->name), "threshold");
    struct text part;

    for (unsigned n = 0; text_split(&in, ',', &part); n++) {
        if (n >= THRESHOLD_SETTINGS && may_have_more) {
            rule_warning(p, "threshold: \"%.*s\" has no effect", TEXT(part));
            continue;
        }
        if (setting_take(p, part, s) < 0)
            return -1;
    }
    return 0;
}

/* by_flow keeps its state on the flow; the others in a table that all threads share. */
static int track_parse(struct rule_parser *p, struct text in, uint8_t *track)
{
    if (threshold_track_parse(in, track))
        return 0;
    return rule_error(p, "%s: track: expected by_src, by_dst, by_both, by_rule or by_flow, found "
                      "\"%.*s\"", p->keyword->name, TEXT(in));
}

struct number_setting { const char *name; uint32_t min, max; }; /* both ends are inclusive */

/* A setting that is missing has an empty text, which is not a number: an error here. */
static int number_parse(struct rule_parser *p, struct number_setting setting, struct text in,
                        uint32_t *out)
{
    uint64_t value;

    if (!text_to_u64(in, setting.max, &value) || value < setting.min)
        return rule_error(p, "%s: %s: expected %u to %u, found \"%.*s\"", p->keyword->name,
                          setting.name, setting.min, setting.max, TEXT(in));
    *out = (uint32_t)value;
    return 0;
}

/* A rule may have one threshold or one detection_filter. After a sticky buffer Suricata
 * accepts several, and published rules have them: a match must then pass each of them. */
static int only_one(struct rule_parser *p)
{
    const struct threshold_spec *other = p->rule->threshold;

    if (other == NULL || p->current_is_sticky)
        return 0;
    if ((other->type == THRESHOLD_FILTER) == text_equal(text_of(p->keyword->name), "threshold"))
        return rule_error(p, "\"detection_filter\" and \"threshold\" are not allowed in the same "
                          "rule");
    return rule_error(p, "multiple \"%s\" options are not allowed in the same rule",
                      p->keyword->name);
}

/* Keeps the order of the rule. `by_keyword` distinguishes these from thresholds of
 * threshold.config. A `prefilter` after it refers to this keyword, so it sets last_test. */
static void add_spec(struct rule_parser *p, struct threshold_spec *spec)
{
    struct threshold_spec **link = &p->rule->threshold;

    while (*link != NULL)
        link = &(*link)->next;
    spec->by_keyword = true;
    p->last_test = p->keyword;
    *link = spec;
}

/* The names of the types differ from the keyword: "threshold" is a type too. */
static int type_parse(struct rule_parser *p, struct text in, uint8_t *type)
{
    static const struct { const char *name; uint8_t type; } names[] = {
        { "limit", THRESHOLD_LIMIT }, { "threshold", THRESHOLD_EVERY },
        { "both", THRESHOLD_BOTH }, { "backoff", THRESHOLD_BACKOFF },
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (text_equal_nocase(in, names[i].name)) {
            *type = names[i].type;
            return 0;
        }
    }
    return rule_error(
        p, "threshold: type: expected limit, threshold, both or backoff, found \"%.*s\"", TEXT(in));
}

/* Alerts at count, count * multiplier, and so on. The state is per flow, because only
 * there it ends by itself. */
static int backoff_parse(struct rule_parser *p, const struct settings *s,
                         struct threshold_spec *spec)
{
    if (s->seconds.p != NULL)
        return rule_error(p, "threshold: type backoff takes no seconds");
    if (spec->track != TRACK_FLOW)
        return rule_error(p, "threshold: type backoff goes only with track by_flow");
    if (number_parse(p, (struct number_setting){ "count", 1, 65535 }, s->count, &spec->count) < 0)
        return -1;
    return number_parse(p, (struct number_setting){ "multiplier", 2, 65535 }, s->multiplier,
                        &spec->multiplier);
}

/* The spec is attached before its numbers are checked: an invalid rule is dropped entirely. */
static int threshold_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct threshold_spec *spec = arg;
    struct settings s = { 0 };

    if (only_one(p) < 0 || settings_parse(p, in, &s) < 0 ||
        type_parse(p, s.type, &spec->type) < 0 || track_parse(p, s.track, &spec->track) < 0)
        return -1;
    add_spec(p, spec);
    if (spec->type == THRESHOLD_BACKOFF)
        return backoff_parse(p, &s, spec);
    if (s.multiplier.p != NULL)
        return rule_error(p, "threshold: multiplier goes only with type backoff");
    if (number_parse(p, (struct number_setting){ "count", 0, UINT32_MAX }, s.count,
                     &spec->count) < 0)
        return -1;
    return number_parse(p, (struct number_setting){ "seconds", 0, UINT32_MAX }, s.seconds,
                        &spec->seconds);
}

const struct keyword_ops keyword_threshold = {
    .name = "threshold",
    .doc = "how often the rule alerts",
    .syntax = "type limit|threshold|both,track by_src|by_dst|by_both|by_rule|by_flow"
              ",count <n>,seconds <n>\n"
              "type backoff,track by_flow,count <n>,multiplier <n>",
    .features = "compatible with IP only rule",
    .point = POINT_NONE,
    .arg_size = sizeof(struct threshold_spec),
    .parse = threshold_parse,
};

/* The ports of a rule's packets: a rule about all of IP has packets without them. */
static bool has_ports(const struct rule *r)
{
    bool any = true;

    for (unsigned i = 0; i < sizeof(r->ip_proto); i++)
        any &= r->ip_proto[i] == 0xff;
    return !any && (rule_has_ip_proto(r, 6) || rule_has_ip_proto(r, 17) ||
                    rule_has_ip_proto(r, 132));
}

/* Suricata 9: count different ports instead of matches. */
static int unique_parse(struct rule_parser *p, struct text in, uint8_t *unique_on)
{
    if (in.p == NULL)
        return 0;
    if (!has_ports(p->rule))
        return rule_error(p, "detection_filter: unique_on needs a rule about TCP, UDP or SCTP");
    if (text_equal_nocase(in, "src_port"))
        *unique_on = UNIQUE_SRC_PORT;
    else if (text_equal_nocase(in, "dst_port"))
        *unique_on = UNIQUE_DST_PORT;
    else
        return rule_error(p, "detection_filter: unique_on: expected src_port or dst_port, found "
                          "\"%.*s\"", TEXT(in));
    return 0;
}

/* Alerts from the match after `count` matches in `seconds` on. Suricata does not allow
 * by_both and by_rule here, and 0 is no number of matches or seconds. */
static int detection_filter_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct threshold_spec *spec = arg;
    struct settings s = { 0 };

    if (only_one(p) < 0 || settings_parse(p, in, &s) < 0 ||
        track_parse(p, s.track, &spec->track) < 0)
        return -1;
    if (s.type.p != NULL || s.multiplier.p != NULL)
        return rule_error(p, "detection_filter: takes track, count, seconds and unique_on only");
    if (spec->track == TRACK_BOTH || spec->track == TRACK_RULE)
        return rule_error(p, "detection_filter: track: expected by_src, by_dst or by_flow, found "
                          "\"%.*s\"", TEXT(s.track));
    if (unique_parse(p, s.unique_on, &spec->unique_on) < 0)
        return -1;
    spec->type = THRESHOLD_FILTER;
    add_spec(p, spec);
    if (number_parse(p, (struct number_setting){ "count", 1, UINT32_MAX }, s.count,
                     &spec->count) < 0)
        return -1;
    return number_parse(p, (struct number_setting){ "seconds", 1, UINT32_MAX }, s.seconds,
                        &spec->seconds);
}

const struct keyword_ops keyword_detection_filter = {
    .name = "detection_filter",
    .doc = "alert only once so many matches have been seen",
    .syntax = "track by_src|by_dst|by_flow,count <n>,seconds <n>[,unique_on src_port|dst_port]",
    .features = "compatible with IP only rule",
    .point = POINT_NONE,
    .arg_size = sizeof(struct threshold_spec),
    .parse = detection_filter_parse,
};
