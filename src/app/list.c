/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/list.c - gives the registry the protocols of app/list.h. Only this file names all of them, so
 * the core has no symbol of a protocol. */
#include "app/proto.h"

#define X(symbol) extern const struct app_proto app_##symbol;
APP_PROTO_LIST(X)
#undef X

static const struct app_proto *const built_in[] = {
#define X(symbol) &app_##symbol,
    APP_PROTO_LIST(X)
#undef X
};

/* Numbers from APP_PROTO_FIRST on are in the order of the list. */
void app_protos_init(void)
{
    for (unsigned i = 0; i < ARRAY_LEN(built_in); i++)
        app_proto_put((enum app_proto_id)(APP_PROTO_FIRST + i), built_in[i]);
}
