/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/life_tx.c - transactions and their files: when they began, moved and ended. */
#include "app/core/file.h"
#include "base/memory/traffic_memory.h"
#include "detect/explain/life_private.h"
#include "detect/explain/notes.h"

#include <stdio.h>

/* --- files ------------------------------------------------------------------------------------ */

static struct life_file *file_find(struct life_flow *f, uint64_t id)
{
    for (size_t i = f->file.count; i > 0; i--)
        if (f->file.at[i - 1].id == id)
            return &f->file.at[i - 1];
    return NULL;
}

static void file_members(struct life *l, struct life_record *r, const struct app_file *file)
{
    static const char *const states[] = { "open", "complete", "truncated", "error" };
    char hash[65];

    life_number(r, "file_id", file->id);
    life_number(r, "tx_id", file->tx->id);
    life_number(r, "size", file->size);
    life_word(l, r, "state", states[file->state]);
    if (file->sha256 == NULL)
        return;
    for (unsigned i = 0; i < 32; i++)
        snprintf(hash + 2 * i, 3, "%02x", file->sha256[i]);
    life_word(l, r, "sha256", hash);
}

static void file_name_add(struct life *l, const struct app_file *file)
{
    buf_clear(&l->text);
    if (file->name.len > 0)
        text_add_bytes(&l->text, file->name, 60);
    else
        BUF_LITERAL(&l->text, "without a name");
    buf_add_u8(&l->text, '\0');
}

static void tell_file(struct life *l, const struct app_file *file)
{
    static const char *const ends[] = { "is open", "is complete", "ends before it is complete",
                                        "has failed" };
    struct life_flow *f = l->at_flow;
    struct life_file *known = file_find(f, file->id);
    struct life_record *r;

    if (known != NULL && known->state == file->state)
        return;
    file_name_add(l, file);
    if (known == NULL) {
        if (!ARRAY_HAS_SPACE(&f->file, 1))
            return;
        f->file.at[f->file.count++] = (struct life_file){ file->id, FILE_OPEN };
        known = &f->file.at[f->file.count - 1];
        f->files++;
        if (file->state == FILE_OPEN) {
            r = life_log(l, LIFE_FILE, file->direction, "file %llu begins: %s, transaction %llu",
                         (unsigned long long)file->id, (char *)l->text.data,
                         (unsigned long long)file->tx->id);
            file_members(l, r, file);
            return;
        }
    }
    known->state = (uint8_t)file->state;
    r = life_log(l, LIFE_FILE, file->direction, "file %llu %s: %s, %llu bytes%s",
                 (unsigned long long)file->id, ends[file->state], (char *)l->text.data,
                 (unsigned long long)file->size, file->has_gaps ? ", with gaps" : "");
    file_members(l, r, file);
}

/* --- transactions ----------------------------------------------------------------------------- */

static struct life_tx *tx_find(struct life_flow *f, uint64_t id)
{
    for (size_t i = 0; i < f->tx.count; i++)
        if (f->tx.at[i].id == id)
            return &f->tx.at[i];
    return NULL;
}

static void describe(struct life *l, struct app_tx *tx)
{
    buf_clear(&l->text);
    text_add_tx(&l->text, tx);
    buf_add_u8(&l->text, '\0');
}

static struct life_tx *tx_begin(struct life *l, struct app_tx *tx)
{
    struct life_flow *f = l->at_flow;

    if (!ARRAY_HAS_SPACE(&f->tx, 1))
        return NULL;
    f->transactions++;
    describe(l, tx);
    life_number(life_log(l, LIFE_TX, l->in->direction, "%s begins", (char *)l->text.data),
                "tx_id", tx->id);
    f->tx.at[f->tx.count++] = (struct life_tx){ .id = tx->id };
    return &f->tx.at[f->tx.count - 1];
}

/* A step is a number; most protocols have a name for it. */
static const char *step_name(const struct app_proto *proto, enum direction d, unsigned step,
                             char out[24])
{
    for (const struct app_name *n = proto->progress_names[d]; n != NULL && n->name != NULL; n++)
        if (n->value == step)
            return n->name;
    snprintf(out, 24, "%u", step);
    return out;
}

static void tell_progress(struct life *l, struct app_tx *tx, struct life_tx *known)
{
    const struct app_proto *proto = tx->flow->proto;

    for (unsigned d = 0; d < 2; d++) {
        char number[24];
        const char *step;
        struct life_record *r;

        if (tx->progress[d] == known->progress[d])
            continue;
        known->progress[d] = tx->progress[d];
        step = step_name(proto, (enum direction)d, tx->progress[d], number);
        r = life_log(l, LIFE_TX, (enum direction)d, "transaction %llu: the %s has reached %s",
                     (unsigned long long)tx->id, life_side((enum direction)d), step);
        life_number(r, "tx_id", tx->id);
        life_word(l, r, "of", life_side((enum direction)d));
        life_word(l, r, "progress", step);
    }
}

static const char *event_name(const struct app_proto *proto, unsigned event)
{
    for (const struct app_name *n = proto->events; n != NULL && n->name != NULL; n++)
        if (n->value == event)
            return n->name;
    return "?";
}

static void tell_events(struct life *l, const struct app_tx *tx, struct life_tx *known)
{
    const struct app_proto *proto = tx->flow->proto;

    for (; known->events < tx->event_count; known->events++) {
        const char *name = event_name(proto, app_tx_event_at(tx, known->events));
        struct life_record *r = life_log(l, LIFE_EVENT, l->in->direction,
                                         "transaction %llu: %s.%s", (unsigned long long)tx->id,
                                         proto->name, name);

        life_word(l, r, "event", name);
        life_number(r, "tx_id", tx->id);
    }
}

static void tell_done(struct life *l, struct app_tx *tx, struct life_tx *known)
{
    const struct app_proto *proto = tx->flow->proto;

    if (known->is_done || !app_tx_done(tx, TO_SERVER, proto) || !app_tx_done(tx, TO_CLIENT, proto))
        return;
    known->is_done = true;
    describe(l, tx);
    life_number(life_log(l, LIFE_TX, l->in->direction, "%s is over", (char *)l->text.data),
                "tx_id", tx->id);
}

static void tell_tx(struct life *l, struct app_tx *tx)
{
    struct life_tx *known = tx_find(l->at_flow, tx->id);

    if (known == NULL)
        known = tx_begin(l, tx);
    if (known == NULL)
        return;
    tell_progress(l, tx, known);
    tell_events(l, tx, known);
    for (unsigned d = 0; d < 2; d++)
        for (const struct app_file *file = tx->files[d]; file != NULL; file = file->next)
            tell_file(l, file);
    tell_done(l, tx, known);
}

/* What the engine has freed is not asked about again. */
static void remove_freed(struct life_flow *f, const struct app_flow *af)
{
    size_t kept = 0;

    for (size_t i = 0; i < f->tx.count; i++)
        if (af->first != NULL && f->tx.at[i].id >= af->first->id)
            f->tx.at[kept++] = f->tx.at[i];
    f->tx.count = kept;
}

void life_tell_transactions(struct life *l)
{
    struct app_flow *af = l->in->flow != NULL ? l->in->flow->app : NULL;

    if (af == NULL || af->proto == NULL)
        return;
    remove_freed(l->at_flow, af);
    for (struct app_tx *tx = af->first; tx != NULL; tx = tx->next)
        tell_tx(l, tx);
}
