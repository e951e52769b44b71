/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/address_case.h - the address case of a packet, a chunk or a transaction
 * (detect/compile/address_cases.h). The flow caches it with the results of headers. */
#ifndef DETECT_ADDRESS_CASE_H
#define DETECT_ADDRESS_CASE_H

#include "detect/inspect/inspect_private.h"

static inline unsigned address_case(const struct detect_plan *plan, struct header_view *h)
{
    return (unsigned)header_may_fit(plan, HEADER_ID_SENDER, h) * 2 +
           (unsigned)header_may_fit(plan, HEADER_ID_RECEIVER, h);
}

#endif
