/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/exception.h - exception policies: what becomes of traffic when a limit is reached. */
#ifndef FLOW_EXCEPTION_H
#define FLOW_EXCEPTION_H

#include "base/counters.h"
#include "conf/conf.h"
#include "flow/flow.h"

enum exception_policy {
    EXCEPTION_IGNORE, EXCEPTION_AUTO, EXCEPTION_PASS_PACKET, EXCEPTION_PASS_FLOW,
    EXCEPTION_BYPASS, EXCEPTION_DROP_PACKET, EXCEPTION_DROP_FLOW, EXCEPTION_REJECT,
    EXCEPTION_REJECT_BOTH
};
const char *exception_policy_name(enum exception_policy policy);     /* EVE: "drop_flow" */
const char *exception_target_name(uint8_t target);      /* of flow.exception_target, as in EVE */

/* Reads `path` ("stream.memcap-policy"), falling back on the master `exception-policy`, and
 * settles `auto` by whether the run is inline. flow_too: whether *-flow values make sense. */
enum exception_policy exception_policy_read(const struct conf_node *root, const char *path,
                                            bool flow_too, bool is_inline, bool midstream);

/* Applies to the packet, and through it to its flow when it has one. */
void exception_policy_apply(enum exception_policy policy, struct packet *p,
                            enum drop_reason reason);

#endif
