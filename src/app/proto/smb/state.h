/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/state.h - a connection: settings, each direction, and caches for facts that
 * later commands refer to (names of open files, trees, offsets of reads). Each cache has a
 * limit. */
#ifndef APP_SMB_STATE_H
#define APP_SMB_STATE_H

#include "app/parser.h"
#include "app/proto.h"
#include "app/proto/dcerpc/pdu.h"
#include "app/proto/smb/cache.h"

#define SMB_FRAME_LIST(E)           \
    E(SMB_FRAME_STREAM, "stream")   \
    E(NBSS_FRAME_PDU, "nbss.pdu")   \
    E(NBSS_FRAME_HDR, "nbss.hdr")   \
    E(NBSS_FRAME_DATA, "nbss.data") \
    E(SMB1_FRAME_PDU, "smb1.pdu")   \
    E(SMB1_FRAME_HDR, "smb1.hdr")   \
    E(SMB1_FRAME_DATA, "smb1.data") \
    E(SMB2_FRAME_PDU, "smb2.pdu")   \
    E(SMB2_FRAME_HDR, "smb2.hdr")   \
    E(SMB2_FRAME_DATA, "smb2.data") \
    E(SMB3_FRAME_PDU, "smb3.pdu")   \
    E(SMB3_FRAME_HDR, "smb3.hdr")   \
    E(SMB3_FRAME_DATA, "smb3.data")
enum smb_frame { SMB_FRAME_LIST(APP_ENUM_ID) };

/* Limits of one direction: of read responses, or of write requests. 0: no limit. */
struct smb_limits {
    uint32_t max_size, max_queue_size, max_queue_count;
};

struct smb_settings {
    struct smb_limits limits[2];    /* by direction of the data */
    uint32_t max_tx, max_stub_size;
    uint32_t max_names, max_keys, max_offsets, max_trees, max_fragments;    /* in caches */
};

struct smb_dir {
    bool started;
    bool searching;                 /* looks for a record, after a gap or a midstream pickup */
    bool had_gap;
    bool cut_off;                   /* the rest of the stream cannot be parsed */
    uint32_t skip;                  /* bytes of the current record to skip */
    uint32_t file_left;             /* bytes of it that belong to a file */
    struct smb_id file_id;
};

struct smb_state {
    struct app_flow *flow;
    struct smb_dir ds[2];
    uint64_t now_us;
    uint16_t dialect;               /* of SMB2; 0: not known */
    struct buf dialect_name;        /* of SMB1 */
    uint32_t max_read, max_write;   /* as negotiated; 0: not known */
    struct dce_interfaces interfaces;
    bool check_files, full;         /* check_files: a gap may have ended files; full: too many
                                     * transactions */
    bool has_calls;                 /* there was a call through a pipe */
    struct app_lru names;         /* file -> name */
    struct app_lru keys;          /* message -> name or file */
    struct app_lru offsets;       /* message -> file and offset of a read */
    struct app_lru trees;         /* session and tree -> share */
    struct app_lru fragments;     /* pipe -> beginning of an answer */
};

enum parse_status smb_parse(struct app_flow *af, struct app_input *in);
enum app_probe_result smb_probe(struct bytes in, enum direction d, const struct flow *flow);

#endif
