/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/request.c - messages of clients, parsed by jansson. The library checks bounds,
 * nesting and UTF-8. */
#include "control/request.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/array.h"

struct request {
    json_t *root, *arguments;       /* arguments: borrowed from root, or NULL */
};

/* White space may separate messages: version 0.2 ends each one with a newline. */
static void skip_space(struct buf *in)
{
    size_t n = 0;

    while (n < in->len && (in->data[n] == '\n' || in->data[n] == '\r' || in->data[n] == ' ' ||
                           in->data[n] == '\t' || in->data[n] == '\0'))
        n++;
    if (n > 0)
        buf_drop_front(in, n);
}

/* A message that was cut in the middle of a word fails at the very end of the data, with
 * another error code than a missing bracket. */
static bool is_cut(const json_error_t *error, size_t len)
{
    return json_error_code(error) == json_error_premature_end_of_input ||
           (error->position > 0 && (size_t)error->position >= len);
}

/* 0 with *out NULL: the message is not complete yet. -1: it is no JSON object, or longer
 * than REQUEST_MAX; the caller closes the connection, because no later message could be
 * found. */
int request_take(struct buf *in, struct request **out)
{
    json_error_t error;
    json_t *root;

    *out = NULL;
    skip_space(in);
    if (in->len == 0)
        return 0;
    if (in->data[0] != '{')
        return -1;
    root = json_loadb((const char *)in->data, in->len, JSON_DISABLE_EOF_CHECK, &error);
    if (root == NULL)
        return is_cut(&error, in->len) && in->len < REQUEST_MAX ? 0 : -1;
    if (!json_is_object(root) || error.position < 0 || (size_t)error.position > in->len) {
        json_decref(root);
        return -1;
    }
    buf_drop_front(in, (size_t)error.position);
    *out = xcalloc(1, sizeof(**out));
    (*out)->root = root;
    (*out)->arguments = json_object_get(root, "arguments");
    return 0;
}

void request_free(struct request *r)
{
    if (r == NULL)
        return;
    json_decref(r->root);
    free(r);
}

/* The result is borrowed from the request; NULL when it is missing or not a string. */
const char *request_member(const struct request *r, const char *name)
{
    return json_string_value(json_object_get(r->root, name));
}

bool request_has_arguments(const struct request *r)
{
    return json_is_object(r->arguments);
}

bool request_has(const struct request *r, const char *name)
{
    return json_object_get(r->arguments, name) != NULL;
}

const char *request_string(const struct request *r, const char *name)
{
    return json_string_value(json_object_get(r->arguments, name));
}

/* *out is 0 when it is missing or not an integer. */
bool request_int(const struct request *r, const char *name, int64_t *out)
{
    const json_t *value = json_object_get(r->arguments, name);

    *out = json_integer_value(value);
    return json_is_integer(value);
}

bool request_is_true(const struct request *r, const char *name)
{
    return json_is_true(json_object_get(r->arguments, name));
}

/* Any JSON value, not only objects. */
bool request_is_json(struct text in)
{
    json_t *value = json_loadb(in.p, in.n, JSON_DECODE_ANY, NULL);

    json_decref(value);
    return value != NULL;
}
