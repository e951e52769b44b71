/* SPDX-License-Identifier: GPL-2.0-or-later */
/* beacon.c - a plugin with a capture: as many datagrams as its source says, one a second.
 *
 *     ids --plugin beacon.so --capture-plugin=beacon --capture-plugin-args=100 */
#include <ids/plugin.h>

#include <stdlib.h>

static const struct ids_api *ids;

/* Raw IP: 10.0.0.1:1000 to 10.0.0.2:2000, UDP without a checksum. */
static const uint8_t datagram[] = {
    0x45, 0, 0, 34, 0, 1, 0, 0, 64, 17, 0x66, 0xc8, 10, 0, 0, 1, 10, 0, 0, 2,
    0x03, 0xe8, 0x07, 0xd0, 0, 14, 0, 0, 'b', 'e', 'a', 'c', 'o', 'n',
};

struct beacon { unsigned long left, sent; };

static void *beacon_open(const struct ids_settings *root, const char *source,
                         struct ids_error *error)
{
    struct beacon *b = calloc(1, sizeof(*b));
    char *end;

    (void)root;
    if (b == NULL)
        return NULL;
    b->left = strtoul(source, &end, 10);
    if (*end == '\0')
        return b;
    ids->fail(error, "expected how many datagrams, found \"%s\"", source);
    free(b);
    return NULL;
}

static enum ids_receive beacon_receive(void *self, struct ids_frame *out)
{
    struct beacon *b = self;

    if (b->left == 0)
        return IDS_END;
    b->left--;
    *out = (struct ids_frame){ datagram, sizeof(datagram), sizeof(datagram),
                               1600000000000000u + 1000000u * b->sent++ };
    return IDS_FRAME;
}

static const struct ids_capture beacon = {
    .name = "beacon", .doc = "datagrams that the plugin makes", .link_type = 101,
    .open = beacon_open, .receive = beacon_receive, .close = free,
};

static int load(struct ids_engine *engine, const struct ids_api *api)
{
    ids = api;
    return ids->add_capture(engine, &beacon);
}

IDS_PLUGIN("beacon", "1.0", load);
