/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/libraries.h - the libraries: one line each, X(name) for `lua_open_<name>` in this
 * directory, which scripts load as "suricata.<name>". */
#ifndef DETECT_LUA_LIBRARIES_H
#define DETECT_LUA_LIBRARIES_H

#include <lua.h>
#include <stdbool.h>

#define LUA_LIBRARY_LIST(X) \
    X(base64)               \
    X(bytevar)              \
    X(config)               \
    X(dataset)              \
    X(dnp3)                 \
    X(dns)                  \
    X(file)                 \
    X(flow)                 \
    X(flowint)              \
    X(flowvar)              \
    X(hashlib)              \
    X(http)                 \
    X(ja3)                  \
    X(log)                  \
    X(ntp)                  \
    X(packet)               \
    X(rule)                 \
    X(smtp)                 \
    X(ssh)                  \
    X(tls)                  \
    X(util)

/* True if a protocol has a library of this name: `suricata.NAME`. */
bool lua_library_is_known(const char *name);

#define X(name) int lua_open_##name(lua_State *state);
LUA_LIBRARY_LIST(X)
#undef X

#endif
