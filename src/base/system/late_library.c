/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/system/late_library.c - loads a library and looks its functions up. */
#include "base/system/late_library.h"

#include <dlfcn.h>
#include <string.h>

int late_library_load(const char *file, const struct late_function *list, void *functions,
                      struct err *err)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

    if (library == NULL)
        return err_set(err, "%s", dlerror());
    for (; list->name != NULL; list++) {
        void *function = dlsym(library, list->name);

        if (function == NULL)
            return err_set(err, "%s has no %s()", file, list->name);
        memcpy((char *)functions + list->at, &function, sizeof(function));
    }
    return 0;
}
