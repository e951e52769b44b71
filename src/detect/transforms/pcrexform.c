/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pcrexform - what the group of an expression captures. If the expression does not match,
 * or exceeds a limit below, the buffer is empty. */
#include "base/memory/buf.h"
#include "detect/rule/keyword.h"
#include "detect/rule/ruleset_private.h"
#include "detect/transforms/list.h"
#include "match/pcre_memory.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* The pcre2 objects belong to the ruleset (to_free) and are only read while packets flow. */
struct pcrexform { pcre2_code *code; pcre2_match_context *context; };

static void pcrexform_free(void *arg)
{
    struct pcrexform *x = arg;

    pcre2_code_free(x->code);
    pcre2_match_context_free(x->context);
}

static const struct keyword_ops pcrexform_owner = { .name = "pcrexform",
                                                    .free_arg = pcrexform_free };

/* The limits on matching are Suricata's defaults for pcre (3500 and 1500). They bound the
 * time that an expression with much backtracking can take. Exactly one group is allowed,
 * as in Suricata. */
static int pcrexform_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct pcrexform *x = arg;
    uint32_t groups = 0;
    PCRE2_SIZE at;
    int code;

    x->code = pcre2_compile((PCRE2_SPTR)in.p, in.n, 0, &code, &at, NULL);
    if (x->code == NULL)
        return rule_error(p, "pcrexform: the expression fails at offset %zu", (size_t)at);
    pcre2_jit_compile(x->code, PCRE2_JIT_COMPLETE);
    x->context = pcre2_match_context_create(NULL);
    pcre2_set_match_limit(x->context, 3500);
    pcre2_set_depth_limit(x->context, 1500);
    pcre2_set_heap_limit(x->context, PCRE_HEAP_LIMIT_KIB);
    ARRAY_PUSH(&p->ruleset->to_free, (struct rule_test){ .keyword = &pcrexform_owner, .arg = x });
    pcre2_pattern_info(x->code, PCRE2_INFO_CAPTURECOUNT, &groups);
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

static bool pcrexform_apply(struct slice in, const void *arg, struct buf *out)
{
    const struct pcrexform *x = arg;
    pcre2_match_data *md = pcre_match_data_try(2);
    const PCRE2_SIZE *ov;
    int result;

    if (md == NULL)
        return true;
    result = pcre2_match(x->code, in.data, in.len, 0, 0, md, x->context);
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
    .argument = true,
    .arg_size = sizeof(struct pcrexform),
    .parse = pcrexform_parse,
    .apply_within = pcrexform_apply,
};
