/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lint/proto/encoded.c - contents with %-escapes in the decoded URI. */
#include "detect/lint/private.h"

#include <ctype.h>
#include <string.h>

static bool has_escape(const struct rule_op *op)
{
    const uint8_t *b = op->content.written;

    for (unsigned i = 0; op->kind == OP_CONTENT && i + 2 < op->content.len; i++)
        if (b[i] == '%' && isxdigit(b[i + 1]) && isxdigit(b[i + 2]) &&
            !(b[i + 1] == '2' && b[i + 2] == '5'))
            return true;
    return false;
}

/* Header fields are declared like the URI, for the sake of reports that Suricata makes; but no
 * escape is decoded in them. A transform sees the decoded bytes, too. */
static bool is_decoded(const struct rule_list *list)
{
    return list->buffer != NULL && buffer_declared(list->buffer)->percent_decoded &&
           strcmp(buffer_declared(list->buffer)->name, "http.uri") == 0;
}

static void encoded_check(struct lint *l, const struct lint_rule *r)
{
    for (const struct rule_list *list = r->rule->list; list != NULL; list = list->next)
        for (const struct rule_op *op = list->first; op != NULL; op = op->next)
            if (is_decoded(list) && !(op->flags & OP_NEGATED) && has_escape(op))
                lint_find(r, lint_place_of(r, op),
                          "write the byte that the escape stands for, or name the raw buffer",
                          "%s has a %%-escape, and %s is decoded: only data that were encoded "
                          "twice have it", lint_literal(l, op->content.written, op->content.len),
                          lint_buffer_name(list));
}

const struct lint_check lint_encoded_content = {
    .name = "encoded-content", .level = LINT_WARNING, .rule = encoded_check,
};
