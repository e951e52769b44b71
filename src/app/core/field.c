/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/field.c - reads the members of transactions that keywords show as they are. */
#include "app/rules.h"

#include <string.h>

/* Returns the address of the field in the transaction, or NULL if this transaction lacks it. Copies
 * from `base` use memcpy(), because offsets carry no type. */
static const uint8_t *find(const struct app_field *field, const struct app_tx *tx,
                           enum direction d)
{
    const uint8_t *base = (const uint8_t *)tx;
    enum direction sender;
    bool flag;

    if (field->sender != 0) {
        memcpy(&sender, base + field->sender, sizeof(sender));
        if (sender != d)
            return NULL;
    }
    if (field->when == APP_FIELD_IF) {
        memcpy(&flag, base + field->flag, sizeof(flag));
        if (!flag)
            return NULL;
    }
    return base + field->offset + (d == TO_CLIENT ? field->step : 0);
}

/* APP_FIELD_KNOWN takes an empty value for one: "" was seen, NULL was not. */
bool app_field_slice(const struct app_field *field, const struct app_tx *tx,
                     enum direction direction, struct slice *out)
{
    const uint8_t *at = find(field, tx, direction);

    if (at == NULL)
        return false;
    memcpy(out, at, sizeof(*out));
    if (field->when == APP_FIELD_KNOWN)
        return out->data != NULL;
    return field->when != APP_FIELD_FILLED || out->len > 0;
}

/* Numbers are widened here, so keywords and logs need no code for each width. Unless the field is
 * always there or has a flag, 0 means "not seen". */
bool app_field_number(const struct app_field *field, const struct app_tx *tx,
                      enum direction direction, uint64_t *out)
{
    const uint8_t *at = find(field, tx, direction);
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
