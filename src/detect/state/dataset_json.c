/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/dataset_json.c - reads datasets from JSON files. It runs while rules are
 * loaded; jansson does the parsing. */
#include "base/report/log.h"
#include "detect/state/dataset.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_MAX 256 /* bytes of one name in a path */

/* Context of all functions here, on the stack of dataset_json_read(). */
struct reader {
    const struct dataset_json *how;
    int (*visit)(const struct dataset_item *item, void *arg, struct err *err);
    void *arg;
    struct err *err;
};

/* Follows a path "a.b.c". *parent and `last` get the object that holds the value, and its
 * name there. */
static json_t *follow(json_t *at, const char *path, json_t **parent, char last[KEY_MAX])
{
    struct text rest = text_of(path), key;

    while (text_split(&rest, '.', &key)) {
        if (key.n >= KEY_MAX || !json_is_object(at))
            return NULL;
        memcpy(last, key.p, key.n);
        last[key.n] = '\0';
        *parent = at;
        at = json_object_get(at, last);
    }
    return at;
}

/* One object: the value becomes the key of the set, the object's text goes to alerts. */
static int read_item(const struct reader *r, json_t *object)
{
    char key[KEY_MAX] = "", *json;
    json_t *parent = NULL, *value = follow(object, r->how->value_key, &parent, key);
    struct dataset_item item;
    int result;

    if (value == NULL)
        return 0;               /* other items of the array may have the key */
    if (!json_is_string(value)) {
        log_error("dataset", "failed to get value because it is not a string: \"%s\"",
                  r->how->value_key);
        return 0;
    }
    json_incref(value);
    if (r->how->remove_key && parent == object)
        json_object_del(parent, key);   /* as in Suricata, only at the top level */
    json = json_dumps(object, JSON_COMPACT);
    item.value = (struct text){ json_string_value(value), json_string_length(value) };
    item.json = text_of(json);
    result = json != NULL ? r->visit(&item, r->arg, r->err) : 0;
    free(json);
    json_decref(value);
    return result;
}

/* Without array_key the file itself is the array. */
static int read_array(const struct reader *r, json_t *root)
{
    char key[KEY_MAX];
    json_t *parent, *array = root, *item;
    size_t i;

    if (r->how->array_key != NULL)
        array = follow(root, r->how->array_key, &parent, key);
    if (!json_is_array(array))
        return err_set(r->err, "expected an array of objects%s%s",
                       r->how->array_key != NULL ? " at " : "",
                       r->how->array_key != NULL ? r->how->array_key : "");
    json_array_foreach(array, i, item)
        if (read_item(r, item) < 0)
            return -1;
    return 0;
}

/* Format json: the file is one document. */
static int read_all(const struct reader *r, FILE *f)
{
    json_error_t why;
    json_t *root = json_loadf(f, 0, &why);
    int result;

    if (root == NULL)
        return err_set(r->err, "line %d: %s", why.line, why.text);
    result = read_array(r, root);
    json_decref(root);
    return result;
}

/* Format ndjson: one object per line. */
static int read_line(const struct reader *r, const char *line, unsigned number)
{
    json_error_t why;
    json_t *object = json_loads(line, 0, &why);
    int result;

    if (object == NULL)
        return err_set(r->err, "line %u: %s", number, why.text);
    result = read_item(r, object);
    json_decref(object);
    return result;
}

static int read_lines(const struct reader *r, FILE *f)
{
    char *line = NULL;
    size_t size = 0;
    int result = 0;

    for (unsigned number = 1; result == 0 && getline(&line, &size, f) >= 0; number++)
        if (text_trim(text_of(line)).n > 0)
            result = read_line(r, line, number);
    free(line);
    return result;
}

int dataset_json_read(const char *path, const struct dataset_json *how,
                      int (*visit)(const struct dataset_item *item, void *arg, struct err *err),
                      void *arg, struct err *err)
{
    struct reader r = { .how = how, .visit = visit, .arg = arg, .err = err };
    FILE *f = fopen(path, "r");
    int result;

    if (f == NULL)
        return err_set(err, "%s: %s", path, strerror(errno));
    result = how->lines ? read_lines(&r, f) : read_all(&r, f);
    fclose(f);
    return result;
}
