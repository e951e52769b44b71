/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/list.c - registers the outputs of output/list.h. Only this file names all of them. */
#include "output/list.h"
#include "output/logger.h"

#define X(name) extern const struct logger_ops logger_##name;
LOGGER_LIST(X)
#undef X

static const struct logger_ops *const built_in[] = {
#define X(name) &logger_##name,
    LOGGER_LIST(X)
#undef X
};

void loggers_init(void)
{
    for (unsigned i = 0; i < ARRAY_LEN(built_in); i++)
        logger_put(i, built_in[i]);
}
