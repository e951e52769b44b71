/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/mime/parameter.h - parameters of header fields. */
#ifndef APP_MIME_PARAMETER_H
#define APP_MIME_PARAMETER_H

#include "base/memory/arena.h"
#include "base/text/bytes.h"

/* Finds the value of `parameter` in "form-data; name=x; filename=\"a b\"". Sections of RFC 2231 are
 * joined in arena memory. Keeps backslashes. */
bool mime_parameter(struct slice header, const char *parameter, struct arena *arena,
                    struct slice *out);

#endif
