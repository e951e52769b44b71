/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/byte_value.c - reads the number that byte_test, byte_jump, byte_extract and
 * byte_math use: 1 to 8 binary bytes, or digits. */
#include "detect/rule/program.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* Big endian is the default of all byte keywords. */
static uint64_t binary_value(const uint8_t *p, uint32_t n, bool little)
{
    uint64_t value = 0;

    for (uint32_t i = 0; i < n; i++)
        value = value << 8 | p[little ? n - 1 - i : i];
    return value;
}

/* Digits as strtoull() reads them: blanks and a sign in front, then as many digits as fit
 * the base. *used counts all of that. 31 characters are enough for 23 digits in the data
 * and some blanks. */
static bool digits_value(const uint8_t *p, uint32_t n, int base, uint64_t *value, uint32_t *used)
{
    char text[32], *end;

    n = MIN(n, sizeof(text) - 1);
    memcpy(text, p, n);
    text[n] = '\0';
    errno = 0;
    *value = strtoull(text, &end, base);
    *used = (uint32_t)(end - text);
    return end != text && errno == 0;
}

/* 23 digits: the longest octal number of 64 bits with a leading zero, Suricata's limit. A position
 * outside the buffer is no match and no error, even if it comes from a variable. */
bool byte_extract_value(const struct step *s, const struct program_run *run, uint64_t *value,
                        uint32_t *end)
{
    uint32_t most = s->flags & OP_STRING ? 23 : 8;
    uint64_t nbytes = s->flags & OP_NBYTES_VAR ? run->vars[s->byte.nbytes] : s->byte.nbytes;
    int64_t at = s->flags & OP_OFFSET_VAR ? (int32_t)run->vars[s->byte.offset] : s->byte.offset;
    bool little = s->flags & OP_DCE ? run->little : s->flags & OP_LITTLE;
    uint32_t used;

    if (run->len == 0 || nbytes > most)
        return false;
    if (s->flags & OP_RELATIVE)
        at += run->at;
    /* A jump of no bytes may start at the very end. */
    if (at < 0 || at + (int64_t)nbytes > (int64_t)run->len ||
        (at == (int64_t)run->len && (nbytes > 0 || s->kind != OP_BYTE_JUMP)))
        return false;
    used = (uint32_t)nbytes;
    if (s->flags & OP_STRING) {
        if (used == 0)                  /* as many digits as there are */
            used = run->len - (uint32_t)at;
        if (!digits_value(run->data + at, used, s->byte.base, value, &used))
            return false;
    } else {
        *value = binary_value(run->data + at, used, little);
    }
    if (s->flags & OP_BITMASK) {
        *value &= s->byte.mask;
        *value >>= s->byte.mask_shift;
    }
    *end = (uint32_t)at + used;
    return true;
}
