/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pcre - a regular expression: "/re/flags[, flow:name ...]". It is compiled once at load
 * time; its first search makes machine code of it, where PCRE2 can. Match data are per thread. */
#include "detect/rule/program.h"
#include "detect/rule/ruleset_private.h"
#include "flow/vars.h"
#include "match/pcre_memory.h"

#include <ctype.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <string.h>

/* Suricata's defaults for pcre.match-limit and match-limit-recursion. They bound what a
 * bad expression and a hostile payload can cost together; a match that exceeds them fails. */
#define RECURSION_LIMIT_DEFAULT 1500

struct pcre_parts { struct text re, flags, captures; }; /* borrowed from the rule's text */

struct pcre_flags {
    uint32_t options;           /* PCRE2_* */
    const char *buffer;         /* from the protocols' letters; NULL: none */
    char letter;
    enum app_proto_id proto;    /* that letter's */
    bool relative, rawbytes, configured_limit;
};

/* The buffer that a protocol has given a letter, and which one that is. NULL: it means none. */
static const char *buffer_of_letter(char letter, enum app_proto_id *proto)
{
    for (*proto = APP_PROTO_FIRST; *proto < app_proto_end(); ++*proto) {
        const struct app_pcre_letter *at = app_proto_by_id(*proto)->pcre_letters;

        for (; at != NULL && at->letter != 0; at++)
            if (at->letter == letter)
                return at->buffer;
    }
    return NULL;
}

/* Returns where the list of captures after the expression begins; in.n: none. */
static size_t capture_start(struct text in)
{
    static const char *const words[] = { "flow:", "pkt:", "alert:" };
    size_t first = in.n;

    for (unsigned i = 0; i < ARRAY_LEN(words); i++) {
        const char *at = memmem(in.p, in.n, words[i], strlen(words[i]));

        /* Without a separator in front it is part of the expression. */
        if (at != NULL && at > in.p && (at[-1] == ',' || at[-1] == ' '))
            first = MIN(first, (size_t)(at - in.p));
    }
    return first;
}

/* Captures are cut off first, because an expression may contain commas and slashes. The
 * last slash that is not escaped ends the expression; "\\/" is an escaped backslash and
 * then the end. */
static int pcre_split(struct rule_parser *p, struct text in, struct pcre_parts *out)
{
    size_t cut = capture_start(in), end;

    out->captures = text_from(in, cut);
    in.n = cut;
    while (in.n > 0 && (in.p[in.n - 1] == ',' || in.p[in.n - 1] == ' '))
        in.n--;
    while (in.n > 0 && in.p[0] != '/')            /* text before the first slash has no meaning */
        in = text_from(in, 1);
    if (in.n < 2)
        return rule_error(p, "pcre parse error: %.*s", TEXT(in));
    for (end = in.n - 1; end > 0; end--)
        if (in.p[end] == '/' && (in.p[end - 1] != '\\' || (end > 1 && in.p[end - 2] == '\\')))
            break;
    if (end == 0)
        return rule_error(p, "pcre parse error: %.*s", TEXT(in));
    out->re = (struct text){ in.p + 1, end - 1 };
    out->flags = text_from(in, end + 1);
    return 0;
}

/* Upper case letters of `legacy` choose a buffer; only one is possible. 'O' is the odd
 * one: it makes the configured limits apply, which Suricata leaves to the rule. */
static int pcre_flag(struct rule_parser *p, char c, struct pcre_flags *f)
{
    enum app_proto_id proto;
    const char *buffer = buffer_of_letter(c, &proto);

    if (buffer != NULL) {
        if (f->buffer != NULL)
            return rule_error(p, "only one pcre option to specify a buffer type is allowed");
        f->buffer = buffer;
        f->proto = proto;
        f->letter = c;
        if (f->rawbytes)
            return rule_error(p, "regex modifier '%c' inconsistent with 'B'", c);
        return 0;
    }
    switch (c) {
    case 'A': f->options |= PCRE2_ANCHORED; break;
    case 'E': f->options |= PCRE2_DOLLAR_ENDONLY; break;
    case 'G': f->options |= PCRE2_UNGREEDY; break;
    case 'i': f->options |= PCRE2_CASELESS; break;
    case 'm': f->options |= PCRE2_MULTILINE; break;
    case 's': f->options |= PCRE2_DOTALL; break;
    case 'x': f->options |= PCRE2_EXTENDED; break;
    case 'O': f->configured_limit = true; break;
    case 'R': f->relative = true; break;
    case 'B':
        if (f->buffer != NULL)
            return rule_error(p, "regex modifier 'B' inconsistent with chosen buffer");
        f->rawbytes = true;
        break;
    default:
        return rule_error(p, "unknown regex modifier '%c'", c);
    }
    return 0;
}

/* http.host is in lower case, so an expression with capitals outside escapes never
 * matches. "\x4F" is skipped as a whole. */
static bool has_upper_case(struct text re)
{
    for (size_t i = 0; i < re.n; i++) {
        if (re.p[i] == '\\')
            i += i + 1 < re.n && re.p[i + 1] == 'x' ? 3 : 1;
        else if (isupper((unsigned char)re.p[i]))
            return true;
    }
    return false;
}

/* A name is bound to a number once per process (var_name_id), so that threads compare
 * numbers. A capture of the payload counts for the order of rules: the rule that sets a
 * variable runs before those that read it. */
static int capture_add(struct rule_parser *p, struct pcre_op *pcre, enum var_kind kind, bool alert,
                       struct text name)
{
    struct pcre_capture *c;
    char *text;

    if (pcre->capture_count == PCRE_CAPTURES_MAX)
        return rule_error(p, "rule can have maximally %u pkt/flow var captures",
                          PCRE_CAPTURES_MAX);
    c = &pcre->capture[pcre->capture_count++];
    text = arena_text(p->arena, name);
    if (p->current == NULL && !alert)
        p->rule->vars_set |= kind == VAR_FLOWVAR ? RULE_VAR_FLOW : RULE_VAR_PACKET;
    c->kind = alert ? CAPTURE_ALERT : (uint8_t)kind;
    c->has_key = text_equal(name, "key");
    c->id = var_name_id(kind, text);
    return 0;
}

/* "flow:", "pkt:" and "alert:" in the list after the expression; "flow_", "pkt_" and
 * "alert_" in names of groups. Takes the prefix off *in. */
static bool capture_kind(struct text *in, char sep, enum var_kind *kind, bool *alert)
{
    static const struct { const char *word; enum var_kind kind; bool alert; } kinds[] = {
        { "flow", VAR_FLOWVAR, false }, { "pkt", VAR_PKTVAR, false },
        { "alert", VAR_PKTVAR, true },
    };

    for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
        size_t n = strlen(kinds[i].word);

        if (!text_starts(*in, kinds[i].word) || in->n <= n || in->p[n] != sep)
            continue;
        *in = text_from(*in, n + 1);
        *kind = kinds[i].kind;
        *alert = kinds[i].alert;
        return true;
    }
    return false;
}

/* "flow:key, value" captures two groups: the name of the variable and its value. The word
 * "value" then names the second group and adds no capture. */
static int captures_listed(struct rule_parser *p, struct text in, struct pcre_op *pcre)
{
    struct text word;
    bool value_next = false;

    while (text_split(&in, ',', &word)) {
        enum var_kind kind;
        bool alert;

        if (value_next && text_equal(word, "value")) {
            value_next = false;
            continue;
        }
        if (!capture_kind(&word, ':', &kind, &alert))
            return rule_error(p, "pcre: expected flow:NAME, pkt:NAME or alert:NAME, got \"%.*s\"",
                              TEXT(word));
        if (capture_add(p, pcre, kind, alert, word) < 0)
            return -1;
        value_next = pcre->capture[pcre->capture_count - 1].has_key;
    }
    return 0;
}

/* Looks for "(?P<flow_NAME>" in the expression's text. Other named groups are the
 * expression's own business. */
static int captures_named(struct rule_parser *p, struct text re, struct pcre_op *pcre)
{
    for (size_t i = 0; i + 4 < re.n; i++) {
        struct text name = text_from(re, i + 4);
        const char *end;
        enum var_kind kind;
        bool alert;

        if (memcmp(re.p + i, "(?P<", 4) != 0 || !capture_kind(&name, '_', &kind, &alert))
            continue;
        end = memchr(name.p, '>', name.n);
        if (end != NULL &&
            capture_add(p, pcre, kind, alert, (struct text){ name.p, (size_t)(end - name.p) }) < 0)
            return -1;
    }
    return 0;
}

/* Reads them once, so that a wrong one is one warning and not one for each rule. */
static void read_limits(struct ruleset *rs)
{
    if (rs->pcre_limits.match != 0)
        return;
    rs->pcre_limits.match = (uint32_t)conf_u64(rs->conf, "pcre.match-limit", PCRE_MATCH_LIMIT);
    rs->pcre_limits.depth = (uint32_t)conf_u64(rs->conf, "pcre.match-limit-recursion",
                                               RECURSION_LIMIT_DEFAULT);
}

/* The match limit bounds the work, the depth limit the nesting of backtracking; JIT code
 * ignores the latter (pcre2api(3), "The match context"). Expressions without 'O' get the
 * defaults even when the configuration has others. */
static void pcre_limits(struct rule_parser *p, struct pcre_op *pcre, bool configured)
{
    bool few = pcre->compiled->few_backtracks;
    const struct pcre_op *last = p->pcre[few].op;

    pcre->match_limit = PCRE_MATCH_LIMIT;
    pcre->depth_limit = RECURSION_LIMIT_DEFAULT;
    if (configured) {
        read_limits(p->ruleset);
        pcre->match_limit = p->ruleset->pcre_limits.match;
        pcre->depth_limit = p->ruleset->pcre_limits.depth;
    }
    if (p->pcre[few].arena == p->arena && last->match_limit == pcre->match_limit &&
        last->depth_limit == pcre->depth_limit) {
        pcre->context = last->context;
        pcre->shares_context = true;
        return;
    }
    pcre->context = pcre2_match_context_create(NULL);
    pcre2_set_match_limit(pcre->context, few ? MIN(pcre->match_limit, PCRE_FEW_BACKTRACKS)
                                             : pcre->match_limit);
    pcre2_set_depth_limit(pcre->context, pcre->depth_limit);
    pcre2_set_heap_limit(pcre->context, PCRE_HEAP_LIMIT_KIB);
    p->pcre[few].op = pcre;
    p->pcre[few].arena = p->arena;
}

/* Groups capture only where the rule wants a capture or the expression refers back to a
 * group. Error 115 (a reference to a group that does not exist) shows the latter: the
 * second attempt lets groups capture. Other code runs faster without captures. */
static int pcre_compile(struct rule_parser *p, struct text re, uint32_t options,
                        struct pcre_op *pcre)
{
    struct expressions *all = &p->ruleset->expressions;
    const struct expression *found;
    size_t at;
    int code = 0;

    if (pcre->capture_count == 0)
        options |= PCRE2_NO_AUTO_CAPTURE;
    found = expression_get(all, re, options, &code, &at);
    if (found == NULL && code == 115)
        found = expression_get(all, re, options & ~(uint32_t)PCRE2_NO_AUTO_CAPTURE, &code, &at);
    if (found == NULL) {
        PCRE2_UCHAR why[200];

        pcre2_get_error_message(code, why, sizeof(why));
        return rule_error(p, "pcre2 compile of \"%.*s\" failed at offset %d: %s", TEXT(re),
                          (int)at, (char *)why);
    }
    pcre->compiled = &found->pcre;
    return 0;
}

/* PCRE2 allocates by itself, outside the rule's memory. The code belongs to
 * ruleset->expressions. */
static void pcre_free(void *arg)
{
    struct pcre_op *pcre = arg;

    if (!pcre->shares_context)
        pcre2_match_context_free(pcre->context);
}

/* A letter that chooses a buffer contradicts a sticky buffer, unless both name the same. */
static const struct buffer *pcre_buffer(struct rule_parser *p, const char *name, struct text in)
{
    const struct buffer *b = buffer_find(p->ruleset, text_of(name));
    const struct buffer *now = p->current != NULL ? p->current->buffer : NULL;

    if (p->current != NULL && now != b) {
        rule_error(p, "Expression seen with a sticky buffer still set; either (1) reset sticky "
                   "buffer with pkt_data or (2) use a sticky buffer providing \"%s\".", name);
        return NULL;
    }
    if (b == NULL)
        rule_error(p, "pcre: the buffer %s of \"%.*s\" is not available", name, TEXT(in));
    return b;
}

/* Only literals and expressions leave a position that /R can start from. */
static bool has_pattern_before(const struct rule_op *op)
{
    for (op = op->prev; op != NULL; op = op->prev)
        if (op->kind == OP_CONTENT || op->kind == OP_PCRE)
            return true;
    return false;
}

/* A letter appends to the list of its buffer for this one operation, which ends another sticky
 * buffer. Without a letter and without a sticky buffer it goes to the payload. A
 * letter also makes the rule one about HTTP. */
static int pcre_append(struct rule_parser *p, struct text in, const struct pcre_flags *f,
                       struct pcre_op *pcre)
{
    struct rule_list *before = p->current, *list;
    struct rule_op *op;

    if (f->buffer != NULL) {
        const struct buffer *b = pcre_buffer(p, f->buffer, in);

        if (b == NULL || (before == NULL && rule_set_app_proto(p, f->proto) < 0))
            return -1;
        if (before == NULL || before->buffer != b)
            p->current = rule_buffer_list_again(p, b);
        if (p->current == NULL) {
            p->current = before;
            return -1;
        }
    } else if (before == NULL) {
        p->current = rule_payload_list(p);
    }
    list = p->current;
    op = op_append(p, OP_PCRE, f->relative);
    p->current = before;
    rule_end_buffer(p, list);
    if (op == NULL)
        return -1;
    op->pcre = pcre;
    op->flags |= (f->options & PCRE2_CASELESS ? OP_NOCASE : 0) | (f->rawbytes ? OP_RAWBYTES : 0);
    if (f->relative && before == NULL && !has_pattern_before(op))
        return rule_error(p, "pcre with /R (relative) needs preceding match in the same buffer");
    return 0;
}

extern const struct keyword_ops keyword_pcre;

static bool is_lower_case(const struct rule_parser *p, const char *name)
{
    const struct buffer *b = buffer_find(p->ruleset, text_of(name));

    return b != NULL && buffer_declared(b)->lower_case;
}

static int pcre_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct pcre_op *pcre = arena_zalloc(p->arena, sizeof(*pcre));
    struct pcre_capture capture[PCRE_CAPTURES_MAX];
    struct pcre_flags f = { 0 };
    struct pcre_parts parts = { 0 };

    if (pcre_split(p, in, &parts) < 0)
        return -1;
    for (size_t i = 0; i < parts.flags.n; i++)
        if (pcre_flag(p, parts.flags.p[i], &f) < 0)
            return -1;
    if (f.buffer != NULL && !(f.options & PCRE2_CASELESS) && is_lower_case(p, f.buffer) &&
        has_upper_case(parts.re))
        return rule_error(p, "pcre: %s (\"%c\") is all lower case, the expression has an upper "
                          "case letter", f.buffer, f.letter);
    pcre->capture = capture;
    if ((parts.captures.n > 0 ? captures_listed(p, parts.captures, pcre)
                              : captures_named(p, parts.re, pcre)) < 0)
        return -1;
    pcre->capture = arena_copy(p->arena, capture, pcre->capture_count * sizeof(capture[0]));
    if (pcre_compile(p, parts.re, f.options, pcre) < 0)
        return -1;
    rule_free_later(p, &keyword_pcre, pcre);
    pcre_limits(p, pcre, f.configured_limit);
    return pcre_append(p, in, &f, pcre);
}

const struct keyword_ops keyword_pcre = {
    .name = "pcre",
    .doc = "a regular expression finds something (flags: A B E G i m O R s x, and a letter that "
           "names a buffer)",
    .syntax = "[!]\"/<expression>/[<flags>][,flow:<name>|pkt:<name>|alert:<name>]...\"",
    .features = "supports firewall",
    .point = POINT_BUFFER,
    .negatable = true,
    .quotes = true,
    .parse = pcre_parse,
    .free_arg = pcre_free,
};
