/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flows written by one process and found by another one. */
#include "base/test.h"
#include "flow/flow_export.h"
#include "flow/vars.h"

#include <string.h>

static struct flow flow_between(uint8_t from, uint16_t src_port, uint8_t to, uint16_t dst_port)
{
    uint8_t a[4] = { 10, 0, 0, from }, b[4] = { 10, 0, 0, to };

    return (struct flow){
        .key = { .src = ip_v4(a), .dst = ip_v4(b), .src_port = src_port, .dst_port = dst_port,
                 .proto = 6 },
    };
}

TEST(flow_export_continues_once_and_from_both_sides)
{
    uint32_t bit = var_name_id(VAR_FLOWBIT, "export.bit"), number;
    uint32_t count = var_name_id(VAR_FLOWINT, "export.count");
    struct flow old = flow_between(1, 4000, 2, 80), new = flow_between(2, 80, 1, 4000);
    struct flow other = flow_between(1, 4001, 2, 80);
    struct tcp_export tcp = { .has_session = 1, .dir = { { .next_seq = 7 }, { .next_seq = 9 } } };
    struct flow_imports *imports;
    struct flow_import from;
    struct buf records = { 0 };
    struct err err = { 0 };

    old.id = 12345;
    old.drop_all = 1;
    old.tcp_flags_seen[0] = 0x12;
    flowbit_set(&old, bit);
    flowint_put(&old, count, 77);
    CHECK(flow_export_add(&records, &old, &tcp));
    imports = flow_imports_new(&records, &err);
    CHECK(imports != NULL);
    CHECK_INT(flow_imports_count(imports), 1);
    CHECK(!flow_imports_take(imports, &other, &from));
    CHECK(flow_imports_take(imports, &new, &from));
    CHECK_INT(from.flow.tcp.dir[1].next_seq, 9);
    flow_import(&new, &from);
    CHECK_INT(new.id, 12345);
    CHECK_INT(new.drop_all, 1);
    CHECK_INT(new.tcp_flags_seen[0], 0x12);
    CHECK(new.swapped);                 /* its first packet comes from the server */
    CHECK(flowbit_is_set(&new, bit));
    CHECK(flowint_get(&new, count, &number));
    CHECK_INT(number, 77);
    CHECK(!flow_imports_take(imports, &new, &from));
    flow_imports_free(imports);
    buf_fini(&records);
    flow_vars_free(old.vars);
    flow_vars_free(new.vars);
}

TEST(flow_export_refuses_damaged_records)
{
    struct flow old = flow_between(1, 4000, 2, 80);
    struct tcp_export tcp = { 0 };
    struct buf records = { 0 };
    struct err err = { 0 };
    uint32_t none = 0;

    CHECK(flow_export_add(&records, &old, &tcp));
    records.len--;
    CHECK(flow_imports_new(&records, &err) == NULL);
    records.len++;
    memcpy(records.data, &none, sizeof(none));      /* a size of 0 would never end */
    CHECK(flow_imports_new(&records, &err) == NULL);
    buf_fini(&records);
}
