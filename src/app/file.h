/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/file.h - files and bodies as streams that grow.
 *
 * A parser opens a file in a transaction, appends what arrives and closes it. The content is
 * kept in a sliding window: enough for inspection (file.data and the body buffers), everything
 * not yet written when it is being stored. Hashes run as data come, only when wanted. */
#ifndef APP_FILE_H
#define APP_FILE_H

#include "app/app.h"

enum file_state { FILE_OPEN, FILE_CLOSED, FILE_TRUNCATED, FILE_ERROR };

struct app_file {
    struct app_file *next;
    struct app_tx *tx;
    uint64_t id;                /* EVE file_id */
    enum direction direction;
    enum file_state state;
    bool has_gaps, stored, no_store, want_store, force_magic;
    bool md5_done, sha1_done, sha256_done;
    struct slice name;          /* in tx->arena */
    uint64_t size;              /* bytes seen, gaps included */
    uint64_t start, end;        /* range, when `is_range` */
    bool is_range;
    uint64_t inspected;         /* bytes that detect has seen */
    struct buf window;          /* content from window_start on */
    uint64_t window_start;
    const char *magic;          /* libmagic's description; in tx->arena; NULL: not looked up */
    uint8_t md5[16], sha1[20], sha256[32];
    uint32_t sid_count;
    uint32_t sids[16];          /* rules with filestore that matched */
    uint8_t logged;             /* bit per eve-log; output's */
    void *internal;             /* hash contexts, store handle */
};

/* Limits of inspection for one kind of content: as the libhtp and smtp settings. */
struct file_window {
    uint64_t limit;             /* bytes to keep at all; 0: no bound */
    uint32_t min_inspect;       /* wait for so many, unless complete */
    uint32_t window;            /* earlier bytes kept for matches across the edge */
};

/* NULL when files are not tracked at all. name may be empty. */
struct app_file *app_file_open(struct app_tx *tx, enum direction direction, struct slice name,
                               const struct file_window *window);
void app_file_append(struct app_file *file, const uint8_t *data, uint32_t len);
void app_file_gap(struct app_file *file, uint64_t len);
void app_file_close(struct app_file *file, enum file_state state);

/* What there is to inspect now: at most from window_start on; false while min_inspect is not
 * reached and the file is open. */
bool app_file_inspect(const struct app_file *file, const struct file_window *window,
                      struct slice *out, uint64_t *position);
const char *app_file_magic(struct app_file *file);

/* What outputs and rules want of every file; load time, before threads start. */
#define FILE_WANT_MD5    1u
#define FILE_WANT_SHA1   2u
#define FILE_WANT_SHA256 4u
#define FILE_WANT_MAGIC  8u
#define FILE_WANT_STORE  16u
void app_files_want(unsigned what);
bool app_files_want_hash(const char *name);     /* "md5"; false: no such hash */

#endif
