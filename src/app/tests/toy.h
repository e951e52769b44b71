/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/tests/toy.h - two protocols that exist only to exercise the framework.
 *
 * "toy" is lines. To the server: HELLO name, ASK text, PUT name (its content follows to the
 * server as "n:bytes" pieces until "0:"), SWITCH (box follows), STOP, ENCRYPT, EXPECT port. To
 * the client: WELCOME text, SAY text, one for each ASK in their order.
 * "box" is records: 0xB0, 16 bit length, that many bytes; one transaction each, one direction. */
#ifndef APP_TESTS_TOY_H
#define APP_TESTS_TOY_H

#include "app/proto.h"

#define APP_PROTO_toy ((enum app_proto_id)APP_PROTO_COUNT)
#define APP_PROTO_box ((enum app_proto_id)(APP_PROTO_COUNT + 1))

extern const struct app_proto app_toy, app_box;
extern const struct app_proto *const toy_protocols[];

#endif
