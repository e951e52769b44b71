/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/table.h - replaces htp_table_*() if libhtp's archive is linked; only size and
 * speed differ. */
#ifndef APP_HTTP1_TABLE_H
#define APP_HTTP1_TABLE_H

#include "config.h"

#include "base/text/bytes.h"

#include <htp/htp.h>

#include <string.h>

/* A header field that the caller has read. */
struct http_field {
    struct slice name, value;
};

htp_table_t *http_table_create(size_t size);            /* size: 0 is refused, else of no account */
void http_table_destroy(htp_table_t *table);
void http_table_destroy_ex(htp_table_t *table);         /* the keys stay */
void http_table_clear(htp_table_t *table);
void http_table_clear_ex(htp_table_t *table);
htp_status_t http_table_add(htp_table_t *table, const bstr *key, const void *element);
htp_status_t http_table_addn(htp_table_t *table, const bstr *key, const void *element);
htp_status_t http_table_addk(htp_table_t *table, const bstr *key, const void *element);
void *http_table_get(const htp_table_t *table, const bstr *key);
void *http_table_get_c(const htp_table_t *table, const char *target);
/* The same, if the name has this length. */
void *http_table_get_named(const htp_table_t *table, const char *target, size_t len);
void *http_table_get_mem(const htp_table_t *table, const void *key, size_t len);
void *http_table_get_index(const htp_table_t *table, size_t index, bstr **key);
size_t http_table_size(const htp_table_t *table);

/* A string whose text is elsewhere, and stays there as long as it. */
static inline bstr http_borrowed(const uint8_t *data, uint32_t len)
{
    return (bstr){ .len = len, .size = len, .realptr = (uint8_t *)(uintptr_t)data };
}

#define HTTP_TABLE_FILL_MAX 32

/* Fills an empty table with headers that lie in one block, which the table owns: up to 32 fields,
 * which are within `text`. Nothing may change the length of their values. Before libhtp frees the
 * transaction, whose headers it frees one by one, http_table_release() takes them out. False: no
 * memory. */
bool http_table_fill(htp_table_t *table, const struct http_field *field, unsigned count,
                     struct slice text);
void http_table_release(htp_table_t *table);

#ifdef HAVE_HTP_ARCHIVE
#define HTTP_TABLE_IS_OURS true
#define htp_table_add http_table_add
#define htp_table_get_c(table, name) http_table_get_named(table, name, strlen(name))
#define htp_table_get_mem http_table_get_mem
#define htp_table_get_index http_table_get_index
#define htp_table_size http_table_size
#else
#define HTTP_TABLE_IS_OURS false
#endif

#endif
