/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/file.c - files: window, hashes, magic. All of it belongs to the thread that inspects the
 * flow; nothing is shared. Names, sizes and content come from the network. */
#include "app/core/decoder_memory.h"
#include "app/core/files.h"
#include "app/core/settings.h"
#include "app/core/thread.h"
#include "app/lib/magic.h"
#include "app/lib/packed_window.h"
#include "app/parser.h"
#include "base/memory/lib_memory.h"
#include "base/memory/traffic_memory.h"
#include "base/system/digest.h"
#include "packet/packet.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC_BYTES 512           /* libmagic gets at least this many, unless the file is shorter */
#define DROP_AT_LEAST 4096          /* moving the window for less does not pay */
#define FIT_FREE 256                /* so much free space is not worth a copy */
#define MANY 256                    /* files of a thread: few have little space that is free */
/* Of a transaction's files in one direction that are over, so many stay for rules whose other
 * conditions come later. Each packet of the transaction looks at all of them. */
#define KEPT 64
/* With many files: so much that rules have seen does not wait. */
#define SEEN_MAX (32u << 10)
#define ANNOUNCED_MAX 8192u         /* the most that an announced size alone makes us reserve */
#define SPARE_TIMES 4u              /* a spare buffer of so many times the announced size will do */
#define SPARE_LEAST 1024u

/* Hashes of a file, and their results. */
struct file_hashes {
    struct digest_stream stream[DIGEST_COUNT];
    uint8_t result[DIGEST_COUNT][DIGEST_MAX];
};

struct file_private {
    struct app_file file;           /* first */
    struct file_hashes *hash;       /* NULL: none is required */
    bool hashing[DIGEST_COUNT];
    bool magic_tried;
    /* Set in a list's first file only: the list's end, and the file that was returned last. */
    struct app_file *last, *recent;
    unsigned recent_index, count;
    uint32_t held;                      /* memory of the window, if it counts as unpacked */
    struct packed_window packed;        /* then it may be packed while it waits */
};

static const uint32_t hash_features[DIGEST_COUNT] = {
    [DIGEST_MD5] = APP_FILE_MD5,
    [DIGEST_SHA1] = APP_FILE_SHA1,
    [DIGEST_SHA256] = APP_FILE_SHA256,
};

static struct file_private *private_of(struct app_file *file)
{
    return CONTAINER_OF(file, struct file_private, file);
}

/* The thread that owns the flow's inspection. */
static struct app_thread *thread_of(const struct app_file *file)
{
    return file->tx->flow->thread;
}

/* Returns the features that rules and outputs require of files; bits may be added while the file is
 * open. */
static uint32_t required_of(const struct app_file *file)
{
    return required_get(&thread_of(file)->conf->required_files);
}

/* --- life ------------------------------------------------------------------------------------- */

void app_file_pool_init(struct pool *pool)
{
    pool_init(pool, sizeof(struct file_private), 32, 0);
}

void app_file_pool_fini(struct pool *pool)
{
    pool_fini(pool);
}

/* No memory means no hashes, the same result as for a file that was truncated. */
static void start_hashes(struct file_private *fp, uint32_t required)
{
    if (LIKELY((required & (APP_FILE_MD5 | APP_FILE_SHA1 | APP_FILE_SHA256)) == 0))
        return;
    fp->hash = lib_malloc(sizeof(*fp->hash));
    for (unsigned i = 0; i < DIGEST_COUNT; i++) {
        fp->hashing[i] = fp->hash != NULL && (required & hash_features[i]) != 0;
        if (fp->hashing[i])
            digest_begin(&fp->hash->stream[i], i);
    }
}

static struct file_private *file_fresh(struct app_thread *at)
{
    struct file_private *fp = pool_get(&at->files);

    if (fp == NULL)
        return NULL;
    *fp = (struct file_private){ 0 };
    return fp;
}

void app_file_set_name(struct app_file *file, struct slice name)
{
    if (file == NULL)
        return;
    file->name = (struct slice){ 0 };
    if (name.len == 0)
        return;
    file->name.data = arena_copy(&file->tx->arena, name.data, name.len);
    file->name.len = name.len;
}

/* The first file of a list knows its end: an SMB or NFS transaction may carry many files. */
static void link_last(struct app_tx *tx, struct app_file *file)
{
    struct app_file *first = tx->files[file->direction];

    if (first == NULL)
        tx->files[file->direction] = first = file;
    else
        private_of(first)->last->next = file;
    private_of(first)->last = file;
    private_of(first)->count++;
}

/* Rules request index 0, 1, 2, ..., so the walk continues from the last result. A walk from the
 * front would be quadratic in the number of files, which the peer chooses. */
struct app_file *app_file_at(const struct app_tx *tx, enum direction d, unsigned index)
{
    struct app_file *file = tx->files[d];
    struct file_private *first;
    unsigned at = 0;

    if (file == NULL)
        return NULL;
    first = private_of(file);
    if (first->recent != NULL && first->recent_index <= index) {
        file = first->recent;
        at = first->recent_index;
    }
    for (; at < index && file != NULL; at++)
        file = file->next;
    if (file != NULL) {
        first->recent = file;
        first->recent_index = index;
    }
    return file;
}

/* Suricata's default, used without a setting. */
static const struct file_window usual_limits = { .min_inspect = 32768 };

struct app_file *app_file_open(struct app_tx *tx, enum direction direction, struct slice name,
                               const struct file_window *limits)
{
    struct app_thread *at = tx->flow->thread;
    uint32_t required = required_get(&at->conf->required_files);
    struct file_private *fp;

    if (required == 0)
        return NULL;
    fp = file_fresh(at);
    if (fp == NULL)
        return NULL;
    fp->file.tx = tx;
    fp->file.id = ++tx->flow->file_id;
    fp->file.direction = direction;
    fp->file.limits = limits != NULL ? *limits : usual_limits;
    fp->file.store_requested = tx->store_files[direction] ||
                          (~required & (APP_FILE_STORE | APP_FILE_STORE_ALL)) == 0;
    app_file_set_name(&fp->file, name);
    start_hashes(fp, required);
    link_last(tx, &fp->file);
    tx->files_open++;
    return &fp->file;
}

static void release_window(struct app_file *file)
{
    window_drop(&private_of(file)->packed);
    app_buf_release(thread_of(file), &file->window);
    unpacked_memory_set(file->tx->flow, &private_of(file)->held, 0);
}

static void file_free(struct app_thread *at, struct app_file *file)
{
    if (at->hooks.file_released != NULL)
        at->hooks.file_released(file);
    release_window(file);
    lib_free(private_of(file)->hash);
    pool_put(&at->files, private_of(file));
}

void app_files_free(struct app_thread *at, struct app_tx *tx)
{
    for (unsigned d = 0; d < 2; d++) {
        for (struct app_file *file = tx->files[d], *next; file != NULL; file = next) {
            next = file->next;
            file_free(at, file);
        }
        tx->files[d] = NULL;
    }
}

/* --- content ---------------------------------------------------------------------------------- */

/* A file that rules asked to store, or any while the store is on and a rule may still ask. */
static bool may_be_stored(const struct app_file *file)
{
    return !file->no_store && (file->store_requested || (required_of(file) & APP_FILE_STORE) != 0);
}

/* The number of content bytes so far, which is also the window's end. Gaps do not count. */
static uint64_t content_size(const struct app_file *file)
{
    return file->size - file->gaps;
}

/* Inspection ends at the limit of the protocol's settings (libhtp's body limits, for instance). */
static bool is_for_rules(const struct app_file *file)
{
    return (required_of(file) & APP_FILE_CONTENT) != 0 &&
           !file->tx->no_inspect[file->direction] &&
           (file->limits.limit == 0 || content_size(file) <= file->limits.limit);
}

/* Rules are known per protocol and direction; without one the window need not be kept for them. */
static bool rules_look_into(const struct app_file *file)
{
    const uint32_t *required = &thread_of(file)->conf->required_content[file->tx->flow->proto->id];

    return (required_get(required) & APP_DIRECTION_BIT(file->direction)) != 0;
}

static bool is_for_magic(struct app_file *file)
{
    return (required_of(file) & APP_FILE_MAGIC) != 0 && !private_of(file)->magic_tried &&
           file->window_start == 0;
}

/* What it counts for may be refused: that is for new content, and this one has been granted. */
void app_file_unpack(struct app_file *file)
{
    struct file_private *fp = private_of(file);

    if (LIKELY(!window_is_packed(&fp->packed)))
        return;
    if (!window_unpack(&fp->packed, &file->window)) {
        file->window_start = content_size(file);
        file->has_gaps = true;
    }
    (void)unpacked_memory_set(file->tx->flow, &fp->held, file->window.cap);
}

/* Without a reader the window would only grow, so it stays empty and moves along. */
static void skip_content(struct app_file *file)
{
    window_drop(&private_of(file)->packed);
    file->window.len = 0;
    file->window_start = content_size(file);
}

static bool are_many(const struct app_file *file)
{
    return UNLIKELY(thread_of(file)->files.in_use >= MANY);
}

/* The most that the window is expected to have. UINT32_MAX: not known. Rules inspect no more than
 * the limit, and only the store needs the rest. */
static uint32_t expected_size(const struct app_file *file)
{
    uint64_t size = file->announced != 0 ? file->announced : UINT32_MAX;

    if (file->limits.limit != 0 && !may_be_stored(file))
        size = MIN(size, file->limits.limit);
    return (uint32_t)size;
}

/* A spare buffer may be one that has grown large. With many files it stays spare where so little is
 * expected: the rest may never come. */
static void open_window(struct app_file *file)
{
    uint32_t expected = expected_size(file);
    uint32_t enough = MAX(MIN(expected, ANNOUNCED_MAX), SPARE_LEAST) * SPARE_TIMES;
    uint32_t reserved = file->announced != 0 ? MIN(expected, ANNOUNCED_MAX) : 0;

    file->window = app_buf_take(thread_of(file), reserved);
    if (are_many(file) && expected <= ANNOUNCED_MAX && file->window.cap > enough)
        app_buf_release(thread_of(file), &file->window);
    (void)!buf_reserve(&file->window, reserved);
}

/* Decompressed content counts, with the space of its buffer. */
static bool add_content(struct app_file *file, const uint8_t *data, uint32_t len)
{
    if (file->window.data == NULL)
        open_window(file);
    if (!buf_add(&file->window, data, len))
        return false;
    if (LIKELY(!file->unpacked) || unpacked_memory_set(file->tx->flow, &private_of(file)->held,
                                                       file->window.cap))
        return true;
    release_window(file);
    file->window_start = content_size(file);
    return false;
}

/* Takes the next bytes in order. Hashes cover all content, also what no window keeps. */
void app_file_append(struct app_file *file, const uint8_t *data, uint32_t len)
{
    if (file == NULL || file->state != FILE_OPEN || len == 0)
        return;
    struct file_private *fp = private_of(file);
    bool keep = is_for_rules(file) || may_be_stored(file) || is_for_magic(file);

    app_tx_mark(file->tx);
    app_file_unpack(file);
    for (unsigned i = 0; i < DIGEST_COUNT; i++)
        if (fp->hashing[i])
            digest_add(&fp->hash->stream[i], data, len);
    file->inspected = MAX(file->inspected, file->shown);
    file->size += len;
    if (!keep) {
        skip_content(file);
        return;
    }
    if (UNLIKELY(traffic_memory_gives_back(PRESSURE_BODIES))) {
        skip_content(file);
        file->has_gaps = true;
        return;
    }
    if (!add_content(file, data, len))
        file->has_gaps = true;
}

/* A gap is only counted: rules and the file store see the bytes after it as if nothing were
 * missing. The file will end as FILE_TRUNCATED. */
void app_file_gap(struct app_file *file, uint64_t len)
{
    if (file == NULL || file->state != FILE_OPEN)
        return;
    app_tx_mark(file->tx);
    file->has_gaps = true;
    file->size += len;
    file->gaps += len;
}

static const uint8_t *end_hash(struct file_private *fp, unsigned i)
{
    if (!fp->hashing[i])
        return NULL;
    fp->hashing[i] = false;
    digest_end(&fp->hash->stream[i], fp->hash->result[i]);
    return fp->hash->result[i];
}

/* A second close does nothing, so parsers need not remember whether they closed. */
static void end_file(struct app_file *file, enum file_state state, bool has_hash)
{
    struct file_private *fp = private_of(file);

    if (file->state != FILE_OPEN)
        return;
    if (state == FILE_CLOSED && file->has_gaps)
        state = FILE_TRUNCATED;
    file->state = state;
    file->tx->files_open--;
    app_tx_mark(file->tx);
    if (is_for_magic(file))
        app_file_magic(file);
    if (state == FILE_CLOSED) {
        file->md5 = end_hash(fp, DIGEST_MD5);
        file->sha1 = end_hash(fp, DIGEST_SHA1);
    }
    if (has_hash)
        file->sha256 = end_hash(fp, DIGEST_SHA256);
}

/* Only a complete file has an MD5 and a SHA-1. The file store names files by their SHA-256,
 * truncated ones too. */
void app_file_close(struct app_file *file, enum file_state state)
{
    if (file != NULL)
        end_file(file, state, true);
}

void app_file_leave(struct app_file *file)
{
    if (file != NULL)
        end_file(file, FILE_TRUNCATED, may_be_stored(file));
}

void app_files_leave(struct app_tx *tx, enum direction direction)
{
    for (struct app_file *file = tx->files[direction]; file != NULL; file = file->next)
        app_file_leave(file);
}

/* IPS mode cannot wait. */
static bool waits_for_more(const struct app_file *file)
{
    uint64_t fresh = content_size(file) - MAX(file->inspected, file->shown);

    return UNLIKELY(file_window_waits(&file->limits, file->again, content_size(file), fresh)) &&
           file->state == FILE_OPEN && !file->tx->flow->end[file->direction] &&
           !app_is_inline(file->tx->flow);
}

/* Returns the new bytes, with limits.window bytes before them, so that a pattern across two packets
 * still matches. Waits for min_inspect bytes while the file is open and its direction has not
 * ended. */
bool app_file_inspect(struct app_file *file, struct slice *out, uint64_t *position)
{
    uint64_t from = file->inspected > file->limits.window ? file->inspected - file->limits.window
                                                          : 0;

    if (file->state == FILE_OPEN && content_size(file) < file->limits.min_inspect &&
        !file->tx->flow->end[file->direction])
        return false;
    if (file->inspected >= content_size(file) || waits_for_more(file))
        return false;
    app_file_unpack(file);
    if (file->window.len == 0 || file->inspected >= file->window_start + file->window.len)
        return false;
    from = MAX(from, file->window_start);
    *out = (struct slice){ .data = file->window.data + (from - file->window_start),
                           .len = (uint32_t)(file->window_start + file->window.len - from) };
    *position = from;
    if (file->shown != content_size(file))
        file->again += file->inspected - MIN(from, file->inspected);
    file->shown = content_size(file);
    return true;
}

/* --- what transactions need ------------------------------------------------------------------- */

static bool is_scarce(const struct app_file *file)
{
    return (UNLIKELY(file->unpacked) && unpacked_memory_is_scarce(file->tx->flow)) ||
           (UNLIKELY(file->window.len > SEEN_MAX) && are_many(file));
}

/* The lowest position that rules, the store or libmagic still need; bytes before it can go. What
 * rules have seen stays until more comes, unless memory is scarce or much of it waits: then they
 * have what they will have when more comes. */
static uint64_t needed_from(struct app_file *file)
{
    uint64_t from = content_size(file);
    bool waits = !is_scarce(file);
    uint64_t seen = waits ? file->inspected : MAX(file->inspected, file->shown);

    if (is_for_rules(file) && rules_look_into(file))
        from = seen > file->limits.window ? seen - file->limits.window : 0;
    if (may_be_stored(file))
        from = MIN(from, file->written);
    if (is_for_magic(file) && file->state == FILE_OPEN)
        from = 0;
    return from;
}

/* Only once all bytes of the packet are in: libmagic's answer depends on how much it is given. */
static void try_magic(struct app_file *file)
{
    if (is_for_magic(file) && file->window.len >= MAGIC_BYTES)
        app_file_magic(file);
}

/* Frees the front of the window. Small amounts wait, see DROP_AT_LEAST; an empty window returns its
 * buffer to the thread. */
static void prune(struct app_file *file, bool own_packet)
{
    bool scarce = is_scarce(file);
    uint64_t from, n;

    if (own_packet)
        try_magic(file);
    from = needed_from(file);
    n = from > file->window_start ? from - file->window_start : 0;
    if (n == 0 || (n < DROP_AT_LEAST && n < file->window.len))
        return;
    if (n >= file->window.len) {
        n = file->window.len;
        release_window(file);
    } else {
        buf_drop_front(&file->window, (size_t)n);
        if (scarce)
            buf_shrink(&file->window);
        if (scarce && file->unpacked)
            unpacked_memory_set(file->tx->flow, &private_of(file)->held, file->window.cap);
    }
    file->window_start += n;
}

/* What a file that has ended keeps for rules stays until its transaction ends, which may take as
 * long as the flow. With many of them it goes to a buffer of its size. */
static void fit_window(struct app_file *file)
{
    struct buf fitting = { 0 };

    if (LIKELY(file->state == FILE_OPEN || file->window.len == 0 ||
               file->window.cap <= file->window.len + file->window.len / 2 + FIT_FREE ||
               !are_many(file)))
        return;
    if (!buf_add(&fitting, file->window.data, file->window.len))
        return;
    release_window(file);
    file->window = fitting;
    if (UNLIKELY(file->unpacked))
        unpacked_memory_set(file->tx->flow, &private_of(file)->held, fitting.cap);
}

/* Decompressed content waits. A spare buffer may have much more space than it needs. */
static void pack_window(struct file_private *fp)
{
    struct app_flow *af = fp->file.tx->flow;

    if (LIKELY(!unpacked_memory_is_much(af)))
        return;
    if (window_pack(&fp->packed, &fp->file.window)) {
        unpacked_memory_set(af, &fp->held, fp->packed.size);
    } else if (fp->file.window.cap > 2 * fp->file.window.len + FIT_FREE) {
        buf_shrink(&fp->file.window);
        unpacked_memory_set(af, &fp->held, fp->file.window.cap);
    }
}

void app_files_prune(struct app_tx *tx, enum direction d, bool own_packet)
{
    for (struct app_file *file = tx->files[d]; file != NULL; file = file->next) {
        if (file->window.len == 0)
            continue;
        prune(file, own_packet);
        fit_window(file);
        if (UNLIKELY(file->unpacked))
            pack_window(private_of(file));
    }
}

bool app_file_due(const struct app_file *file, const struct inspection *in)
{
    const struct app_flow *af = file->tx->flow;

    if (file->state == FILE_OPEN)
        return false;
    /* Rules do not look at a segment that the stream engine refuses, so it shows no file either. */
    if (packet_is_tcp(in->packet) && !(in->packet->flags & PACKET_STREAM_OPEN))
        return inspection_ends_flow(in);
    return in->direction == file->direction || inspection_ends_flow(in) ||
           (af->end[TO_SERVER] && af->end[TO_CLIENT]);
}

bool app_files_wait(const struct app_flow *af, enum direction d)
{
    if (!af->end[d])
        return false;
    for (const struct app_tx *tx = af->first; tx != NULL; tx = tx->next)
        for (const struct app_file *file = tx->files[d]; file != NULL; file = file->next)
            if (file->state != FILE_OPEN && !file->reported)
                return true;
    return false;
}

/* An open file may still grow. A closed one stays until the logs have it, and until the store has
 * written it when it is to be stored. */
static bool file_done(const struct app_file *file, uint32_t required)
{
    if (file->state == FILE_OPEN && !file->tx->flow->end[file->direction])
        return false;
    if (!file->reported && file->state != FILE_OPEN && (required & APP_FILE_TRACK) != 0)
        return false;
    return !file->store_requested || file->no_store || file->stored ||
           (required & APP_FILE_STORE) == 0;
}

/* Frees the oldest but the first, which has the list, and whose content is searched from where the
 * last search ended. A parser may still hold the newest, and that is never one of these. */
static void drop_oldest(struct app_tx *tx, unsigned d, uint32_t required)
{
    struct file_private *first = private_of(tx->files[d]);
    struct app_file *old;

    while (first->count > KEPT && (old = first->file.next)->reported && file_done(old, required)) {
        first->file.next = old->next;
        first->count--;
        first->recent = NULL;
        file_free(tx->flow->thread, old);
    }
}

/* Also notes that a file is reported with this packet, so it must run once per packet, after the
 * outputs. */
bool app_files_done(struct app_tx *tx, const struct inspection *in, uint32_t required)
{
    bool done = true;

    for (unsigned d = 0; d < 2; d++) {
        for (struct app_file *file = tx->files[d]; file != NULL; file = file->next) {
            file->reported |= app_file_due(file, in);
            done &= file_done(file, required);
        }
        if (tx->files[d] != NULL)
            drop_oldest(tx, d, required);
    }
    return done;
}

bool app_files_idle(const struct app_tx *tx, uint32_t required)
{
    for (unsigned d = 0; d < 2; d++)
        for (const struct app_file *file = tx->files[d]; file != NULL; file = file->next)
            if (file->state != FILE_OPEN && !file_done(file, required))
                return false;
    return true;
}

/* --- magic ------------------------------------------------------------------------------------ */

/* The bytes of the flow's packets, the current one included, less what lookups have cost so far. */
static uint64_t units_left(const struct app_flow *af)
{
    const struct packet *p = af->thread->packet;
    uint64_t bytes, spent = af->ext != NULL ? af->ext->magic_spent : 0;

    if (af->flow == NULL)
        return 0;
    bytes = af->flow->bytes[TO_SERVER] + af->flow->bytes[TO_CLIENT] + (p != NULL ? p->len : 0);
    return bytes - MIN(spent, bytes);
}

/* Several threads must not use one libmagic handle at a time, so each thread opens its own, and
 * loads the database only when the first file needs it. Does not try again when that fails. */
static struct app_magic *magic_of(struct app_thread *at)
{
    if (at->magic == NULL && !at->magic_tried) {
        at->magic_tried = true;
        at->magic = app_magic_new(at->conf->magic_file);
    }
    return at->magic;
}

static const char *look_up(struct app_flow *af, struct slice data)
{
    struct app_thread *at = af->thread;
    struct app_magic *magic = magic_of(at);
    struct app_ext *ext = app_ext_make(af);
    struct magic_answer found;

    if (magic == NULL || ext == NULL)
        return NULL;
    found = app_magic_look_up(magic, data, units_left(af));
    ext->magic_spent += found.spent;
    if (found.outcome != MAGIC_ASKED)
        counter_inc(at->counters, at->conf->magic_counter[found.outcome]);
    return found.text;
}

/* Asks once per file: with MAGIC_BYTES or more, or with all of a file that has ended. NULL before
 * that, when the start is gone already, when libmagic fails, or when the flow's bytes do not
 * pay for it. */
const char *app_file_magic(struct app_file *file)
{
    struct file_private *fp = private_of(file);
    const char *found;

    if (!fp->magic_tried)
        app_file_unpack(file);
    if (fp->magic_tried || file->window_start != 0 || file->window.len == 0 ||
        (file->state == FILE_OPEN && file->window.len < MAGIC_BYTES))
        return file->magic;
    fp->magic_tried = true;
    found = look_up(file->tx->flow, buf_slice(&file->window));
    if (found != NULL)
        file->magic = arena_text(&file->tx->arena, text_of(found));
    return file->magic;
}
