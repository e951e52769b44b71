/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/proto/labels.c - a domain name with dots in a message of DNS, which has the length
 * of the next label in place of each dot (RFC 1035 section 3.1). */
#include "detect/explain/notes.h"
#include "match/spm_literal.h"

#include <string.h>

#define LABEL_MOST 63u

/* Up to the next dot, or to the end, where the label may go on. */
static bool length_fits(struct slice name, uint32_t dot, uint8_t length)
{
    const uint8_t *next = memchr(name.data + dot + 1, '.', name.len - dot - 1);
    uint32_t end = next != NULL ? (uint32_t)(next - name.data) : name.len;

    return length <= LABEL_MOST && (next != NULL ? length == end - dot - 1
                                                 : length >= end - dot - 1);
}

static bool stands_at(struct slice data, uint32_t at, struct slice name)
{
    for (uint32_t i = 0; i < name.len; i++) {
        uint8_t byte = data.data[at + i];

        if (name.data[i] == '.' ? !length_fits(name, i, byte)
                                : ascii_lower(name.data[i]) != ascii_lower(byte))
            return false;
    }
    return true;
}

void describe_labels(struct slice data, struct slice name, struct buf *out)
{
    if (name.len < 3 || memchr(name.data, '.', name.len) == NULL)
        return;
    for (uint32_t at = 0; at + name.len <= data.len; at++) {
        if (!stands_at(data, at, name))
            continue;
        buf_add_string(out, "; it stands there as labels of DNS, ");
        text_add_bytes(out, (struct slice){ data.data + at, name.len }, 60);
        buf_printf(out, " at %u: dns.query has names with dots", at);
        return;
    }
}
