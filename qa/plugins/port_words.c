/* SPDX-License-Identifier: GPL-2.0-or-later */
/* port_words.c - a plugin with a keyword and a sticky buffer.
 *
 *     alert udp any any -> any any (msg:"to port 53"; port.parity:odd; sid:1;)
 *     alert udp any any -> any any (msg:"tail"; payload.tail; content:"|00 01|"; sid:2;) */
#include <ids/plugin.h>

#include <stdlib.h>

static const struct ids_api *ids;

struct parity {
    unsigned odd;
    char *word;                 /* on the heap, to show who frees it */
};

static int parity_parse(struct ids_value value, void *argument, struct ids_error *error)
{
    struct parity *p = argument;

    p->odd = value.len == 3 && memcmp(value.text, "odd", 3) == 0;
    if (!p->odd && (value.len != 4 || memcmp(value.text, "even", 4) != 0))
        return ids->fail(error, "expected odd or even, found \"%.*s\"", (int)value.len,
                         value.text);
    p->word = strdup(p->odd ? "odd" : "even");
    return p->word != NULL ? 0 : ids->fail(error, "no memory");
}

static bool parity_match(const struct ids_packet *packet, const void *argument)
{
    const struct parity *p = argument;
    struct ids_ends ends;

    ids->packet_ends(packet, &ends);
    return (ends.dst_port & 1u) == p->odd;
}

static void parity_free(void *argument)
{
    free(((struct parity *)argument)->word);
}

static const struct ids_keyword parity = {
    .name = "port.parity", .doc = "whether the destination port is odd or even",
    .negatable = true, .argument_size = sizeof(struct parity),
    .parse = parity_parse, .match = parity_match, .free = parity_free,
};

/* The last four bytes of the payload. */
static bool tail_get(const struct ids_packet *packet, struct ids_slice *out)
{
    struct ids_slice payload = ids->payload(packet);

    if (payload.len < 4)
        return false;
    *out = (struct ids_slice){ payload.data + payload.len - 4, 4 };
    return true;
}

static const struct ids_packet_buffer tail = {
    .name = "payload.tail", .doc = "the last four bytes of the payload", .get = tail_get,
};

static int load(struct ids_engine *engine, const struct ids_api *api)
{
    ids = api;
    return ids->add_keyword(engine, &parity) < 0 ? -1 : ids->add_packet_buffer(engine, &tail);
}

IDS_PLUGIN("port-words", "1.0", load);
