/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/file.h - files and bodies as streams that grow.
 *
 * A parser opens a file in a transaction, appends data as they arrive, and closes it. A sliding
 * window keeps the content that inspection needs (file.data and the body buffers), and, if the file
 * may be stored, everything that is not yet written. Hashes are computed as data arrive, only when
 * required. A file belongs to its transaction and is freed with it. */
#ifndef APP_FILE_H
#define APP_FILE_H

#include "app/conf.h"
#include "app/rules.h"
#include "base/memory/buf.h"
#include "packet/inspection.h"

enum file_state { FILE_OPEN, FILE_CLOSED, FILE_TRUNCATED, FILE_ERROR };

/* Limits of inspection for one kind of content, as in the libhtp and smtp settings. */
struct file_window {
    uint64_t limit;             /* bytes to inspect in total; 0: no limit */
    uint32_t min_inspect;   /* inspect when this many bytes are there, or the content is complete */
    uint32_t window;            /* earlier bytes kept, for matches across the boundary */
};

/* A content that comes byte by byte would have its window inspected with each of them. Once so many
 * bytes were shown again, rules wait for a part of the window, or for the end. */
#define FILE_AGAIN_FREE (256u << 10)
#define FILE_AGAIN_TIMES 16u
static inline bool file_window_waits(const struct file_window *w, uint64_t again, uint64_t size,
                                     uint64_t fresh)
{
    return again > FILE_AGAIN_FREE + FILE_AGAIN_TIMES * size && fresh > 0 &&
           fresh < w->window / FILE_AGAIN_TIMES;
}

/* Space for what the layers above keep with a file, as in a transaction (app/tx.h): struct
 * detect_file in detect/rule/file_slot.h, struct output_file in output/logger.h. */
#define APP_FILE_SLOT_DETECT 72
#define APP_FILE_SLOT_OUTPUT 16
#define APP_FILE_SLOT_ACCESSOR(layer, size)                                                   \
    _Static_assert(sizeof(struct layer##_file) <= (size), "the slot of " #layer " is full");  \
    static inline struct layer##_file *layer##_file(const struct app_file *file)              \
    {                                                                                         \
        return (struct layer##_file *)(uintptr_t)file->slot.layer;                            \
    }

/* Storing is agreed on by three: rules and the configuration request it, outputs do it, and the
 * content is kept until then. */
struct app_file {
    struct app_file *next;
    struct app_tx *tx;
    uint64_t id;                /* EVE file_id, from 1 within the flow */
    enum direction direction;
    enum file_state state;
    bool has_gaps, stored, no_store, store_requested;
    bool unpacked;              /* content from a decompressor, see decoder_memory.h */
    bool rule_stores;           /* a rule with filestore matched */
    bool is_range;
    bool reported;              /* outputs have had it, see app_file_due() */
    uint32_t announced;         /* size that the sender announced: memory is allocated for it at
                                 * once */
    struct slice name;          /* in tx->arena */
    uint64_t size;              /* bytes received, gaps included */
    uint64_t gaps;              /* bytes of `size` that were lost; the members below count content
                                 * only */
    uint64_t start, end, total; /* range, when `is_range` */
    uint64_t inspected;         /* bytes that rules have finished with */
    uint64_t shown;      /* bytes passed to rules; they count as inspected when more have arrived */
    uint64_t again;             /* bytes that rules got once more, for matches across a boundary */
    uint64_t written;           /* bytes that are on disk */
    struct buf window;          /* content from window_start on; read-only */
    uint64_t window_start;
    struct file_window limits;
    const char *magic;          /* libmagic's description; in tx->arena; NULL: not looked up */
    const uint8_t *md5, *sha1, *sha256;         /* NULL: not required, or not complete */
    struct {
        PACKET_SLOT(detect, APP_FILE_SLOT_DETECT);
        PACKET_SLOT(output, APP_FILE_SLOT_OUTPUT);
    } slot;
};

/* The window may be packed while it waits. A caller who reads it without app_file_inspect() has it
 * unpacked first. */
void app_file_unpack(struct app_file *file);
/* Opens a file. name is copied and may be empty. limits NULL: no limit; inspected from 32 KiB on,
 * or when complete. Returns NULL when files are neither inspected nor logged nor stored: the
 * functions below then do nothing. */
struct app_file *app_file_open(struct app_tx *tx, enum direction direction, struct slice name,
                               const struct file_window *limits);
void app_file_set_name(struct app_file *file, struct slice name);
/* Returns file number `index` of a transaction. Calls with rising numbers do not walk from the
 * first file. */
struct app_file *app_file_at(const struct app_tx *tx, enum direction d, unsigned index);
void app_file_append(struct app_file *file, const uint8_t *data, uint32_t len);
void app_file_gap(struct app_file *file, uint64_t len);
void app_file_close(struct app_file *file, enum file_state state);      /* once; later calls do
                                                                         * nothing */
/* The flow has ended with the file open, or with all of a direction: FILE_TRUNCATED, and without a
 * hash unless the file store needs one, as in Suricata. */
void app_file_leave(struct app_file *file);
void app_files_leave(struct app_tx *tx, enum direction direction);

/* True if the file has ended and may be logged with this packet: a packet of the file's direction
 * that rules have inspected, or one that nothing follows. Until then its transaction is kept. */
bool app_file_due(const struct app_file *file, const struct inspection *in);

/* Returns what to inspect now: the new bytes, and `window` bytes before them. *position is the
 * offset of out->data[0] in the file. False while the file is open and min_inspect is not reached,
 * or when nothing is new. */
bool app_file_inspect(struct app_file *file, struct slice *out, uint64_t *position);
/* Returns libmagic's description once enough data have arrived, or all; NULL before that, or
 * without libmagic. */
const char *app_file_magic(struct app_file *file);

/* The buffers that a protocol with files lists among its own: static declarations called file_data,
 * file_name and file_magic, present from these steps of progress on. */
bool app_file_get_data(struct app_tx *tx, enum direction d, unsigned index, struct slice *out);
uint64_t app_file_data_position(struct app_tx *tx, enum direction d, unsigned index);
bool app_file_data_is_cut(struct app_tx *tx, enum direction d, unsigned index);
bool app_file_retained(struct app_tx *tx, enum direction d, struct slice *out, uint64_t *position);
bool app_file_get_name(struct app_tx *tx, enum direction d, unsigned index, struct slice *out);
bool app_file_get_magic(struct app_tx *tx, enum direction d, unsigned index, struct slice *out);
#define APP_FILE_BUFFERS(directions_, ts, tc) \
    APP_FILE_BUFFERS_BY(directions_, ts, tc, app_file_get_data, APP_BOTH)
/* never: directions in which rules cannot test a file for absence. */
#define APP_FILE_BUFFERS_BY(directions_, ts, tc, get_data, never)                            \
    static const struct app_buffer file_data = {                                             \
        .name = "file.data", .alias = "file_data", .doc = "content of files",                \
        .directions = (directions_), .progress = { (ts), (tc) }, .multi = true,              \
        .never_absent = (never), .grows = true, .get = get_data,                             \
        .position = app_file_data_position, .is_cut = app_file_data_is_cut,                  \
        .files = APP_FILE_CONTENT, .flushes = true,                                          \
    };                                                                                       \
    static const struct app_buffer file_name = {                                             \
        .name = "file.name", .doc = "name of a file",                                        \
        .directions = (directions_), .progress = { (ts), (tc) }, .multi = true,              \
        .never_absent = APP_BOTH, .grows = true, .get = app_file_get_name,                   \
    };                                                                                       \
    static const struct app_buffer file_magic = {                                            \
        .name = "file.magic", .doc = "what libmagic says of a file",                         \
        .directions = (directions_), .progress = { (ts), (tc) }, .multi = true,              \
        .never_absent = APP_BOTH, .grows = true, .get = app_file_get_magic,                  \
        .files = APP_FILE_MAGIC,                                                             \
    }

#endif
