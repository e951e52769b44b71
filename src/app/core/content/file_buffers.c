/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/content/file_buffers.c - file.data, file.name and file.magic of a transaction's files,
 * for every protocol that has files: each declares them with its own progress, see
 * APP_FILE_BUFFERS(). */
#include "app/core/file.h"

/* A file with nothing to show yet must not hide the files after it: rules ask for index 0, 1, ...
 * and stop at the first false. */
bool app_file_get_data(struct app_tx *tx, enum direction d, unsigned index, struct slice *out)
{
    struct app_file *file = app_file_at(tx, d, index);
    uint64_t position;

    if (file == NULL)
        return false;
    if (!app_file_inspect(file, out, &position))
        *out = (struct slice){ .data = (const uint8_t *)"", .len = 0 };
    return out->len > 0 || file->next != NULL;
}

uint64_t app_file_data_position(struct app_tx *tx, enum direction d, unsigned index)
{
    struct app_file *file = app_file_at(tx, d, index);
    struct slice data;
    uint64_t position = 0;

    if (file != NULL)
        app_file_inspect(file, &data, &position);
    return position;
}

/* Content beyond the limit does not come here, so that of this size may have been longer. */
bool app_file_data_is_cut(struct app_tx *tx, enum direction d, unsigned index)
{
    const struct app_file *file = app_file_at(tx, d, index);

    return file != NULL && file->limits.limit != 0 &&
           file->size - file->gaps >= file->limits.limit;
}

/* All that is kept of the first file, inspected or not, for outputs. */
bool app_file_retained(struct app_tx *tx, enum direction d, struct slice *out, uint64_t *position)
{
    struct app_file *file = tx->files[d];

    if (file == NULL)
        return false;
    app_file_unpack(file);
    if (file->window.len == 0)
        return false;
    *out = buf_slice(&file->window);
    *position = file->window_start;
    return true;
}

bool app_file_get_name(struct app_tx *tx, enum direction d, unsigned index, struct slice *out)
{
    const struct app_file *file = app_file_at(tx, d, index);

    if (file == NULL)
        return false;
    *out = file->name;
    if (out->data == NULL)
        out->data = (const uint8_t *)"";
    return true;
}

bool app_file_get_magic(struct app_tx *tx, enum direction d, unsigned index, struct slice *out)
{
    struct app_file *file = app_file_at(tx, d, index);
    const char *magic;
    struct text t;

    if (file == NULL)
        return false;
    magic = app_file_magic(file);
    t = text_of(magic);
    *out = (struct slice){ .data = (const uint8_t *)(magic != NULL ? t.p : ""),
                           .len = (uint32_t)t.n };
    return magic != NULL || file->next != NULL;
}
