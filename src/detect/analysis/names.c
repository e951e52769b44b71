/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/analysis/names.c - Suricata's names of rule types, tests and operations in
 * reports. */
#include "detect/analysis/private.h"
#include "detect/compile/tx_engines.h"

#include <string.h>

/* Tests whose name in reports differs from the keyword's. */
static const struct { const char *name, *reported; } listed[] = {
    { "filestore", "__filestore__postmatch__" },
    { "flow.bytes_toclient", "flow.bytes" },
    { "flow.bytes_toserver", "flow.bytes" },
    { "flow.pkts_toclient", "flow.pkts" },
    { "flow.pkts_toserver", "flow.pkts" },
};

const char *analysis_type_name(const struct rule *rule)
{
    switch (rule_written_type(rule)) {
    case RULE_IP_ONLY: return "ip_only";
    case RULE_LIKE_IP_ONLY: return "like_ip_only";
    case RULE_PROTO_ONLY: return "pd_only";
    /* Events of streams belong to the packet that caused them. */
    case RULE_DECODER_EVENT: return analysis_has_test(rule, "decode-event") ? "de_only" : "pkt";
    case RULE_PACKET: return "pkt";
    case RULE_PACKET_STREAM: return "pkt_stream";
    case RULE_STREAM: return "stream";
    case RULE_APP_LAYER: return "app_layer";
    case RULE_APP_TX: return "app_tx";
    }
    return "unset";
}

const char *analysis_test_name(const struct rule_test *test)
{
    for (size_t i = 0; i < ARRAY_LEN(listed); i++)
        if (strcmp(listed[i].name, test->keyword->name) == 0)
            return listed[i].reported;
    return engine_listed_name(test->keyword);
}

/* Keywords such as `filename` are contents too. */
const char *analysis_op_name(const struct rule_op *op)
{
    switch ((enum op_kind)op->kind) {
    case OP_CONTENT: return "content";      /* also those of `uricontent` */
    case OP_PCRE: return "pcre";
    default: return op->keyword->name;
    }
}
