/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/fuzz_control.c - what a client may send to the control socket: every message is taken
 * out of the stream, and its members are read as commands would. */
#include "control/request.h"

int fuzz_input(const uint8_t *data, size_t size);

static void read_all(const struct request *r)
{
    int64_t n;

    (void)request_member(r, "version");
    (void)request_member(r, "command");
    (void)request_has_arguments(r);
    (void)request_string(r, "filename");
    (void)request_int(r, "id", &n);
    (void)request_is_true(r, "continuous");
}

/* The first byte says where the stream is cut. */
int fuzz_input(const uint8_t *data, size_t size)
{
    struct buf in = { 0 };
    struct request *r;
    size_t cut;

    if (size == 0)
        return 0;
    cut = MIN((size_t)data[0], size - 1);
    for (unsigned half = 0; half < 2; half++) {
        buf_add(&in, data + 1 + (half ? cut : 0), half ? size - 1 - cut : cut);
        while (request_take(&in, &r) == 0 && r != NULL) {
            read_all(r);
            request_free(r);
        }
    }
    buf_fini(&in);
    return 0;
}
