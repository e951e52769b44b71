/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/test.h"
#include "flow/flow.h"
#include "stream/tcp_session.h"

/* Half a million flows must fit where a server has memory for them: what a flow costs before any
 * data is a figure to watch. */
TEST(stream_flow_with_session_stays_small)
{
    CHECK(sizeof(struct flow) <= 320);
    CHECK(sizeof(struct tcp_session) <= 384);
    CHECK(sizeof(struct flow) + sizeof(struct tcp_session) <= 640);
}
