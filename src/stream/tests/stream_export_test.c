/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TCP sessions that begin in one process and go on in another one. */
#include "flow/flow_export.h"
#include "stream/tests/script.h"

#include <string.h>

/* What happens in the process before the hand-over; the flow is written as it is then. */
static void leave(struct test *t, const char *steps, struct script *s, struct buf *records)
{
    struct flow_export_parts parts = { .heard = { 0 } };

    script_open(s, NULL, false);
    script_run(s, steps);
    CHECK(s->flow != NULL);
    s->flow->end_state = s->flow->state;        /* as if it had ended */
    stream_export(s->flow, &parts.tcp);
    CHECK(flow_export_add(records, s->flow, &parts));
}

/* The sides go on where they are. */
static struct flow_imports *go_on(struct test *t, const struct script *before, struct script *s,
                                  const struct buf *records)
{
    struct flow_imports *imports;
    struct err err = { 0 };

    script_open(s, NULL, false);
    memcpy(s->ds, before->ds, sizeof(s->ds));
    s->time_us = before->time_us;
    imports = flow_imports_new(s->flow_conf, records, NULL, &err);
    CHECK(imports != NULL);
    flow_conf_set_imports(s->flow_conf, imports);
    return imports;
}

static void end(struct test *t, struct script *a, struct script *b, struct flow_imports *imports,
                struct buf *records)
{
    script_close(t, a);
    script_close(t, b);
    flow_imports_free(imports);
    buf_fini(records);
}

TEST(stream_export_continues_a_session_at_its_next_byte)
{
    struct flow_imports *imports;
    struct buf records = { 0 };
    struct script a, b;

    leave(t, "c>s S ws=7; s>c SA ws=7; c>s A; c>s PA 'seen; s>c A", &a, &records);
    imports = go_on(t, &a, &b, &records);
    script_run(&b, "c>s PA 'next; s>c PA 'back; c>s A");
    CHECK_STRING(b.state, "established");
    CHECK_INT(b.flow_state, FLOW_ESTABLISHED);
    CHECK_STRING(script_log(&b), "2: c0=next\n3: s0=back\n");
    CHECK_INT(flow_imports_left(imports), 0);
    end(t, &a, &b, imports, &records);
}

TEST(stream_export_knows_the_client_when_the_server_sends_first)
{
    struct flow_imports *imports;
    struct buf records = { 0 };
    struct script a, b;

    leave(t, "c>s S; s>c SA; c>s A; c>s PA 'seen; s>c A", &a, &records);
    imports = go_on(t, &a, &b, &records);
    script_run(&b, "s>c PA 'back; c>s A; c>s PA 'next; s>c A");
    CHECK_STRING(b.state, "established");
    CHECK(b.flow != NULL && b.flow->swapped);
    CHECK_STRING(script_log(&b), "2: s0=back\n4: c0=next\n");
    end(t, &a, &b, imports, &records);
}

/* The handshake is half done in each process. */
TEST(stream_export_continues_a_handshake)
{
    struct flow_imports *imports;
    struct buf records = { 0 };
    struct script a, b;

    leave(t, "c>s S; s>c SA", &a, &records);
    imports = go_on(t, &a, &b, &records);
    script_run(&b, "c>s A; c>s PA 'first; s>c A");
    CHECK_STRING(b.state, "established");
    CHECK_STRING(script_log(&b), "3: c0=first\n");
    end(t, &a, &b, imports, &records);
}

/* Bytes that the other process has seen are repeated: they are known, although the data are gone. */
TEST(stream_export_recognises_repeated_bytes)
{
    struct flow_imports *imports;
    struct buf records = { 0 };
    struct script a, b;

    leave(t, "c>s S; s>c SA; c>s A; c>s PA 'seen; s>c A", &a, &records);
    imports = go_on(t, &a, &b, &records);
    script_run(&b, "c>s PA seq=1 'seen; c>s PA seq=5 'next; s>c A");
    CHECK_STRING(b.state, "established");
    CHECK(b.data[TO_SERVER].len == 4 && memcmp(b.data[TO_SERVER].data, "next", 4) == 0);
    end(t, &a, &b, imports, &records);
}

/* Three processes: rules of the third may match what the first one has seen, if the second one saw
 * nothing of that direction. */
TEST(stream_export_passes_on_a_tail_that_nothing_followed)
{
    struct flow_imports *imports;
    struct buf records = { 0 };
    struct script a, b;
    struct slice tail;

    leave(t, "c>s S; s>c SA; c>s A; c>s PA 'seen; s>c A", &a, &records);
    imports = go_on(t, &a, &b, &records);
    script_run(&b, "s>c A; c>s A");
    CHECK(b.flow != NULL);
    CHECK_INT(stream_tail(b.flow, TO_SERVER, 100).len, 0);
    flow_tail_set(b.flow, TO_SERVER, (struct slice){ (const uint8_t *)"seen", 4 });
    tail = stream_tail(b.flow, TO_SERVER, 100);
    CHECK(tail.len == 4 && memcmp(tail.data, "seen", 4) == 0);
    CHECK_INT(stream_tail(b.flow, TO_CLIENT, 100).len, 0);
    script_run(&b, "c>s PA 'next; s>c A");
    tail = stream_tail(b.flow, TO_SERVER, 100);
    CHECK(tail.len == 0 || memcmp(tail.data, "next", MIN(tail.len, 4u)) == 0);
    flow_ext_free(b.flow);
    end(t, &a, &b, imports, &records);
}

/* A number of another version is no state of this one. */
TEST(stream_export_limits_unknown_states)
{
    struct flow_imports *imports;
    struct flow_export record;
    struct buf records = { 0 };
    struct script a, b;

    leave(t, "c>s S; s>c SA; c>s A", &a, &records);
    memcpy(&record, records.data, sizeof(record));
    record.state = 200;
    record.tcp.state = record.tcp.former_state = 200;
    record.tcp.dir[0].wscale = record.tcp.dir[1].wscale = 200;
    memcpy(records.data, &record, sizeof(record));
    imports = go_on(t, &a, &b, &records);
    script_run(&b, "c>s PA 'next; s>c A");
    CHECK_STRING(b.state, "closed");
    CHECK_INT(flow_imports_left(imports), 0);
    end(t, &a, &b, imports, &records);
}
