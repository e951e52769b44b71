/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smtp/chunk.c - when a BDAT chunk (RFC 3030) raises bdat_chunk_len_exceeded.
 *
 * A chunk is longer than announced if it ended within a line and no command follows.
 *
 * Suricata reads the lines of a chunk and raises the event where a line goes on behind the chunk:
 * at a command that follows within the line, and at the line behind an empty chunk. It counts the
 * bytes of all chunks since RSET, so that a second chunk is too long as well. Then it gives the
 * mail up. With `bdat-lines` the event comes in these cases, too, once in a flow, and the mail is
 * followed to its end. The event does not depend on TCP segmentation. In Suricata it does: a
 * command in a segment of its own begins a line there, unless the chunk's last line begins with
 * "--". */
#include "app/proto/smtp/smtp.h"

void smtp_chunk_begin(struct smtp_state *s, uint64_t size)
{
    s->chunk.size = size;
    s->chunk.empty = size == 0;
}

static void tell(struct smtp_state *s)
{
    const struct smtp_settings *settings = s->af->settings;

    if (!settings->bdat_lines || s->chunk.told)
        return;
    smtp_event(s, SMTP_EVENT_BDAT_CHUNK_LEN_EXCEEDED);
    s->chunk.told = true;
}

/* The next part of a chunk. */
void smtp_chunk_data(struct smtp_state *s, struct slice chunk)
{
    uint8_t last = chunk.len > 0 ? chunk.data[chunk.len - 1] : '\n';

    s->chunk.counted += chunk.len;
    s->chunk_ragged = last != '\n';
    s->chunk.cr_last = last == '\r';
    if (s->chunk.counted > s->chunk.size)
        tell(s);
}

/* A CR alone ends a line, too. */
void smtp_chunk_line(struct smtp_state *s, struct slice text)
{
    if (s->chunk_ragged && !smtp_is_command(text))
        smtp_event(s, SMTP_EVENT_BDAT_CHUNK_LEN_EXCEEDED);
    else if ((s->chunk_ragged && !s->chunk.cr_last) || s->chunk.empty)
        tell(s);
    s->chunk_ragged = s->chunk.empty = false;
    if (smtp_starts_nocase(text, "rset"))
        s->chunk.counted = 0;
}
