/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/table.c - header tables in place of libhtp's.
 *
 * libhtp creates three tables of 32 entries for each transaction, most of which stay empty, and a
 * lookup compares the name with each entry in two calls. These tables start empty and compare
 * lengths first. Most lookups are for absent names: the set of lengths answers them without the
 * keys. In a long table an index finds names. If libhtp's archive is linked, its calls come here
 * (libhtp.symbols). Ownership of keys and elements is that of htp/htp_table.h, but for
 * http_table_add(), which copies no key. */
#include "app/proto/http1/table.h"

#include "base/containers/hash.h"
#include "base/memory/lib_memory.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The table owns adopted keys. Names belong to the elements, others to the caller. One table has
 * one kind. */
enum keys { KEYS_UNKNOWN, KEYS_NAMES, KEYS_ADOPTED, KEYS_REFERENCED };

struct entry {
    bstr *key;
    void *element;
};

/* Where a name is in the table. */
struct place {
    uint32_t hash;                      /* of the name, see name_hash() */
    uint32_t at;                        /* counts from 1; 0: free */
};

struct htp_table_t {
    struct entry *entry;
    uint32_t count, cap;
    enum keys keys;                     /* of all of them */
    uint32_t places;                    /* a power of 2, more than twice the count; 0: no index */
    uint64_t lengths;                   /* LENGTH_BIT() of each key that may be found */
    struct place *place;                /* open addressing, by the hash */
    void *block;                        /* has the first headers; NULL: none, see table.h */
    uint32_t in_block;                  /* how many */
    const uint8_t *tag;                 /* in it: name_tag() of each of them, HTTP_TABLE_FILL_MAX */
    bool entries_in_block;
};

/* Lengths that differ by 64 share a bit: a set bit is no proof. */
#define LENGTH_BIT(len) (UINT64_C(1) << ((len) & 63))
#define LENGTHS_ALL UINT64_MAX

/* libhtp looks up the name of each header before it adds the header: by an index from here on. */
#define INDEX_FROM 32

htp_table_t *http_table_create(size_t size)
{
    return size > 0 ? lib_calloc(1, sizeof(htp_table_t)) : NULL;
}

/* A key of the caller may change its length later. One with NUL bytes has two lengths, see
 * is_named(). */
static void note_length(htp_table_t *table, const bstr *key)
{
    size_t len = bstr_len(key);

    if (table->keys != KEYS_NAMES || memchr(bstr_ptr(key), 0, len) != NULL)
        table->lengths = LENGTHS_ALL;
    else
        table->lengths |= LENGTH_BIT(len);
}

static uint8_t lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/* All bytes count, with a secret of the process: a sender who finds names of one hash would have
 * each of them compared with all others. */
static uint32_t name_hash(const uint8_t *name, size_t len)
{
    uint8_t part[sizeof(uint64_t) + 120];
    uint64_t hash = len;

    for (size_t at = 0, n; at < len; at += n) {
        n = MIN(len - at, sizeof(part) - sizeof(hash));
        memcpy(part, &hash, sizeof(hash));
        for (size_t i = 0; i < n; i++)
            part[sizeof(hash) + i] = lower(name[at + i]);
        hash = hash_bytes(part, sizeof(hash) + n);
    }
    return (uint32_t)hash;
}

static void index_put(htp_table_t *table, uint32_t at)
{
    const bstr *key = table->entry[at].key;
    uint32_t hash = name_hash(bstr_ptr(key), bstr_len(key)), mask = table->places - 1, i;

    for (i = hash & mask; table->place[i].at != 0; i = (i + 1) & mask)
        ;
    table->place[i] = (struct place){ .hash = hash, .at = at + 1 };
}

static void index_drop(htp_table_t *table)
{
    lib_free(table->place);
    table->place = NULL;
    table->places = 0;
}

/* Adds the last entry. Without memory there is no index, and look-ups take longer. */
static void index_last(htp_table_t *table)
{
    if (LIKELY(table->count <= INDEX_FROM) || table->keys != KEYS_NAMES)
        return;
    if (2 * table->count < table->places) {
        index_put(table, table->count - 1);
        return;
    }
    if (table->count > INDEX_FROM + 1 && table->places == 0)
        return;
    index_drop(table);
    table->place = lib_calloc(4 * (size_t)table->cap, sizeof(*table->place));
    if (table->place == NULL)
        return;
    table->places = 4 * table->cap;
    for (uint32_t at = 0; at < table->count; at++)
        index_put(table, at);
}

static bool grow(htp_table_t *table)
{
    uint32_t cap = table->cap > 0 ? table->cap * 2 : 8;
    struct entry *more;

    if (UNLIKELY(table->entries_in_block)) {
        more = lib_malloc(cap * sizeof(*more));
        if (more != NULL)
            memcpy(more, table->entry, table->count * sizeof(*more));
    } else {
        more = lib_realloc(table->entry, cap * sizeof(*more));
    }
    if (more == NULL)
        return false;
    table->entries_in_block = false;
    table->entry = more;
    table->cap = cap;
    return true;
}

static bool push(htp_table_t *table, const bstr *key, const void *element, enum keys keys)
{
    if (table->count == table->cap && !grow(table))
        return false;
    table->entry[table->count++] = (struct entry){ .key = (bstr *)(uintptr_t)key,
                                                   .element = (void *)(uintptr_t)element };
    table->keys = keys;
    note_length(table, key);
    index_last(table);
    return true;
}

static bool may_add(const htp_table_t *table, const bstr *key, enum keys keys)
{
    return table != NULL && key != NULL && (table->keys == KEYS_UNKNOWN || table->keys == keys);
}

/* libhtp's table copies this key. But in all calls it is the name of the element, which nothing
 * changes, and which is freed only before the table is cleared. */
htp_status_t http_table_add(htp_table_t *table, const bstr *key, const void *element)
{
    return may_add(table, key, KEYS_NAMES) && push(table, key, element, KEYS_NAMES)
               ? HTP_OK : HTP_ERROR;
}

htp_status_t http_table_addn(htp_table_t *table, const bstr *key, const void *element)
{
    return may_add(table, key, KEYS_ADOPTED) && push(table, key, element, KEYS_ADOPTED)
               ? HTP_OK : HTP_ERROR;
}

htp_status_t http_table_addk(htp_table_t *table, const bstr *key, const void *element)
{
    return may_add(table, key, KEYS_REFERENCED) && push(table, key, element, KEYS_REFERENCED)
               ? HTP_OK : HTP_ERROR;
}

/* Leaves the keys, which the caller has freed, and the elements. */
void http_table_clear_ex(htp_table_t *table)
{
    if (table == NULL)
        return;
    index_drop(table);
    table->count = 0;
    table->lengths = 0;
    table->in_block = 0;
    if (table->entries_in_block) {
        table->entry = NULL;
        table->cap = 0;
        table->entries_in_block = false;
    }
}

/* Frees the keys, not the elements. */
void http_table_clear(htp_table_t *table)
{
    if (table == NULL)
        return;
    for (uint32_t i = 0; i < table->count && table->keys == KEYS_ADOPTED; i++)
        bstr_free(table->entry[i].key);
    http_table_clear_ex(table);
}

void http_table_destroy(htp_table_t *table)
{
    if (table == NULL)
        return;
    http_table_clear(table);
    http_table_release(table);
    lib_free(table->entry);
    lib_free(table);
}

void http_table_destroy_ex(htp_table_t *table)
{
    http_table_clear_ex(table);
    http_table_destroy(table);
}

/* --- headers in one block --------------------------------------------------------------------- */

struct filled {
    htp_header_t header;
    bstr name, value;
};

/* Names of different tags differ. */
static uint8_t name_tag(const uint8_t *name, size_t len)
{
    return len > 0 ? (uint8_t)((name[0] | 0x20) << 3 ^ len) : 0;
}

bool http_table_fill(htp_table_t *table, const struct http_field *field, unsigned count,
                     struct slice text)
{
    struct filled *filled = lib_malloc(count * (sizeof(*filled) + sizeof(struct entry)) +
                                       HTTP_TABLE_FILL_MAX + text.len);
    struct entry *entry = (struct entry *)(void *)(filled + count);
    uint8_t *tag = (uint8_t *)(entry + count), *copy = tag + HTTP_TABLE_FILL_MAX;

    if (UNLIKELY(filled == NULL))
        return false;
    memset(tag, 0, HTTP_TABLE_FILL_MAX);
    memcpy(copy, text.data, text.len);
    for (unsigned i = 0; i < count; i++) {
        struct filled *f = &filled[i];

        f->name = http_borrowed(copy + (field[i].name.data - text.data), field[i].name.len);
        f->value = http_borrowed(copy + (field[i].value.data - text.data), field[i].value.len);
        f->header = (htp_header_t){ .name = &f->name, .value = &f->value };
        entry[i] = (struct entry){ .key = &f->name, .element = &f->header };
        tag[i] = name_tag(field[i].name.data, field[i].name.len);
        table->lengths |= LENGTH_BIT(field[i].name.len);
    }
    lib_free(table->entry);
    table->entry = entry;
    table->entries_in_block = true;
    table->count = table->cap = table->in_block = count;
    table->keys = KEYS_NAMES;
    table->block = filled;
    table->tag = tag;
    return true;
}

/* What was added later stays. */
void http_table_release(htp_table_t *table)
{
    if (table == NULL || table->block == NULL)
        return;
    index_drop(table);
    if (table->entries_in_block) {
        table->entry = NULL;
        table->count = table->cap = 0;
    } else if (table->count > 0) {
        table->count -= table->in_block;
        memmove(table->entry, table->entry + table->in_block,
                table->count * sizeof(*table->entry));
    }
    lib_free(table->block);
    table->block = NULL;
    table->in_block = 0;
    table->entries_in_block = false;
}

/* --- look-ups --------------------------------------------------------------------------------- */

static uint64_t word_at(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return v;
}

/* Eight bytes at once: they are equal, or differ in the case of letters. */
static bool is_same_word(uint64_t a, uint64_t b)
{
    const uint64_t high = EACH_BYTE(0x80), case_bit = EACH_BYTE(0x20), diff = a ^ b;
    uint64_t lower = (a | case_bit) & ~high, letters;

    if ((diff & ~case_bit) != 0)
        return false;
    letters = (lower + EACH_BYTE(0x80 - 'a')) & ~(lower + EACH_BYTE(0x7f - 'z')) & ~a & high;
    return (diff & ~(letters >> 2)) == 0;
}

/* The last word overlaps the one before it. */
static bool is_same(const uint8_t *a, const uint8_t *b, size_t len)
{
    if (LIKELY(len >= 8)) {
        for (size_t i = 0; i + 8 < len; i += 8)
            if (!is_same_word(word_at(a + i), word_at(b + i)))
                return false;
        return is_same_word(word_at(a + len - 8), word_at(b + len - 8));
    }
    for (size_t i = 0; i < len; i++)
        if (a[i] != b[i] && lower(a[i]) != lower(b[i]))
            return false;
    return true;
}

/* A bit for each of the tags that is this one. */
#ifdef __SSE2__
static uint32_t tagged(const uint8_t *tags, uint8_t tag)
{
    const __m128i all = _mm_set1_epi8((char)tag), *each = (const __m128i *)(const void *)tags;
    unsigned low = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(each), all)),
             high = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(each + 1), all));

    return low | high << 16;
}
#else
static uint32_t tagged(const uint8_t *tags, uint8_t tag)
{
    uint32_t bits = 0;

    for (unsigned i = 0; i < HTTP_TABLE_FILL_MAX; i++)
        bits |= (uint32_t)(tags[i] == tag) << i;
    return bits;
}
#endif

/* Among the headers in one block, which are the first ones. */
static void *find_in_block(const htp_table_t *table, const void *key, size_t len)
{
    uint32_t bits = tagged(table->tag, name_tag(key, len));

    for (bits &= (uint32_t)((UINT64_C(1) << table->in_block) - 1); bits != 0; bits &= bits - 1) {
        const struct entry *e = &table->entry[__builtin_ctz(bits)];

        if (bstr_len(e->key) == len && is_same(bstr_ptr(e->key), key, len))
            return e->element;
    }
    return NULL;
}

/* The first of this name: the others were added later. */
static void *find_by_index(const htp_table_t *table, const void *key, size_t len)
{
    uint32_t hash = name_hash(key, len), mask = table->places - 1;

    for (uint32_t i = hash & mask; table->place[i].at != 0; i = (i + 1) & mask) {
        const struct entry *e = &table->entry[table->place[i].at - 1];

        if (table->place[i].hash == hash && bstr_len(e->key) == len &&
            is_same(bstr_ptr(e->key), key, len))
            return e->element;
    }
    return NULL;
}

void *http_table_get_mem(const htp_table_t *table, const void *key, size_t len)
{
    void *found;

    if (table == NULL || key == NULL || (table->lengths & LENGTH_BIT(len)) == 0)
        return NULL;
    if (UNLIKELY(table->places > 0))
        return find_by_index(table, key, len);
    if (table->in_block > 0 && (found = find_in_block(table, key, len)) != NULL)
        return found;
    for (uint32_t i = table->in_block; i < table->count; i++) {
        const bstr *name = table->entry[i].key;

        if (bstr_len(name) == len && is_same(bstr_ptr(name), key, len))
            return table->entry[i].element;
    }
    return NULL;
}

void *http_table_get(const htp_table_t *table, const bstr *key)
{
    return key != NULL ? http_table_get_mem(table, bstr_ptr(key), bstr_len(key)) : NULL;
}

/* NUL bytes in a name do not count, as in libhtp: evaders insert them. */
static COLD bool is_named_with_nuls(const bstr *name, const char *target)
{
    return memchr(bstr_ptr(name), 0, bstr_len(name)) != NULL &&
           bstr_cmp_c_nocasenorzero(name, target) == 0;
}

void *http_table_get_named(const htp_table_t *table, const char *target, size_t len)
{
    void *found;

    if (table == NULL || (table->lengths & LENGTH_BIT(len)) == 0)
        return NULL;
    if (LIKELY(table->in_block > 0) && (found = find_in_block(table, target, len)) != NULL)
        return found;
    for (uint32_t i = table->in_block; i < table->count; i++) {
        const bstr *name = table->entry[i].key;
        const size_t there = bstr_len(name);

        if (there == len && is_same(bstr_ptr(name), (const uint8_t *)target, len))
            return table->entry[i].element;
        if (UNLIKELY(table->lengths == LENGTHS_ALL) && there > len &&
            is_named_with_nuls(name, target))
            return table->entry[i].element;
    }
    return NULL;
}

void *http_table_get_c(const htp_table_t *table, const char *target)
{
    return target != NULL ? http_table_get_named(table, target, strlen(target)) : NULL;
}

void *http_table_get_index(const htp_table_t *table, size_t index, bstr **key)
{
    if (table == NULL || index >= table->count)
        return NULL;
    if (key != NULL)
        *key = table->entry[index].key;
    return table->entry[index].element;
}

size_t http_table_size(const htp_table_t *table)
{
    return table != NULL ? table->count : 0;
}
