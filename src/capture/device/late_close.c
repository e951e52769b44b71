/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/device/late_close.c - a list of descriptors. */
#include "capture/device/late_close.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"

struct late_close {
    pthread_mutex_t lock;               /* protects fds */
    int *fds;
    size_t count;
};

struct late_close *late_close_new(void)
{
    struct late_close *late = xcalloc(1, sizeof(*late));

    pthread_mutex_init(&late->lock, NULL);
    return late;
}

void late_close_free(struct late_close *late)
{
    if (late == NULL)
        return;
    for (size_t i = 0; i < late->count; i++)
        close(late->fds[i]);
    free(late->fds);
    pthread_mutex_destroy(&late->lock);
    free(late);
}

/* There are two for each thread, so one more at a time is enough. */
static bool keep(struct late_close *late, int fd)
{
    int *fds = realloc(late->fds, (late->count + 1) * sizeof(*fds));

    if (fds == NULL)
        return false;
    fds[late->count++] = fd;
    late->fds = fds;
    return true;
}

void late_close(struct late_close *late, int fd)
{
    bool kept = false;

    if (fd < 0)
        return;
    if (late != NULL) {
        pthread_mutex_lock(&late->lock);
        kept = keep(late, fd);
        pthread_mutex_unlock(&late->lock);
    }
    if (!kept)
        close(fd);
}
