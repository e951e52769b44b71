/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/events.h - what may be wrong with a connection, under the names of rules. */
#ifndef APP_SMB_EVENTS_H
#define APP_SMB_EVENTS_H

#include "app/rules.h"

#define SMB_EVENT_LIST(E)                                                           \
    E(SMB_INTERNAL_ERROR, "internal_error")                                         \
    E(SMB_MALFORMED_DATA, "malformed_data")                                         \
    E(SMB_RECORD_OVERFLOW, "record_overflow")                                       \
    E(SMB_MALFORMED_NTLMSSP_REQUEST, "malformed_ntlmssp_request")                   \
    E(SMB_MALFORMED_NTLMSSP_RESPONSE, "malformed_ntlmssp_response")                 \
    E(SMB_DUPLICATE_NEGOTIATE, "duplicate_negotiate")                               \
    E(SMB_NEGOTIATE_MALFORMED_DIALECTS, "negotiate_malformed_dialects")             \
    E(SMB_FILE_OVERLAP, "file_overlap")                                             \
    E(SMB_REQUEST_TO_CLIENT, "request_to_client")                                   \
    E(SMB_RESPONSE_TO_SERVER, "response_to_server")                                 \
    E(SMB_NEGOTIATE_MAX_READ_SIZE_TOO_LARGE, "negotiate_max_read_size_too_large")   \
    E(SMB_NEGOTIATE_MAX_WRITE_SIZE_TOO_LARGE, "negotiate_max_write_size_too_large") \
    E(SMB_READ_REQUEST_TOO_LARGE, "read_request_too_large")                         \
    E(SMB_READ_RESPONSE_TOO_LARGE, "read_response_too_large")                       \
    E(SMB_READ_QUEUE_SIZE_EXCEEDED, "read_queue_size_exceeded")                     \
    E(SMB_READ_QUEUE_CNT_EXCEEDED, "read_queue_cnt_exceeded")                       \
    E(SMB_WRITE_REQUEST_TOO_LARGE, "write_request_too_large")                       \
    E(SMB_WRITE_QUEUE_SIZE_EXCEEDED, "write_queue_size_exceeded")                   \
    E(SMB_WRITE_QUEUE_CNT_EXCEEDED, "write_queue_cnt_exceeded")                     \
    E(SMB_UNUSUAL_NTLMSSP_ORDER, "unusual_ntlmssp_order")                           \
    E(SMB_TOO_MANY_TRANSACTIONS, "too_many_transactions")

enum smb_event { SMB_EVENT_NONE, SMB_EVENT_LIST(APP_EVENT_ID) };

struct smb_state;
void smb_event(struct smb_state *st, enum smb_event event);     /* on the newest transaction */

#endif
