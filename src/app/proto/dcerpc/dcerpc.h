/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dcerpc/dcerpc.h - DCE/RPC calls over TCP (5.0, 5.1) and UDP (4.0); only this directory
 * includes it.
 *
 * A transaction is a call or a bind with its response. Over TCP each fragment of a call is a
 * transaction of its own; over UDP fragments are reassembled. */
#ifndef APP_DCERPC_DCERPC_H
#define APP_DCERPC_DCERPC_H

#include "app/log.h"
#include "app/proto.h"
#include "app/proto/dcerpc/pdu.h"

#define DCERPC_FRAME_LIST(E)         \
    E(DCERPC_FRAME_STREAM, "stream") \
    E(DCERPC_FRAME_PDU, "pdu")       \
    E(DCERPC_FRAME_HDR, "hdr")       \
    E(DCERPC_FRAME_DATA, "data")
enum { DCERPC_FRAME_LIST(APP_ENUM_ID) };

struct dcerpc_settings {
    uint32_t max_stub_size;
};

struct dcerpc_dir {
    struct dce_stub stub;
    uint16_t fragments;
    uint8_t type;               /* of the PDU: enum dce_type */
    bool lost;                  /* will not arrive: it was in a gap */
};

struct dcerpc_tx {
    struct app_tx tx;
    struct dcerpc_dir ds[2]; /* the request, the response */
    bool is_udp, little, request_seen;
    uint8_t minor;              /* of the version */
    uint16_t context, opnum;
    uint32_t call_id;
    uint32_t sequence;          /* UDP */
    uint8_t activity[DCE_UUID_LEN];
};

static inline struct dcerpc_tx *dcerpc_tx_of(const struct app_tx *tx)
{
    return (struct dcerpc_tx *)(uintptr_t)tx;
}

struct dcerpc_state {
    struct dce_interfaces interfaces;
    bool started[2];
    bool searching[2];          /* somewhere within a record: picked up midstream */
    uint16_t wanted[2];         /* length of the PDU that is not complete; 0: none */
};

enum parse_status dcerpc_parse_tcp(struct app_flow *af, struct app_input *in);
enum parse_status dcerpc_parse_udp(struct app_flow *af, struct app_input *in);
enum app_probe_result dcerpc_probe_tcp(struct bytes in, enum direction d, const struct flow *f);
enum app_probe_result dcerpc_probe_udp(struct bytes in, enum direction d, const struct flow *f);

extern const struct app_log *const dcerpc_logs[];
void dcerpc_alert_metadata(struct json *j, struct app_tx *tx);

#endif
