/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/line.c - collects one line of a text protocol over several chunks, up to a limit. */
#include "app/lib/line.h"

/* For a truncated line: skips the rest of it, up to its end or the end of data. */
static enum app_line_result drop_rest(bool *drop, struct bytes *in)
{
    struct slice rest;

    *drop = !take_until(in, '\n', &rest);
    if (*drop)
        (void)take_rest(in);
    return APP_LINE_DROPPED;
}

/* Returns the first `max` bytes as a line. If the last of them is the line end itself, nothing is
 * left to drop. */
static enum app_line_result truncate_line(bool *drop, struct bytes *in, uint32_t max,
                                          struct app_line *line)
{
    line->text = take_slice(in, max);
    line->end_len = 0;
    *drop = max > 0 && line->text.data[max - 1] != '\n';
    return APP_LINE_TRUNCATED;
}

/* A peer that never ends its line costs at most `max` bytes of buffer: the caller keeps the bytes
 * of an incomplete line pending. *drop lives with the caller, per direction. The limit counts the
 * line end, and "\n" alone ends a line, too. */
enum app_line_result app_line_take(bool *drop, struct bytes *in, uint32_t max,
                                   struct app_line *line)
{
    struct bytes look = *in;
    struct slice complete;

    if (*drop)
        return drop_rest(drop, in);
    if (!take_until(&look, '\n', &complete))
        return bytes_left(in) < max ? APP_LINE_MORE : truncate_line(drop, in, max, line);
    if (complete.len + 1 >= max)
        return truncate_line(drop, in, max, line);
    *in = look;
    line->end_len = complete.len > 0 && complete.data[complete.len - 1] == '\r' ? 2 : 1;
    line->text = (struct slice){ .data = complete.data, .len = complete.len + 1 - line->end_len };
    return APP_LINE_COMPLETE;
}
