/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/dataset.h - named sets of values that rules test and change: strings, hashes,
 * addresses. Sets for datarep have a reputation for each value.
 *
 * Each ruleset has a table, which all threads share. A set is divided into shards; each has a lock,
 * which is held for one look-up. Values are loaded from files, and saved when the set is freed.
 *
 * A ruleset that replaces another shares its sets with all their values. A set that rules load from
 * a file and never save is read again instead. */
#ifndef DETECT_DATASET_H
#define DETECT_DATASET_H

#include "base/text/bytes.h"
#include "base/err.h"
#include "base/text/text.h"
#include "conf/conf.h"

enum dataset_type { DATASET_NONE, DATASET_STRING, DATASET_MD5, DATASET_SHA256, DATASET_IPV4,
                    DATASET_IP };

struct buf;
struct dataset;
struct dataset_table;

struct dataset_request {
    const char *name;
    enum dataset_type type;     /* NONE: any */
    const char *load, *save;    /* full paths; NULL: none */
    uint64_t memcap;            /* bytes; 0: from the configuration */
    uint32_t rows;              /* see dataset_rows.h; 0: from the configuration */
    bool with_value;            /* datarep: lines are "value,number" */
    const struct dataset_json *json;    /* the file holds JSON objects; NULL: lines */
};

/* dataset_json.c: the JSON objects of a file, one per line or in an array. Each has the value that
 * is the key of the look-up; the look-up returns the object. */
struct dataset_json {
    bool lines;
    const char *array_key;      /* path of the array: "data.items"; NULL: the file is the array */
    const char *value_key;      /* path of the key in each object */
    bool remove_key;            /* removes the key from the object that alerts show */
};
struct dataset_item { struct text value, json; };
int dataset_json_read(const char *path, const struct dataset_json *how,
                      int (*visit)(const struct dataset_item *item, void *arg, struct err *err),
                      void *arg, struct err *err);

/* Creates a table with the sets of the configuration, and those of `previous`, which may be
 * NULL. */
struct dataset_table *dataset_table_new(const struct conf_node *root,
                                        const struct dataset_table *previous);
void dataset_table_free(struct dataset_table *table);    /* saves sets that no other table shares */
void dataset_table_save(struct dataset_table *table);

/* Returns the set; creates and loads it first if necessary. NULL with err set. */
struct dataset *dataset_get(struct dataset_table *table, const struct dataset_request *request,
                            struct err *err);
struct dataset *dataset_find(struct dataset_table *table, const char *name);
const char *dataset_name(const struct dataset *set);
uint64_t dataset_count(const struct dataset *set);      /* values in it */
enum dataset_type dataset_type_of(const struct dataset *set);
bool dataset_type_parse(struct text in, enum dataset_type *out);
/* Parses a value as files and commands write it: base64, hex, an address. At most 4 KiB. */
bool dataset_value_parse(const struct dataset *set, struct text in, uint8_t *out, uint32_t *len);

/* Call it before packets flow, if a rule or script adds or removes values. */
void dataset_set_changes(struct dataset *set);
bool dataset_changes(const struct dataset *set);
/* Any thread may call these. add: true when the value is new and there was space. remove: true when
 * it was there. */
bool dataset_add(struct dataset *set, struct slice value);
/* True if the set stores JSON with its values. */
bool dataset_takes_json(const struct dataset *set);
bool dataset_add_json(struct dataset *set, struct slice value, struct text json);
bool dataset_has(struct dataset *set, struct slice value, uint16_t *number);
/* Appends the JSON of the value. */
bool dataset_get_json(struct dataset *set, struct slice value, struct buf *out);
bool dataset_remove(struct dataset *set, struct slice value);
void dataset_clear(struct dataset *set);

#endif
