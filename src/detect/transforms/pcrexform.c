/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pcrexform - what the group of an expression captures. If the expression does not match,
 * or exceeds a limit below, the buffer is empty. */
#include "base/memory/buf.h"
#include "detect/rule/keyword.h"
#include "detect/rule/ruleset_private.h"
#include "detect/transforms/list.h"
#include "match/pcre_memory.h"
#include "match/pcre_work.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* The pcre2 objects belong to the ruleset (to_free) and are only read while packets flow. */
struct pcrexform {
    struct pcre_compiled pcre;
    pcre2_match_context *context;
};

static void pcrexform_free(void *arg)
{
    struct pcrexform *x = arg;

    pcre_work_free(&x->pcre);
    pcre2_match_context_free(x->context);
}

static const struct keyword_ops pcrexform_owner = { .name = "pcrexform",
                                                    .free_arg = pcrexform_free };

/* The limits on matching are Suricata's defaults for pcre (3500 and 1500). They bound the
 * time that an expression with much backtracking can take. Exactly one group is allowed,
 * as in Suricata. */
static void set_limits(pcre2_match_context *context)
{
    pcre2_set_match_limit(context, 3500);
    pcre2_set_depth_limit(context, 1500);
    pcre2_set_heap_limit(context, PCRE_HEAP_LIMIT_KIB);
}

static int pcrexform_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct pcrexform *x = arg;
    uint32_t groups = 0;
    size_t at;
    int code;

    x->pcre = pcre_work_compile(in, 0, PCRE_AT_ONCE, &code, &at);
    if (x->pcre.code == NULL)
        return rule_error(p, "pcrexform: the expression fails at offset %zu", at);
    x->context = pcre2_match_context_create(NULL);
    set_limits(x->context);
    if (x->pcre.few_backtracks)
        pcre2_set_match_limit(x->context, PCRE_FEW_BACKTRACKS);
    rule_free_later(p, &pcrexform_owner, x);
    pcre2_pattern_info(x->pcre.code, PCRE2_INFO_CAPTURECOUNT, &groups);
    return groups == 1 ? 0 :
        rule_error(p, "pcrexform: expected one group that captures, found %u", groups);
}

/* Allocates the match data for each buffer: 2 pairs, for the match and for its group. A
 * result of 1 would mean that the group took no part in the match. */
static bool is_limit(int result)
{
    return result == PCRE2_ERROR_MATCHLIMIT || result == PCRE2_ERROR_DEPTHLIMIT ||
           result == PCRE2_ERROR_HEAPLIMIT || result == PCRE2_ERROR_JIT_STACKLIMIT ||
           result == PCRE2_ERROR_NOMEMORY;
}

/* Few expressions count, so their context is made for each buffer. */
static int counted_match(const struct pcrexform *x, struct slice in, pcre2_match_data *md)
{
    struct pcre_work work = { PCRE_WORK(in.len), 0 };
    pcre2_match_context *context = pcre_work_context_try(&work);
    int result = PCRE2_ERROR_NOMEMORY;

    if (context == NULL)
        return result;
    set_limits(context);
    result = pcre2_match(x->pcre.counted, in.data, in.len, 0, 0, md, context);
    pcre2_match_context_free(context);
    return result;
}

static bool pcrexform_apply(struct slice in, const void *arg, struct buf *out)
{
    const struct pcrexform *x = arg;
    pcre2_match_data *md = pcre_match_data_try(2);
    const PCRE2_SIZE *ov;
    uint64_t work;
    int result = PCRE2_ERROR_MATCHLIMIT;

    if (md == NULL)
        return true;
    if (!x->pcre.costly || pcre_work_is_small(&x->pcre, in.data, in.len, &work))
        result = pcre2_match(x->pcre.code, in.data, in.len, 0, 0, md, x->context);
    if (result == PCRE2_ERROR_MATCHLIMIT && x->pcre.costly)
        result = counted_match(x, in, md);
    if (result > 1) {
        ov = pcre2_get_ovector_pointer(md);
        buf_add(out, in.data + ov[2], ov[3] - ov[2]);
    }
    pcre2_match_data_free(md);
    return !is_limit(result);
}

const struct transform_ops transform_pcrexform = {
    .name = "pcrexform",
    .doc = "keeps what a regular expression captures",
    .syntax = "\"<expression with one group>\"",
    .argument = true,
    .arg_size = sizeof(struct pcrexform),
    .parse = pcrexform_parse,
    .apply_within = pcrexform_apply,
};
