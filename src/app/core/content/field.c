/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/content/field.c - reads the members of transactions that keywords show as they are. */
#include "app/rules.h"
#include "app/values.h"

#include <string.h>

/* Reads a pointer through memcpy(), because the offsets say nothing about types. */
static const uint8_t *pointer_at(const uint8_t *at)
{
    const uint8_t *p;

    memcpy(&p, at, sizeof(p));
    return p;
}

static bool has_sent(const uint8_t *base, uint16_t offset, enum direction d)
{
    enum direction sender;

    memcpy(&sender, base + offset, sizeof(sender));
    return sender == d;
}

/* The struct at the end of a path, or NULL. The path is the keyword of the place in a list. */
static const uint8_t *follow(const struct app_path *path, struct app_tx *tx, enum direction d,
                             unsigned index)
{
    const uint8_t *base = (const uint8_t *)tx;

    if (path->find != NULL)
        return path->find(tx, d, index);
    if (path->sender != 0 && !has_sent(base, path->sender, d))
        return NULL;
    if (path->pointer != 0)
        base = pointer_at(base + path->pointer + (d == TO_CLIENT ? path->step : 0));
    if (!path->is_list || base == NULL)
        return index == 0 ? base : NULL;
    return app_value_at(tx, &(struct app_values){ .first = pointer_at(base + path->first),
                                                  .next = path->next, .arg = path }, index);
}

/* Where the field is, or NULL when this transaction does not have it. */
static const uint8_t *find(const struct app_field *field, struct app_tx *tx, enum direction d,
                           unsigned index)
{
    const uint8_t *base = (const uint8_t *)tx;
    size_t step = d == TO_CLIENT ? field->step : 0;
    bool flag;

    if (field->path != NULL)
        base = follow(field->path, tx, d, index);
    else if (index > 0)
        return NULL;
    if (base == NULL || (field->sender != 0 && !has_sent(base, field->sender, d)))
        return NULL;
    if (field->when == APP_FIELD_IF) {
        memcpy(&flag, base + field->flag + step, sizeof(flag));
        if (!flag)
            return NULL;
    }
    return base + field->offset + step;
}

/* APP_FIELD_KNOWN takes an empty value for one: "" was seen, NULL was not. */
bool app_field_slice(const struct app_field *field, struct app_tx *tx, enum direction direction,
                     unsigned index, struct slice *out)
{
    const uint8_t *at = find(field, tx, direction, index);

    if (at == NULL)
        return false;
    if (field->type == APP_FIELD_BYTES || field->type == APP_FIELD_TEXT) {
        *out = (struct slice){ at, field->size };
        if (field->type == APP_FIELD_TEXT)
            out->len = (uint32_t)strnlen((const char *)at, field->size);
        return field->when != APP_FIELD_FILLED || out->len > 0;
    }
    memcpy(out, at, sizeof(*out));
    if (field->when == APP_FIELD_KNOWN)
        return out->data != NULL;
    return field->when != APP_FIELD_FILLED || out->len > 0;
}

/* Numbers are widened here, so keywords and logs need no code for each width. Unless the field is
 * always there or has a flag, 0 means "not seen". */
bool app_field_number(const struct app_field *field, struct app_tx *tx, enum direction direction,
                      unsigned index, uint64_t *out)
{
    const uint8_t *at = find(field, tx, direction, index);
    uint16_t u16;
    uint32_t u32;

    if (at == NULL)
        return false;
    if (field->type == APP_FIELD_U8) {
        *out = *at;
    } else if (field->type == APP_FIELD_U16) {
        memcpy(&u16, at, sizeof(u16));
        *out = u16;
    } else {
        memcpy(&u32, at, sizeof(u32));
        *out = u32;
    }
    return field->when == APP_FIELD_ALWAYS || field->when == APP_FIELD_IF || *out != 0;
}
