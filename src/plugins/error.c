/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/error.c - what a plugin's open() or parse() gets for the reason of its failure.
 *
 * A plugin may keep it and use it when the call is over, on any thread. So none is ever freed:
 * calls take them in turn, and fail() looks whether this one is in use by its thread. */
#include "base/err.h"
#include "base/array.h"
#include "plugins/private.h"

static struct {
    pthread_mutex_t lock;
    struct ids_error *free;
} errors = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct ids_error *plugin_error_begin(void)
{
    struct ids_error *e;

    pthread_mutex_lock(&errors.lock);
    e = errors.free;
    if (e != NULL)
        errors.free = e->next;
    pthread_mutex_unlock(&errors.lock);
    if (e == NULL) {
        e = xcalloc(1, sizeof(*e));
        pthread_mutex_init(&e->lock, NULL);
    }
    plugin_error_open(e);
    return e;
}

void plugin_error_open(struct ids_error *e)
{
    pthread_mutex_lock(&e->lock);
    e->err = (struct err){ 0 };
    e->caller = pthread_self();
    e->is_open = true;
    pthread_mutex_unlock(&e->lock);
}

void plugin_error_close(struct ids_error *e)
{
    pthread_mutex_lock(&e->lock);
    e->is_open = false;
    pthread_mutex_unlock(&e->lock);
}

void plugin_error_set(struct ids_error *e, const char *text)
{
    pthread_mutex_lock(&e->lock);
    if (e->is_open && pthread_equal(e->caller, pthread_self()))
        err_set(&e->err, "%s", text);
    pthread_mutex_unlock(&e->lock);
}

void plugin_error_end(struct ids_error *e, struct err *err)
{
    plugin_error_close(e);
    if (e->err.text[0] != '\0')
        *err = e->err;
    pthread_mutex_lock(&errors.lock);
    e->next = errors.free;
    errors.free = e;
    pthread_mutex_unlock(&errors.lock);
}
