/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/list.c - the modules of the chain. */
#include "modules/context.h"

#define MODULE_LIST(X) \
    X(receive)         \
    X(decode)          \
    X(stream)          \
    X(detect)          \
    X(verdict)         \
    X(output)

#define X(name) extern const struct thread_module module_##name;
MODULE_LIST(X)
#undef X
#define X(name) &module_##name,
const struct thread_module *const module_table[] = { MODULE_LIST(X) NULL };
#undef X
