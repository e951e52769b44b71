/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/libraries.c - the libraries by the name that scripts pass to require(). */
#include "config.h"

#ifdef HAVE_LUA
#include "detect/lua/libraries.h"

#include "detect/lua/sandbox.h"

#include <string.h>

static const luaL_Reg libraries[] = {
#define X(name) { "suricata." #name, lua_open_##name },
    LUA_LIBRARY_LIST(X)
#undef X
    { "suricata.hashing", lua_open_hashlib },       /* the name in Suricata's manual */
    { NULL, NULL },
};

/* For closed sandboxes, whose require() knows these libraries and nothing else. */
bool lua_library_push(lua_State *state, const char *name)
{
    for (const luaL_Reg *l = libraries; l->name != NULL; l++) {
        if (strcmp(l->name, name) == 0) {
            l->func(state);
            return true;
        }
    }
    return false;
}

/* For open sandboxes: Lua's own require() finds them as loaded. */
bool lua_library_is_known(const char *name)
{
    static const char prefix[] = "suricata.";

    for (const luaL_Reg *l = libraries; l->name != NULL; l++)
        if (strcmp(l->name + strlen(prefix), name) == 0)
            return true;
    return false;
}

void lua_libraries_preload(lua_State *state)
{
    for (const luaL_Reg *l = libraries; l->name != NULL; l++) {
        luaL_requiref(state, l->name, l->func, 0);
        lua_pop(state, 1);
    }
}
#endif
