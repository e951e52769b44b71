/* SPDX-License-Identifier: GPL-2.0-or-later */
/* misbehaves.c - plugins that must end the start, and one that must not end a run: built once for
 * each number in MISTAKE. */
#include <ids/plugin.h>

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

extern int nobody_has_this(void);

/* What must not happen while a plugin is loaded, in a constructor or in load(). */
static void misbehave(int how)
{
    switch (how) {
    case 0:
        raise(SIGSEGV);
        break;
    case 1:
        exit(0);
    case 3:
        _exit(0);
    case 4:
        _Exit(0);
    case 2:
        if (write(STDOUT_FILENO, "it waits\n", 9) == 9)
            for (;;)
                pause();
    }
}

#if (MISTAKE >= 21 && MISTAKE <= 23) || MISTAKE >= 31
__attribute__((constructor)) static void misbehave_early(void)
{
    misbehave(MISTAKE >= 31 ? MISTAKE - 28 : MISTAKE - 21);
}
#endif

static void *open_nothing(const struct ids_settings *settings, const char *path,
                          struct ids_error *error)
{
    (void)settings, (void)path, (void)error;
    return NULL;
}

static uint64_t write_nothing(void *self, const void *records, size_t len)
{
    (void)self, (void)records, (void)len;
    return 0;
}

static const struct ids_file_type mine = { "mine", open_nothing, write_nothing, NULL, NULL };
static const struct ids_file_type taken = { "regular", open_nothing, write_nothing, NULL, NULL };
static const struct ids_file_type nameless = { NULL, open_nothing, write_nothing, NULL, NULL };

static bool never(const struct ids_packet *packet, const void *argument)
{
    (void)packet, (void)argument;
    return false;
}

static void log_nothing(void *self, struct ids_line *line, const struct ids_flow *flow)
{
    (void)self, (void)line, (void)flow;
}

static const struct ids_keyword ttl = { .name = "TTL", .match = never };
static const struct ids_keyword spaced = { .name = "a b", .match = never };
static const struct ids_packet_buffer payload_buffer = { .name = "udp.hdr" };
static const struct ids_logger fast = { .name = "fast", .filename = "f", .flow_end = log_nothing };

static enum ids_parse parse_nothing(struct ids_app *app, void *state, struct ids_input *in)
{
    (void)app, (void)state, (void)in;
    return IDS_STOP;
}

static bool write_no_record(const void *tx, struct ids_json *json)
{
    (void)tx, (void)json;
    return false;
}

static bool no_buffer(const void *tx, enum ids_direction direction, unsigned index,
                      struct ids_slice *out)
{
    (void)tx, (void)direction, (void)index, (void)out;
    return false;
}

static const struct ids_pattern patterns[] = { { IDS_TCP, IDS_TS, "x", 0 }, { 0 } };
static const struct ids_protocol http = {
    .name = "http", .transports = IDS_TCP, .patterns = patterns, .parse = parse_nothing,
    .log = write_no_record,
};
static const struct ids_protocol bare = {
    .name = "bare", .transports = IDS_TCP, .parse = parse_nothing, .log = write_no_record,
};
static const struct ids_protocol thief = {
    .name = "thief", .transports = IDS_TCP, .patterns = patterns, .parse = parse_nothing,
    .log = write_no_record,
    .buffers = (const struct ids_buffer[]){
        { "http.uri", "not mine", IDS_TS, false, no_buffer }, { 0 } },
};

static void decode_nothing(struct ids_decoding *decoding, struct ids_bytes bytes)
{
    (void)decoding, (void)bytes;
}

static const struct ids_decoder ipv4 = { .number = 0x0800, .decode = decode_nothing };
static const struct ids_decoder tcp = { true, 6, decode_nothing };

static void add_many(struct ids_engine *engine, const struct ids_api *ids)
{
    static char names[100][8];
    static struct ids_protocol many[100];

    for (int i = 0; i < 100; i++) {
        names[i][0] = 'p';
        names[i][1] = (char)('0' + i / 10);
        names[i][2] = (char)('0' + i % 10);
        many[i] = thief;
        many[i].name = names[i];
        many[i].buffers = NULL;
        ids->add_protocol(engine, &many[i]);
    }
}

/* Keeps what load() was given, and adds with it when the engine runs. */
static struct ids_engine *kept_engine;
static const struct ids_api *kept_api;
static const struct ids_keyword late_keyword = { .name = "late", .match = never };

static void *open_and_add(const struct ids_settings *settings, const char *path,
                          struct ids_error *error)
{
    static char self;

    (void)settings, (void)path, (void)error;
    kept_api->add_keyword(kept_engine, &late_keyword);
    return &self;
}

static uint64_t write_and_add(void *self, const void *records, size_t len)
{
    (void)self, (void)records, (void)len;
    kept_api->add_keyword(kept_engine, &late_keyword);
    kept_api->add_key(kept_engine, "late");
    return 0;
}

static const struct ids_file_type late = { "late", open_and_add, write_and_add, NULL, NULL };

/* What the engine refuses counts even when a plugin does not look at the result. */
static int load(struct ids_engine *engine, const struct ids_api *ids)
{
    switch (MISTAKE) {
    case 1:
        return ids->fail(ids->error(engine), "there is no %s", "licence");
    case 2:
        return -1;
    case 3:
        ids->add_file_type(engine, &mine);
        ids->add_file_type(engine, &mine);
        break;
    case 4:
        ids->add_file_type(engine, &taken);
        break;
    case 5:
        ids->add_file_type(engine, &nameless);
        break;
    case 10:
        ids->add_keyword(engine, &ttl);
        break;
    case 11:
        ids->add_keyword(engine, &spaced);
        break;
    case 12:
        ids->add_packet_buffer(engine, &payload_buffer);
        break;
    case 13:
        ids->add_logger(engine, &fast);
        break;
    case 14:
        ids->add_protocol(engine, &http);
        break;
    case 15:
        ids->add_protocol(engine, &bare);
        break;
    case 16:
        ids->add_protocol(engine, &thief);
        break;
    case 18:
        ids->add_decoder(engine, &ipv4);
        break;
    case 19:
        ids->add_decoder(engine, &tcp);
        break;
    case 20:
        kept_engine = engine;
        kept_api = ids;
        ids->add_file_type(engine, &late);
        break;
    case 17:
        add_many(engine, ids);
        break;
    case 24:
    case 25:
    case 26:
    case 27:
    case 28:
        misbehave(MISTAKE - 24);
        break;
    }
    return 0;
}

#if MISTAKE == 6
const struct ids_plugin ids_plugin = { 7, "bad", "1", load };
#elif MISTAKE == 7
const struct ids_plugin not_the_entry = { IDS_PLUGIN_ABI, "bad", "1", load };
#elif MISTAKE == 8
int call(void) { return nobody_has_this() + load(NULL, NULL); }
#elif MISTAKE == 9
const struct ids_plugin ids_plugin = { IDS_PLUGIN_ABI, "", "1", load };
#else
IDS_PLUGIN("bad", "1", load);
#endif
