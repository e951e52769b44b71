/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/packet_lib.c - the libraries suricata.packet and suricata.flow: the current
 * packet and its flow. */
#include "config.h"

#ifdef HAVE_LUA
#include "app/proto.h"
#include "detect/lua/libraries.h"
#include "detect/lua/sandbox.h"
#include "packet/inspection.h"

#define PACKET_CLASS "suricata:packet"
#define FLOW_CLASS "suricata:flow"

/* TCP and UDP. Suricata gives 0 for the ports of other protocols. */
static bool has_ports(uint8_t proto)
{
    return proto == 6 || proto == 17;
}

/* --- packet ------------------------------------------------------------------------------- */

static const struct packet *packet_of(lua_State *state)
{
    lua_object_check(state, PACKET_CLASS);
    return lua_context_of(state)->packet;
}

static int packet_get(lua_State *state)
{
    if (lua_context_of(state)->packet == NULL)
        return lua_push_failure(state, "failed to get packet");
    return lua_object_push(state, PACKET_CLASS, 0);
}

/* Copies the bytes, because Lua's strings own theirs. */
static int packet_payload(lua_State *state)
{
    const struct packet *p = packet_of(state);

    return lua_push_slice(state, (struct slice){ p->payload, p->payload_len });
}

static int packet_packet(lua_State *state)
{
    const struct packet *p = packet_of(state);

    return lua_push_slice(state, (struct slice){ p->data, p->len });
}

static int packet_pcap_cnt(lua_State *state)
{
    lua_pushinteger(state, (lua_Integer)packet_of(state)->number);
    return 1;
}

/* Seconds and microseconds. */
static int packet_timestamp(lua_State *state)
{
    uint64_t t = packet_of(state)->time_us;

    lua_pushnumber(state, (lua_Number)(t / 1000000));
    lua_pushnumber(state, (lua_Number)(t % 1000000));
    return 2;
}

static int packet_legacy_time(lua_State *state)
{
    return lua_push_legacy_time(state, packet_of(state)->time_us);
}

static int packet_iso_time(lua_State *state)
{
    return lua_push_iso_time(state, packet_of(state)->time_us);
}

/* Version, addresses, protocol, ports; for ICMP type and code in place of the ports.
 * Without IP only the version, which is 0. */
static int packet_tuple(lua_State *state)
{
    const struct packet *p = packet_of(state);
    struct packet_ends ends = packet_ends(p, lua_context_of(state)->side);
    bool icmp = (p->ip_proto == 1 || p->ip_proto == 58) && p->l4 != NULL;

    lua_pushinteger(state, p->src.version);
    if (p->src.version == 0)
        return 1;
    lua_push_address(state, ends.src);
    lua_push_address(state, ends.dst);
    lua_pushinteger(state, p->ip_proto);
    lua_pushinteger(state, icmp ? p->icmp.type : has_ports(p->ip_proto) ? ends.src_port : 0);
    lua_pushinteger(state, icmp ? p->icmp.code : has_ports(p->ip_proto) ? ends.dst_port : 0);
    return 6;
}

/* SCTP has ports here, but not in tuple(), as in Suricata. */
static int packet_port(lua_State *state, bool src)
{
    const struct packet *p = packet_of(state);
    struct packet_ends ends = packet_ends(p, lua_context_of(state)->side);

    if (!has_ports(p->ip_proto) && p->ip_proto != 132)
        return lua_push_failure(state, src ? "sp only available for tcp, udp and sctp"
                                           : "dp only available for tcp, udp and sctp");
    lua_pushinteger(state, src ? ends.src_port : ends.dst_port);
    return 1;
}

static int packet_sp(lua_State *state) { return packet_port(state, true); }
static int packet_dp(lua_State *state) { return packet_port(state, false); }

int lua_open_packet(lua_State *state)
{
    static const luaL_Reg functions[] = { { "get", packet_get }, { NULL, NULL } };
    static const luaL_Reg methods[] = {
        { "packet", packet_packet },
        { "payload", packet_payload },
        { "pcap_cnt", packet_pcap_cnt },
        { "timestring_legacy", packet_legacy_time },
        { "timestring_iso8601", packet_iso_time },
        { "timestamp", packet_timestamp },
        { "tuple", packet_tuple },
        { "sp", packet_sp },
        { "dp", packet_dp },
        { NULL, NULL },
    };

    return lua_library(state, functions, PACKET_CLASS, methods);
}

/* --- flow --------------------------------------------------------------------------------- */

static const struct flow *flow_of(lua_State *state)
{
    lua_object_check(state, FLOW_CLASS);
    return lua_context_of(state)->flow;
}

static int flow_get(lua_State *state)
{
    if (lua_context_of(state)->flow == NULL)
        return lua_push_failure(state, "failed to get flow");
    return lua_object_push(state, FLOW_CLASS, 0);
}

static int flow_id(lua_State *state)
{
    lua_pushinteger(state, (lua_Integer)flow_of(state)->id);
    return 1;
}

/* Detected protocol, per direction, before a change, and expected. */
static int flow_app_layer_proto(lua_State *state)
{
    const struct flow *f = flow_of(state);

    lua_pushstring(state, app_proto_name(f->app_proto));
    lua_pushstring(state, app_proto_name(f->app_proto_dir[TO_SERVER]));
    lua_pushstring(state, app_proto_name(f->app_proto_dir[TO_CLIENT]));
    lua_pushstring(state, app_proto_name(f->app_proto_orig));
    lua_pushstring(state, app_proto_name(f->app_proto_expected));
    return 5;
}

static int flow_has_alerts(lua_State *state)
{
    lua_pushboolean(state, flow_of(state)->inspect_flags & FLOW_INSPECT_ALERTED);
    return 1;
}

/* Packets and bytes to the server, then to the client. */
static int flow_stats(lua_State *state)
{
    const struct flow *f = flow_of(state);

    for (unsigned d = TO_SERVER; d <= TO_CLIENT; d++) {
        lua_pushinteger(state, (lua_Integer)f->packets[d]);
        lua_pushinteger(state, (lua_Integer)f->bytes[d]);
    }
    return 4;
}

/* For the first packet of a flow the flow has no last packet yet. */
static uint64_t flow_last_us(lua_State *state, const struct flow *f)
{
    const struct packet *p = lua_context_of(state)->packet;

    return f->inspect_last_us > 0 || p == NULL ? f->inspect_last_us : p->time_us;
}

/* Seconds of start and end, then their microseconds: Suricata's order. */
static int flow_timestamps(lua_State *state)
{
    const struct flow *f = flow_of(state);
    uint64_t last = flow_last_us(state, f);

    lua_pushnumber(state, (lua_Number)(f->start_us / 1000000));
    lua_pushnumber(state, (lua_Number)(last / 1000000));
    lua_pushnumber(state, (lua_Number)(f->start_us % 1000000));
    lua_pushnumber(state, (lua_Number)(last % 1000000));
    return 4;
}

static int flow_legacy_time(lua_State *state)
{
    return lua_push_legacy_time(state, flow_of(state)->start_us);
}

static int flow_iso_time(lua_State *state)
{
    return lua_push_iso_time(state, flow_of(state)->start_us);
}

/* Addresses from the client to the server. The ICMP type takes the position of a port. */
static int flow_tuple(lua_State *state)
{
    const struct flow *f = flow_of(state);
    const struct flow_key *k = &f->key;
    bool swapped = flow_is_swapped(f), icmp = k->proto == 1 || k->proto == 58;
    uint16_t sp = swapped ? k->dst_port : k->src_port, dp = swapped ? k->src_port : k->dst_port;

    lua_pushinteger(state, k->src.version);
    if (k->src.version == 0)
        return 1;
    lua_push_address(state, swapped ? &k->dst : &k->src);
    lua_push_address(state, swapped ? &k->src : &k->dst);
    lua_pushinteger(state, k->proto);
    if (icmp)
        dp = 0;
    lua_pushinteger(state, icmp || has_ports(k->proto) ? sp : 0);
    lua_pushinteger(state, has_ports(k->proto) ? dp : 0);
    return 6;
}

int lua_open_flow(lua_State *state)
{
    static const luaL_Reg functions[] = { { "get", flow_get }, { NULL, NULL } };
    static const luaL_Reg methods[] = {
        { "id", flow_id },
        { "app_layer_proto", flow_app_layer_proto },
        { "has_alerts", flow_has_alerts },
        { "stats", flow_stats },
        { "timestamps", flow_timestamps },
        { "timestring_legacy", flow_legacy_time },
        { "timestring_iso8601", flow_iso_time },
        { "tuple", flow_tuple },
        { NULL, NULL },
    };

    return lua_library(state, functions, FLOW_CLASS, methods);
}
#endif
