/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/dataset.h - named sets of values that rules ask and fill: strings, hashes,
 * addresses; with a reputation beside each value where they are used by datarep.
 *
 * One table per ruleset, shared by all threads: a set is cut into shards with a lock each, held
 * for one look-up. Values come from files and go there when the set is freed.
 *
 * A ruleset that replaces another one shares its sets with all their values; but a set that a rule
 * loads from a file and never saves is read again. */
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
    enum dataset_type type;     /* NONE: whatever it is */
    const char *load, *save;    /* full paths; NULL: none */
    uint64_t memcap;            /* bytes; 0: as configured */
    uint32_t rows;              /* see dataset_rows.h; 0: as configured */
    bool with_value;            /* datarep: lines are "value,number" */
    const struct dataset_json *json;    /* the file holds JSON objects; NULL: lines */
};

/* dataset_json.c: objects of a file, one a line or in an array, each with the value that is to be
 * found by, and given back whole. */
struct dataset_json {
    bool lines;
    const char *array_key;      /* path of the array: "data.items"; NULL: the file is the array */
    const char *value_key;      /* path of the value in each object */
    bool remove_key;            /* alerts show the object without the value */
};
struct dataset_item { struct text value, json; };
int dataset_json_read(const char *path, const struct dataset_json *how,
                      int (*visit)(const struct dataset_item *item, void *arg, struct err *err),
                      void *arg, struct err *err);

/* With the sets of the configuration in it, and those of previous, which may be NULL. */
struct dataset_table *dataset_table_new(const struct conf_node *root,
                                        const struct dataset_table *previous);
void dataset_table_free(struct dataset_table *table);       /* saves what no other table shares */
void dataset_table_save(struct dataset_table *table);

/* Finds or makes and loads it. NULL with err set. */
struct dataset *dataset_get(struct dataset_table *table, const struct dataset_request *request,
                            struct err *err);
struct dataset *dataset_find(struct dataset_table *table, const char *name);
enum dataset_type dataset_type_of(const struct dataset *set);
bool dataset_type_parse(struct text in, enum dataset_type *out);
/* A value as files and commands write it: base64, hex, an address. Up to 4 KiB. */
bool dataset_value_parse(const struct dataset *set, struct text in, uint8_t *out, uint32_t *len);

/* Before packets flow: some rule or script puts values in or takes them out. */
void dataset_set_changes(struct dataset *set);
bool dataset_changes(const struct dataset *set);
/* Any thread. add: true when it was not there and there was room; remove: when it was there. */
bool dataset_add(struct dataset *set, struct slice value);
/* With the JSON that belongs to it, where the set holds such. */
bool dataset_takes_json(const struct dataset *set);
bool dataset_add_json(struct dataset *set, struct slice value, struct text json);
bool dataset_has(struct dataset *set, struct slice value, uint16_t *number);
/* Appends the JSON that belongs to the value. */
bool dataset_get_json(struct dataset *set, struct slice value, struct buf *out);
bool dataset_remove(struct dataset *set, struct slice value);
void dataset_clear(struct dataset *set);

#endif
