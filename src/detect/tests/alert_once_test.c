/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect.alert-once: which reports of the stream bring bytes that a rule has alerted on. */
#include "base/memory/lib_memory.h"
#include "base/test.h"
#include "detect/inspect/alert_once.h"
#include "detect/inspect/inspect_private.h"

/* A packet of 10 bytes after which the sender has sent so many, SYN included. */
static void note(struct stream_dir *ds, uint32_t rule, uint32_t sent, uint8_t flags)
{
    const struct rule r = { .index = rule };
    struct packet p = { .payload_len = 10, .tcp.flags = flags };

    stream_slot(&p)->sent[TO_SERVER] = sent;
    alert_once_note(ds, &(struct match_input){ .packet = &p, .rule = &r,
                                               .direction = TO_SERVER });
}

/* The window that is reported. */
static void window(struct stream_dir *ds, uint64_t from, uint64_t to)
{
    ds->to = to;
    ds->uninspected = (uint32_t)(to - from);
}

static void close_stream(struct stream_dir *ds)
{
    lib_free(ds->ext->alerted);
    lib_free(ds->ext);
}

TEST(alert_once_windows)
{
    struct stream_dir ds = { 0 };

    CHECK(!alert_once_has(&ds, 5));
    note(&ds, 5, 11, 0);                        /* bytes 0 to 9 */
    note(&ds, 5, 32, TCP_FIN);                  /* bytes 20 to 29 */
    window(&ds, 0, 5);
    CHECK(alert_once_has(&ds, 5) && !alert_once_has(&ds, 6));
    window(&ds, 9, 20);
    CHECK(alert_once_has(&ds, 5));
    window(&ds, 10, 20);
    CHECK(!alert_once_has(&ds, 5));
    window(&ds, 10, 21);
    CHECK(alert_once_has(&ds, 5));
    window(&ds, 30, 50);
    CHECK(!alert_once_has(&ds, 5));
    alert_once_clear(ds.ext->alerted);
    window(&ds, 0, 50);
    CHECK(!alert_once_has(&ds, 5));
    alert_once_clear(NULL);
    close_stream(&ds);
}

/* Streams of more than 4 GiB. */
TEST(alert_once_wraps)
{
    struct stream_dir ds = { 0 };

    window(&ds, UINT32_MAX - 6, UINT32_MAX - 6);
    note(&ds, 5, 5, 0);
    window(&ds, UINT32_MAX - 6, 0x100000002);
    CHECK(alert_once_has(&ds, 5));
    window(&ds, 0x100000004, 0x100000009);
    CHECK(!alert_once_has(&ds, 5));
    close_stream(&ds);
}

/* What has been reported makes room; without room a rule alerts twice. */
TEST(alert_once_is_bounded)
{
    struct stream_dir ds = { 0 };

    for (uint32_t rule = 0; rule < 300; rule++)
        note(&ds, rule, 11, 0);
    window(&ds, 0, 10);
    CHECK(alert_once_has(&ds, 255));
    CHECK(!alert_once_has(&ds, 256));
    window(&ds, 10, 10);
    note(&ds, 299, 21, 0);
    window(&ds, 10, 20);
    CHECK(alert_once_has(&ds, 299));
    close_stream(&ds);
}
