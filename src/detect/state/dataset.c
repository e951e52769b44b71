/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/dataset.c - sets of values: loading, saving, and the look-ups and changes
 * that rules make. A set that no rule changes is read without a lock; otherwise each of 16
 * shards has one. */
#include "detect/state/dataset.h"
#include "detect/state/dataset_rows.h"
#include "base/array.h"
#include "base/memory/buf.h"
#include "base/memory/traffic_memory.h"
#include "base/containers/hash.h"
#include "base/text/ip.h"
#include "base/report/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHARDS 16 /* locks per set; the hash chooses */
#define VALUE_MAX 4096 /* bytes; longer values fit no set */
/* Defaults and limits of datasets.defaults and datasets.limits. */
#define MEMCAP_DEFAULT (16u << 20)
#define ROWS_DEFAULT 4096u
#define ROWS_MAX 65536u
#define ROWS_TOTAL_MAX (1u << 24)

/* One allocation per value. `hash` saves comparing bytes, and growing computes it no
 * second time. */
struct entry {
    struct entry *next;
    uint64_t hash, serial;      /* serial: in order of adding */
    uint32_t len;
    uint32_t json_len;
    uint16_t number;
    bool counted;               /* with what traffic makes grow */
    uint8_t value[];            /* then json_len bytes of JSON */
};

/* A reader without the lock may still use an old array, so old ones stay until the set is
 * freed. Together they are no larger than the newest one. */
struct buckets {
    struct buckets *older;
    uint32_t count;
    bool counted;
    struct entry *at[];
};

/* `lock` guards all of it, unless nothing changes the set. */
struct shard {
    pthread_mutex_t lock;
    struct buckets *buckets;
    uint32_t count;
};

struct dataset {
    uint32_t refs;              /* atomic; tables that have it */
    bool stays;                 /* survives reloads: configured, or more than a copy of a file */
    char *name, *save;
    enum dataset_type type;
    bool changes;               /* rules put values in or take them out */
    bool with_value, with_json, broken;    /* broken: its file could not be read; logged once */
    bool loaded;                /* what is added from now on counts for global-memcap */
    uint64_t memcap;
    uint32_t rows;              /* as configured, see dataset_rows.h */
    uint64_t used, count;       /* atomic; bytes as the memcap counts them, entries */
    uint64_t serial;            /* atomic; of the newest entry */
    uint64_t refused;           /* atomic; values that did not fit into the memcap */
    struct shard shard[SHARDS];
};

/* The sets of one ruleset; several tables share a set that survives a reload. */
struct dataset_table {
    ARRAY_OF(struct dataset *) sets;
    uint64_t memcap;            /* 0: none given */
    uint32_t rows, rows_max;
    uint64_t rows_total, rows_total_max;
};

/* The types of Suricata; "ipv6" takes IPv4 addresses as well. */
static const struct { const char *name; enum dataset_type type; } types[] = {
    { "string", DATASET_STRING }, { "md5", DATASET_MD5 }, { "sha256", DATASET_SHA256 },
    { "ipv4", DATASET_IPV4 }, { "ipv6", DATASET_IP }, { "ip", DATASET_IP },
};

bool dataset_type_parse(struct text in, enum dataset_type *out)
{
    for (unsigned i = 0; i < ARRAY_LEN(types); i++)
        if (text_equal(in, types[i].name)) {
            *out = types[i].type;
            return true;
        }
    return false;
}

enum dataset_type dataset_type_of(const struct dataset *set)
{
    return set->type;
}

/* --- values ------------------------------------------------------------------------------- */

/* True if a value of this length fits the type. Rules test buffers of any length. */
static bool fits(const struct dataset *set, uint32_t len)
{
    switch (set->type) {
    case DATASET_MD5:    return len == 16;
    case DATASET_SHA256: return len == 32;
    case DATASET_IPV4:   return len == 4;
    case DATASET_IP:     return len == 4 || len == 16;
    default:             return len > 0 && len <= VALUE_MAX;
    }
}

/* In a set of both versions an IPv4 address has one form: 4 bytes. */
static struct slice normalised(const struct dataset *set, struct slice v)
{
    static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

    if (set->type == DATASET_IP && v.len == 16 && memcmp(v.data, mapped, sizeof(mapped)) == 0)
        return (struct slice){ v.data + 12, 4 };
    return v;
}

static struct shard *shard_of(struct dataset *set, uint64_t hash)
{
    return &set->shard[hash % SHARDS];
}

/* Files are the operator's choice and belong to the rules' memory. What rules and Lua add, traffic
 * chooses. */
static void *zeroed(size_t size, bool counted)
{
    return counted ? traffic_calloc(1, size) : calloc(1, size);
}

static void put_back(void *block, bool counted)
{
    if (counted)
        traffic_free(block);
    else
        free(block);
}

static void entry_free(struct entry *e)
{
    if (e != NULL)
        put_back(e, e->counted);
}

/* NULL: no memory. The count is a power of two. */
static struct buckets *buckets_new(uint32_t count, struct buckets *older, bool counted)
{
    struct buckets *b = zeroed(sizeof(*b) + count * sizeof(b->at[0]), counted);

    if (b != NULL)
        *b = (struct buckets){ .older = older, .count = count, .counted = counted };
    return b;
}

/* Acquire pairs with the release in shard_grow(), for readers without the lock. */
static struct entry **bucket_of(const struct shard *s, uint64_t hash)
{
    struct buckets *b = __atomic_load_n(&s->buckets, __ATOMIC_ACQUIRE);

    return &b->at[(hash / SHARDS) & (b->count - 1)];
}

/* The link to the entry, or the empty link at the end of its bucket. */
static struct entry **place_of(struct shard *s, struct slice v, uint64_t hash)
{
    struct entry **at = bucket_of(s, hash);

    while (*at != NULL &&
           !((*at)->hash == hash && (*at)->len == v.len &&
             memcmp((*at)->value, v.data, v.len) == 0))
        at = &(*at)->next;
    return at;
}

/* Doubles the buckets. A reader without the lock may see a chain that is being moved; so
 * only changes under dataset_changes(), or loading, get here. Without memory the chains
 * just grow longer. */
static void shard_grow(struct shard *s, bool counted)
{
    struct buckets *old = s->buckets, *more = buckets_new(old->count * 2, old, counted);

    if (more == NULL)
        return;
    for (uint32_t i = 0; i < old->count; i++)
        for (struct entry *e = old->at[i], *next; e != NULL; e = next) {
            struct entry **at = &more->at[(e->hash / SHARDS) & (more->count - 1)];

            next = e->next;
            e->next = *at;
            *at = e;
        }
    __atomic_store_n(&s->buckets, more, __ATOMIC_RELEASE);
}

/* Returns what one entry adds to the memory by Suricata's count, so that the same memcap holds the
 * same values. Elements that Suricata allocates in advance are counted with the empty set. */
static uint64_t bytes_of_entry(const struct dataset *set, uint64_t count, uint64_t len,
                               uint64_t json_len)
{
    uint64_t own = set->type == DATASET_STRING ? len : 0;

    return own + json_len + (count > DATASET_SET_ASIDE ? dataset_element_size(set->type) : 0);
}

/* Adds first and takes back, so that two threads cannot both take the last space. */
static bool has_space(struct dataset *set, uint64_t len, uint64_t json_len)
{
    uint64_t count = __atomic_add_fetch(&set->count, 1, __ATOMIC_RELAXED);
    uint64_t bytes = bytes_of_entry(set, count, len, json_len);

    if (__atomic_add_fetch(&set->used, bytes, __ATOMIC_RELAXED) <= set->memcap)
        return true;
    __atomic_sub_fetch(&set->used, bytes, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&set->count, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&set->refused, 1, __ATOMIC_RELAXED);
    return false;
}

/* The counterpart of has_space(). */
static void return_space(struct dataset *set, const struct entry *e)
{
    uint64_t count = __atomic_fetch_sub(&set->count, 1, __ATOMIC_RELAXED);

    __atomic_sub_fetch(&set->used, bytes_of_entry(set, count, e->len, e->json_len),
                       __ATOMIC_RELAXED);
}

/* Into the shard, under its lock; there is space for it in the set. False: no memory. */
static bool insert(struct dataset *set, struct shard *s, const struct entry *header,
                   struct slice v, const char *json)
{
    struct entry *e = zeroed(sizeof(*e) + v.len + header->json_len, set->loaded), **at;

    if (e == NULL)
        return false;
    if (s->count > s->buckets->count)
        shard_grow(s, set->loaded);
    at = bucket_of(s, header->hash);
    *e = *header;
    e->next = *at;
    e->serial = __atomic_add_fetch(&set->serial, 1, __ATOMIC_RELAXED);
    memcpy(e->value, v.data, v.len);
    if (e->json_len > 0)
        memcpy(e->value + v.len, json, e->json_len);
    __atomic_store_n(at, e, __ATOMIC_RELEASE);
    s->count++;
    return true;
}

/* False: the value does not fit the type, is there already, or the set is full. */
static bool add(struct dataset *set, struct slice value, uint16_t number, struct text json)
{
    struct slice v = normalised(set, value);
    struct entry header = { .hash = hash_bytes(v.data, v.len), .len = v.len, .number = number,
                            .json_len = (uint32_t)json.n, .counted = set->loaded };
    struct shard *s = shard_of(set, header.hash);
    bool added = false;

    if (!fits(set, v.len))
        return false;
    pthread_mutex_lock(&s->lock);
    if (*place_of(s, v, header.hash) == NULL && has_space(set, v.len, json.n)) {
        added = insert(set, s, &header, v, json.p);
        if (!added) {
            return_space(set, &header);
            __atomic_fetch_add(&set->refused, 1, __ATOMIC_RELAXED);
        }
    }
    pthread_mutex_unlock(&s->lock);
    return added;
}

const char *dataset_name(const struct dataset *set)
{
    return set->name;
}

uint64_t dataset_count(const struct dataset *set)
{
    return __atomic_load_n(&set->count, __ATOMIC_RELAXED);
}

void dataset_set_changes(struct dataset *set)
{
    __atomic_store_n(&set->changes, true, __ATOMIC_RELAXED);
}

bool dataset_changes(const struct dataset *set)
{
    return __atomic_load_n(&set->changes, __ATOMIC_RELAXED);
}

bool dataset_add(struct dataset *set, struct slice value)
{
    return add(set, value, 0, (struct text){ 0 });
}

bool dataset_takes_json(const struct dataset *set)
{
    return set->with_json;
}

bool dataset_add_json(struct dataset *set, struct slice value, struct text json)
{
    return add(set, value, 0, json);
}

/* Takes the lock unless the set is as it was loaded. Returns whether it took it. */
static bool look_begin(const struct dataset *set, struct shard *s)
{
    if (!dataset_changes(set))
        return false;
    pthread_mutex_lock(&s->lock);
    return true;
}

static void look_end(struct shard *s, bool locked)
{
    if (locked)
        pthread_mutex_unlock(&s->lock);
}

bool dataset_has(struct dataset *set, struct slice value, uint16_t *number)
{
    struct slice v = normalised(set, value);
    uint64_t hash = hash_bytes(v.data, v.len);
    struct shard *s = shard_of(set, hash);
    const struct entry *e;
    bool locked;

    if (!fits(set, v.len))
        return false;
    locked = look_begin(set, s);
    e = *place_of(s, v, hash);
    if (e != NULL && number != NULL)
        *number = e->number;
    look_end(s, locked);
    return e != NULL;
}

bool dataset_get_json(struct dataset *set, struct slice value, struct buf *out)
{
    struct slice v = normalised(set, value);
    uint64_t hash = hash_bytes(v.data, v.len);
    struct shard *s = shard_of(set, hash);
    const struct entry *e;
    bool locked;

    if (!fits(set, v.len))
        return false;
    locked = look_begin(set, s);
    e = *place_of(s, v, hash);
    if (e != NULL)
        buf_add(out, e->value + e->len, e->json_len);
    look_end(s, locked);
    return e != NULL;
}

/* Frees after the unlock: the entry is out of reach of other threads then. */
bool dataset_remove(struct dataset *set, struct slice value)
{
    struct slice v = normalised(set, value);
    uint64_t hash = hash_bytes(v.data, v.len);
    struct shard *s = shard_of(set, hash);
    struct entry **at, *e;

    if (!fits(set, v.len))
        return false;
    pthread_mutex_lock(&s->lock);
    at = place_of(s, v, hash);
    e = *at;
    if (e != NULL) {
        *at = e->next;
        return_space(set, e);
        s->count--;
    }
    pthread_mutex_unlock(&s->lock);
    entry_free(e);
    return e != NULL;
}

/* One shard at a time, so another thread may add to one that is clear already. */
void dataset_clear(struct dataset *set)
{
    for (unsigned i = 0; i < SHARDS; i++) {
        struct shard *s = &set->shard[i];

        pthread_mutex_lock(&s->lock);
        for (uint32_t b = 0; b < s->buckets->count; b++) {
            for (struct entry *e = s->buckets->at[b], *next; e != NULL; e = next) {
                next = e->next;
                return_space(set, e);
                entry_free(e);
            }
            s->buckets->at[b] = NULL;
        }
        s->count = 0;
        pthread_mutex_unlock(&s->lock);
    }
}

/* --- text --------------------------------------------------------------------------------- */

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* For hashes, in either case. */
static bool hex_parse(struct text in, uint8_t *out, uint32_t *len)
{
    if (in.n % 2 != 0 || in.n / 2 > VALUE_MAX)
        return false;
    for (size_t i = 0; i < in.n; i += 2) {
        int hi = hex_value(in.p[i]), lo = hex_value(in.p[i + 1]);

        if (hi < 0 || lo < 0)
            return false;
        out[i / 2] = (uint8_t)(hi << 4 | lo);
    }
    *len = (uint32_t)(in.n / 2);
    return true;
}

static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Strings are in base64 in files and commands, because they may hold any byte (RFC 4648). The
 * padding must be complete, and unused bits of the last digit 0, as in Suricata. */
static bool base64_parse(struct text in, uint8_t *out, uint32_t *len)
{
    uint32_t bits = 0, have = 0;

    *len = 0;
    if (in.n % 4 != 0 || in.n > VALUE_MAX / 3 * 4)
        return false;
    for (unsigned pad = 0; pad < 2 && in.n > 0 && in.p[in.n - 1] == '='; pad++)
        in.n--;
    for (size_t i = 0; i < in.n; i++) {
        const char *at = strchr(base64_digits, in.p[i]);

        if (at == NULL || in.p[i] == '\0')
            return false;
        bits = bits << 6 | (uint32_t)(at - base64_digits);
        have += 6;
        if (have >= 8) {
            have -= 8;
            out[(*len)++] = (uint8_t)(bits >> have);
        }
    }
    return (bits & ((1u << have) - 1)) == 0;
}

static void base64_write(const uint8_t *p, uint32_t n, FILE *f)
{
    for (uint32_t i = 0; i < n; i += 3) {
        uint32_t left = n - i, bits = (uint32_t)p[i] << 16;

        bits |= left > 1 ? (uint32_t)p[i + 1] << 8 : 0;
        bits |= left > 2 ? p[i + 2] : 0;
        fputc(base64_digits[bits >> 18], f);
        fputc(base64_digits[bits >> 12 & 63], f);
        fputc(left > 1 ? base64_digits[bits >> 6 & 63] : '=', f);
        fputc(left > 2 ? base64_digits[bits & 63] : '=', f);
    }
}

static bool address_parse(struct text in, uint8_t *out, uint32_t *len)
{
    struct ip ip;

    if (!ip_parse(in, &ip))
        return false;
    *len = ip.version == 4 ? 4 : 16;
    memcpy(out, ip.b, *len);
    return true;
}

bool dataset_value_parse(const struct dataset *set, struct text in, uint8_t *out, uint32_t *len)
{
    bool ok;

    switch (set->type) {
    case DATASET_STRING:
        ok = base64_parse(in, out, len);
        break;
    case DATASET_MD5:
    case DATASET_SHA256:
        ok = hex_parse(in, out, len);
        break;
    default:
        ok = address_parse(in, out, len);
        break;
    }
    return ok && fits(set, *len);
}

/* The form that dataset_value_parse() reads. */
static void value_write(const struct dataset *set, const struct entry *e, FILE *f)
{
    char text[IP_TEXT_SIZE];
    struct ip ip;

    switch (set->type) {
    case DATASET_STRING:
        base64_write(e->value, e->len, f);
        break;
    case DATASET_IPV4:
    case DATASET_IP:
        ip = e->len == 4 ? ip_v4(e->value) : ip_v6(e->value);
        ip_format(&ip, text);
        fputs(text, f);
        break;
    default:
        for (uint32_t i = 0; i < e->len; i++)
            fprintf(f, "%02x", e->value[i]);
        break;
    }
    if (set->with_value)
        fprintf(f, ",%u", e->number);
    fputc('\n', f);
}

/* --- files -------------------------------------------------------------------------------- */

/* Reads a list. Either all its values have numbers or none has. A line that cannot be read
 * is logged and left out; the rest of the list counts. */
struct list_reader {
    struct dataset *set;
    struct where at;
    bool with_number, without;
};

/* Returns 0, so that reading goes on. An error where Suricata 8 ends -T, in its words; a warning
 * where it passes over the line: a hash that is none, and more than one comma. */
static int line_skipped(const struct list_reader *r, enum log_level level, const char *what,
                        struct text found)
{
    log_at(level, "dataset", r->at, "%s %s in %s: \"%.*s\"; the line is left out", what,
           r->set->name, r->at.file, TEXT(found));
    return 0;
}

static bool is_hash(enum dataset_type type)
{
    return type == DATASET_MD5 || type == DATASET_SHA256;
}

static const char *wrong_value(enum dataset_type type)
{
    switch (type) {
    case DATASET_STRING: return "bad base64 encoding";
    case DATASET_MD5:    return "invalid MD5 value";
    case DATASET_SHA256: return "invalid SHA-256 value";
    case DATASET_IPV4:   return "invalid Ipv4 value";
    default:             return "invalid Ipv6 value";
    }
}

/* -1 ends the list: it mixes both kinds of values, or the memcap is exceeded. */
static int load_line(struct list_reader *r, struct text line, struct err *err)
{
    struct dataset *set = r->set;
    uint8_t value[VALUE_MAX];
    struct text first, rest = line;
    bool has_number = memchr(line.p, ',', line.n) != NULL;
    uint64_t number = 0;
    uint32_t len;

    text_split(&rest, ',', &first);
    if (memchr(rest.p, ',', rest.n) != NULL)
        return line_skipped(r, LOG_LEVEL_WARNING, "too many commas for set", line);
    *(has_number ? &r->with_number : &r->without) = true;
    if (r->with_number && r->without)
        return err_set(err, "Cannot mix dataset and datarep values for set %s in %s, line %u",
                       set->name, r->at.file, r->at.line);
    if (!dataset_value_parse(set, first, value, &len))
        return line_skipped(r, is_hash(set->type) ? LOG_LEVEL_WARNING : LOG_LEVEL_ERROR,
                            wrong_value(set->type), first);
    if (r->with_number && !text_to_u64(text_trim(rest), 65535, &number))
        return line_skipped(r, LOG_LEVEL_ERROR, "invalid datarep value", rest);
    if (!add(set, (struct slice){ value, len }, (uint16_t)number, (struct text){ 0 }) &&
        set->refused > 0)
        return err_set(err, "dataset too large for set memcap: %s", set->name);
    return 0;
}

/* `must`: a state file need not exist yet, because the engine writes it. */
static int load(struct dataset *set, const char *path, bool must, struct err *err)
{
    struct list_reader r = { .set = set, .at = { .file = path } };
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    int result = 0;

    if (f == NULL)
        return must ? err_set(err, "%s: %s", path, strerror(errno)) : 0;
    while (result == 0 && getline(&line, &size, f) >= 0) {
        struct text t = text_trim(text_of(line));

        r.at.line++;
        if (t.n > 0 && t.p[0] != '#')
            result = load_line(&r, t, err);
    }
    free(line);
    fclose(f);
    return result;
}

/* Strings of JSON files are not in base64. */
static int load_item(const struct dataset_item *item, void *arg, struct err *err)
{
    struct dataset *set = arg;
    uint8_t value[VALUE_MAX];
    struct slice v = { value, 0 };

    if (set->type == DATASET_STRING)
        v = (struct slice){ (const uint8_t *)item->value.p, (uint32_t)item->value.n };
    else if (!dataset_value_parse(set, item->value, value, &v.len))
        return err_set(err, "bad value for set %s: \"%.*s\"", set->name, TEXT(item->value));
    if (!add(set, v, 0, item->json) && set->refused > 0)
        return err_set(err, "dataset too large for set memcap: %s", set->name);
    return 0;
}

static int load_any(struct dataset *set, const struct dataset_request *r, struct err *err)
{
    bool is_state = r->save != NULL && strcmp(r->load, r->save) == 0;

    if (r->json == NULL)
        return load(set, r->load, !is_state, err);
    /* The values before an error in a file still count. */
    if (dataset_json_read(r->load, r->json, load_item, set, err) < 0)
        log_err(LOG_LEVEL_ERROR, "dataset", err);
    return 0;
}

struct placed { /* an entry with its row in Suricata's table */
    uint32_t row;
    const struct entry *entry;
};

/* Files are written in Suricata's order, so that both engines' state files compare. */
static int by_row(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;

    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->entry->serial > y->entry->serial) - (x->entry->serial < y->entry->serial);
}

static struct placed place(const struct dataset *set, const struct entry *e)
{
    const struct slice value = { e->value, e->len };

    return (struct placed){ dataset_row(set->type, value, set->rows), e };
}

/* For want of memory. Under the locks. */
static COLD void write_unsorted(const struct dataset *set, FILE *f)
{
    for (unsigned i = 0; i < SHARDS; i++)
        for (uint32_t b = 0; b < set->shard[i].buckets->count; b++)
            for (const struct entry *e = set->shard[i].buckets->at[b]; e != NULL; e = e->next)
                value_write(set, e, f);
}

/* Locks all shards, so that the file has the set at one moment. */
static void write_all(struct dataset *set, FILE *f)
{
    ARRAY_OF(struct placed) all = { 0 };
    bool sorted = true;

    for (unsigned i = 0; i < SHARDS; i++)
        pthread_mutex_lock(&set->shard[i].lock);
    for (unsigned i = 0; i < SHARDS; i++)
        for (uint32_t b = 0; b < set->shard[i].buckets->count; b++)
            for (const struct entry *e = set->shard[i].buckets->at[b]; e != NULL; e = e->next)
                if ((sorted = sorted && ARRAY_HAS_SPACE(&all, 1)))
                    all.at[all.count++] = place(set, e);
    if (all.count > 1)
        qsort(all.at, all.count, sizeof(all.at[0]), by_row);
    for (size_t i = 0; sorted && i < all.count; i++)
        value_write(set, all.at[i].entry, f);
    if (!sorted)
        write_unsorted(set, f);
    for (unsigned i = SHARDS; i-- > 0;)
        pthread_mutex_unlock(&set->shard[i].lock);
    ARRAY_FREE(&all);
}

/* A set that could not be read is not written: that would erase its file. */
static void save(struct dataset *set)
{
    FILE *f;

    if (set->save == NULL || set->broken)
        return;
    f = fopen(set->save, "w");
    if (f == NULL) {
        log_error("dataset", "failed to open file %s: %s", set->save, strerror(errno));
        return;
    }
    write_all(set, f);
    if (fclose(f) != 0)
        log_error("dataset", "failed to write %s: %s", set->save, strerror(errno));
}

void dataset_table_save(struct dataset_table *table)
{
    for (size_t i = 0; i < table->sets.count; i++)
        save(table->sets.at[i]);
}

/* --- the table ---------------------------------------------------------------------------- */

struct dataset *dataset_find(struct dataset_table *table, const char *name)
{
    for (size_t i = 0; i < table->sets.count; i++)
        if (strcmp(table->sets.at[i]->name, name) == 0)
            return table->sets.at[i];
    return NULL;
}

/* The last table writes the set to its file. */
static void dataset_unref(struct dataset *set)
{
    if (__atomic_sub_fetch(&set->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    save(set);
    dataset_clear(set);
    for (unsigned i = 0; i < SHARDS; i++) {
        for (struct buckets *b = set->shard[i].buckets, *older; b != NULL; b = older) {
            older = b->older;
            put_back(b, b->counted);
        }
        pthread_mutex_destroy(&set->shard[i].lock);
    }
    free(set->name);
    free(set->save);
    free(set);
}

/* A set from a file has no memcap unless one is given: its size is the operator's choice. */
static struct dataset *dataset_new(const struct dataset_table *table,
                                   const struct dataset_request *request)
{
    struct dataset *set = xcalloc(1, sizeof(*set));

    set->refs = 1;
    set->stays = request->load == NULL || request->save != NULL;
    set->name = xstrdup(request->name);
    set->save = request->save != NULL ? xstrdup(request->save) : NULL;
    set->type = request->type;
    set->with_value = request->with_value;
    set->with_json = request->json != NULL;
    set->memcap = request->memcap > 0 ? request->memcap : table->memcap;
    if (set->memcap == 0)
        set->memcap = request->load != NULL ? UINT64_MAX : MEMCAP_DEFAULT;
    set->rows = request->rows > 0 ? request->rows : table->rows;
    set->used = dataset_empty_size(set->type, set->rows);
    for (unsigned i = 0; i < SHARDS; i++) {
        pthread_mutex_init(&set->shard[i].lock, NULL);
        while ((set->shard[i].buckets = buckets_new(64, NULL, false)) == NULL)
            out_of_memory(sizeof(struct buckets));
    }
    return set;
}

/* Limits on hashsize, because rules of third parties choose it. */
static int check_rows(const struct dataset_table *table, const struct dataset_request *request,
                      struct err *err)
{
    uint32_t rows = request->rows > 0 ? request->rows : table->rows;

    if (table->rows_max > 0 && rows > table->rows_max)
        return err_set(err, "hashsize %u in dataset '%s' exceeds configured 'single-hashsize' "
                       "limit (%u)", rows, request->name, table->rows_max);
    if (table->rows_total_max > 0 && table->rows_total + rows > table->rows_total_max)
        return err_set(err, "hashsize %u in dataset '%s' exceeds configured 'total-hashsizes' "
                       "limit (%llu, in use %llu)", rows, request->name,
                       (unsigned long long)table->rows_total_max,
                       (unsigned long long)table->rows_total);
    return 0;
}

/* Rules name a set several times. Each later use must agree with the first one, which
 * created it. */
struct dataset *dataset_get(struct dataset_table *table, const struct dataset_request *request,
                            struct err *err)
{
    struct dataset *set = dataset_find(table, request->name);

    if (set != NULL) {
        if (set->broken) {
            err_set(err, "dataset %s could not be loaded", request->name);
            return NULL;
        }
        if (request->type != DATASET_NONE && request->type != set->type) {
            err_set(err, "dataset %s already exists and is of another type", request->name);
            return NULL;
        }
        if ((request->json != NULL) != set->with_json) {
            err_set(err, "dataset %s already exists and is in another format", request->name);
            return NULL;
        }
        if (request->with_value != set->with_value) {
            err_set(err, "Cannot mix dataset and datarep values for set %s", request->name);
            return NULL;
        }
        return set;
    }
    if (request->type == DATASET_NONE) {
        err_set(err, "dataset %s not defined", request->name);
        return NULL;
    }
    if (check_rows(table, request, err) < 0)
        return NULL;
    set = dataset_new(table, request);
    if (set->used > set->memcap) {
        err_set(err, "memcap of dataset %s is %llu, but empty it takes %llu: %u rows and %u "
                "elements", set->name, (unsigned long long)set->memcap,
                (unsigned long long)set->used, set->rows, DATASET_SET_ASIDE);
        set->broken = true;
        dataset_unref(set);
        return NULL;
    }
    table->rows_total += set->rows;
    ARRAY_PUSH(&table->sets, set);
    set->broken = request->load != NULL && load_any(set, request, err) < 0;
    set->loaded = true;
    return set->broken ? NULL : set;
}

/* Relative names are relative to default-data-dir. */
static const char *in_dir(const struct conf_node *root, const char *name, char *out, size_t size)
{
    const char *dir = conf_string(root, "default-data-dir", NULL);

    if (name == NULL || name[0] == '/' || dir == NULL)
        return name;
    snprintf(out, size, "%s/%s", dir, name);
    return out;
}

static uint32_t rows_of(const struct conf_node *node, const char *path, uint32_t otherwise)
{
    return (uint32_t)MIN(conf_size_or_default(node, path, otherwise), UINT32_MAX);
}

/* With a limit that it cannot read Suricata does not start. */
static uint32_t limit_of(const struct conf_node *node, const char *path, uint32_t otherwise)
{
    return (uint32_t)MIN(conf_size(node, path, otherwise), UINT32_MAX);
}

/* One set of the section `datasets`. It stays over reloads even when no rule names it. */
static void configured(struct dataset_table *table, const struct conf_node *root,
                       const struct conf_node *node)
{
    struct dataset_request r = { .name = node->name };
    const char *type = conf_string(node, "type", NULL), *state = conf_string(node, "state", NULL);
    char load_path[4096], save_path[4096];
    struct dataset *set;
    struct err err = { 0 };

    if (type == NULL)
        return;
    if (!dataset_type_parse(text_of(type), &r.type)) {
        conf_error(node, "datasets: unknown type \"%s\"", type);
        return;
    }
    r.load = in_dir(root, state != NULL ? state : conf_string(node, "load", NULL), load_path,
                    sizeof(load_path));
    r.save = in_dir(root, state != NULL ? state : conf_string(node, "save", NULL), save_path,
                    sizeof(save_path));
    r.memcap = conf_size_or_default(node, "memcap", 0);
    r.rows = rows_of(node, "hashsize", 0);
    set = dataset_get(table, &r, &err);
    if (set != NULL)
        set->stays = true;
    else
        conf_error(node, "datasets: %s", err.text);
}

/* Takes over the sets that survive a reload. One that could not be read is tried again. */
static void inherit(struct dataset_table *table, const struct dataset_table *previous)
{
    for (size_t i = 0; i < previous->sets.count; i++) {
        struct dataset *set = previous->sets.at[i];

        if (!set->stays || set->broken)
            continue;
        __atomic_fetch_add(&set->refs, 1, __ATOMIC_RELAXED);
        table->rows_total += set->rows;
        ARRAY_PUSH(&table->sets, set);
    }
}

/* The previous table's sets come first, so that configured ones are found and not loaded
 * again. */
struct dataset_table *dataset_table_new(const struct conf_node *root,
                                        const struct dataset_table *previous)
{
    struct dataset_table *table = xcalloc(1, sizeof(*table));
    const struct conf_node *sets = conf_find(root, "datasets");

    table->memcap = conf_size_or_default(root, "datasets.defaults.memcap", 0);
    table->rows = rows_of(root, "datasets.defaults.hashsize", ROWS_DEFAULT);
    table->rows = table->rows > 0 ? table->rows : ROWS_DEFAULT;
    table->rows_max = limit_of(root, "datasets.limits.single-hashsize", ROWS_MAX);
    table->rows_total_max = limit_of(root, "datasets.limits.total-hashsizes", ROWS_TOTAL_MAX);
    if (table->rows_max == 0)
        table->rows_max = (uint32_t)table->rows_total_max;
    if (previous != NULL)
        inherit(table, previous);
    CONF_EACH(node, sets) {
        if (node->kind == CONF_MAP && strcmp(node->name, "defaults") != 0 &&
            strcmp(node->name, "limits") != 0 && strcmp(node->name, "rules") != 0)
            configured(table, root, node);
    }
    return table;
}

void dataset_table_free(struct dataset_table *table)
{
    if (table == NULL)
        return;
    for (size_t i = 0; i < table->sets.count; i++)
        dataset_unref(table->sets.at[i]);
    ARRAY_FREE(&table->sets);
    free(table);
}
