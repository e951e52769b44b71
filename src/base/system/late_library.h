/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/system/late_library.h - libraries that are loaded when they are first needed.
 *
 * A library takes memory as soon as it is loaded, and so do those that it needs itself. This is for
 * those of features that few configurations have. A user has a struct of pointers to the functions:
 *
 *     #define FUNCTIONS(F) F(open) F(close)
 *     struct lib {
 *     #define F(name) LATE_FUNCTION(lib_##name, name)
 *         FUNCTIONS(F)
 *     #undef F
 *     };
 */
#ifndef BASE_LATE_LIBRARY_H
#define BASE_LATE_LIBRARY_H

#include "base/base.h"
#include "base/err.h"

#define LATE_FUNCTION(function, member) __typeof__(function) *member;

/* A function's name, and where its pointer is in the struct. */
struct late_function { const char *name; size_t at; };

/* Loads the library and fills the struct. It stays loaded. `list` ends with name NULL. -1: there is
 * no such library, or it does not have one of them. */
int late_library_load(const char *file, const struct late_function *list, void *functions,
                      struct err *err);

#endif
