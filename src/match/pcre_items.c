/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/pcre_items.c - the quantifiers of the items of a regular expression. */
#include "match/pcre_items.h"

#include <ctype.h>
#include <string.h>

/* "\n", "\x3d", "\033", "\12", "\cA" */
static size_t escape_len(struct text item)
{
    const char c = item.n > 1 ? item.p[1] : 0;
    size_t n = 2;

    if (c == 'x')
        while (n < MIN(item.n, 4) && isxdigit((unsigned char)item.p[n]))
            n++;
    else if (isdigit((unsigned char)c))
        while (n < MIN(item.n, 4) && isdigit((unsigned char)item.p[n]))
            n++;
    else if (c == 'c')
        n = 3;
    return n;
}

struct text pcre_item_quantifier(struct text item)
{
    size_t n = 1;

    if (item.p[0] == '[')
        while (n < item.n && memchr(item.p + n, ']', item.n - n) != NULL)
            n = (size_t)((const char *)memchr(item.p + n, ']', item.n - n) - item.p) + 1;
    else if (item.p[0] == '\\' && item.n > 2 && item.p[2] == '{' &&
             memchr("xopPNgk", item.p[1], 7) != NULL)
        while (n < item.n && item.p[n - 1] != '}')
            n++;
    else if (item.p[0] == '\\')
        n = escape_len(item);
    return text_from(item, MIN(n, item.n));
}

/* Without `?` and `+` behind a quantifier, which say how it goes back. */
static struct text plain_quantifier(struct text item)
{
    struct text q = text_trim(pcre_item_quantifier(item));

    if (q.n > 1 && memchr("?+", q.p[q.n - 1], 2) != NULL &&
        memchr("?*+}", q.p[q.n - 2], 4) != NULL)
        q.n--;
    return q;
}

uint64_t pcre_item_most(struct text item)
{
    struct text q = plain_quantifier(item);
    const char *open, *comma;
    uint64_t most = 1;
    struct text limit;

    if (q.n == 0)
        return 1;
    if (q.p[q.n - 1] == '*' || q.p[q.n - 1] == '+')
        return UINT64_MAX;
    open = q.p[q.n - 1] == '}' ? memchr(q.p, '{', q.n) : NULL;
    if (open == NULL)
        return 1;
    comma = memchr(open, ',', (size_t)(q.p + q.n - open));
    limit.p = comma != NULL ? comma + 1 : open + 1;
    limit.n = (size_t)(q.p + q.n - 1 - limit.p);
    return text_to_decimal(text_trim(limit), UINT64_MAX, &most) ? most : UINT64_MAX;
}

uint64_t pcre_item_least(struct text item)
{
    struct text q = plain_quantifier(item);
    const char *open, *end;
    uint64_t least = 0;

    if (q.n == 0 || q.p[q.n - 1] == '+')
        return 1;
    open = q.p[q.n - 1] == '}' ? memchr(q.p, '{', q.n) : NULL;
    if (open == NULL)
        return 0;
    end = memchr(open, ',', (size_t)(q.p + q.n - open));
    if (end == NULL)
        end = q.p + q.n - 1;
    text_to_decimal(text_trim((struct text){ open + 1, (size_t)(end - open - 1) }), UINT64_MAX,
                    &least);
    return least;
}
