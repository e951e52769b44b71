/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/fuzz_take_over.c - what a hostile engine answers to `--take-over`: texts, descriptors,
 * and blobs with the head, the sockets and the flows.
 *
 * Each message begins with two control bytes. The first: bits 0-1 what its text is (0 that of the
 * input, else a yes), bit 2 the head says the versions and sizes of this engine, bit 3 it has a
 * blob. The second: how many descriptors come besides the blob. Then a length of two bytes, and as
 * many bytes for text or blob. */
#include "control/handover.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "flow/flow_export.h"

int fuzz_input(const uint8_t *data, size_t size);

#define MESSAGES_MAX 5      /* three answers are wanted before the end, and one at the end */
#define FDS_MAX 16u
#define YES "{\"return\":\"OK\"}\n"

enum { TEXT_MASK = 3, TRUE_HEAD = 4, HAS_BLOB = 8 };

/* --- the engine that runs --------------------------------------------------------------------- */

static int make_blob(struct slice part, bool has_true_head)
{
    struct handover_head head;
    struct buf content = { 0 };
    struct err err;
    int fd;

    buf_add(&content, part.data, part.len);
    if (has_true_head && content.len >= sizeof(head)) {
        memcpy(&head, content.data, sizeof(head));
        head.version = HANDOVER_VERSION;
        head.socket_size = sizeof(struct capture_socket);
        head.flow_size = sizeof(struct flow_export);
        memcpy(content.data, &head, sizeof(head));
    }
    fd = handover_blob(&content, &err);
    if (fd < 0)
        abort();
    buf_fini(&content);
    return fd;
}

/* The descriptors of the message are copies of `fd`, behind the blob. */
static void send_message(int fd, struct slice text, int blob, unsigned more)
{
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE((FDS_MAX + 1) * sizeof(int))];
    } control = { .space = { 0 } };
    struct iovec part = { (void *)(uintptr_t)text.data, text.len };
    struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
    int fds[FDS_MAX + 1];
    unsigned count = 0;

    if (blob >= 0)
        fds[count++] = blob;
    while (more-- > 0)
        fds[count++] = fd;
    if (count > 0) {
        struct cmsghdr *c = &control.align;

        m.msg_control = control.space;
        m.msg_controllen = CMSG_SPACE(count * sizeof(int));
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(c), fds, count * sizeof(int));
    }
    (void)sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (blob >= 0)
        close(blob);
}

static void add_message(int fd, struct bytes *in)
{
    uint8_t how = take_u8(in), more = take_u8(in);
    uint32_t len = take_be16(in);
    struct slice part = take_slice(in, MIN(len, bytes_left(in)));
    struct slice text = { (const uint8_t *)YES, sizeof(YES) - 1 };
    int blob = (how & HAS_BLOB) != 0 ? make_blob(part, (how & TRUE_HEAD) != 0) : -1;

    send_message(fd, (how & TEXT_MASK) == 0 ? part : text, blob, more % (FDS_MAX + 1));
}

/* --- the engine that comes -------------------------------------------------------------------- */

/* What was read must be within its bounds, and strings must end. */
static void look(const struct predecessor *p, struct capture_handover *from)
{
    const struct handover_head *head = predecessor_head(p);

    if (from->queues > HANDOVER_QUEUES_MAX ||
        memchr(head->method, '\0', sizeof(head->method)) == NULL ||
        memchr(head->path, '\0', sizeof(head->path)) == NULL ||
        memchr(head->web, '\0', sizeof(head->web)) == NULL ||
        memchr(head->notify, '\0', sizeof(head->notify)) == NULL)
        abort();
    for (unsigned i = 0; i < from->queues * HANDOVER_SIDES; i++)
        if (memchr(from->at[i].device, '\0', sizeof(from->at[i].device)) == NULL)
            abort();
}

static void take_over(int fd)
{
    struct capture_handover *from = xcalloc(1, sizeof(*from));
    struct buf records = { 0 };
    struct err err;
    struct predecessor *p = predecessor_at(fd, from, &err);

    if (p != NULL) {
        int listener = predecessor_take_socket(p, predecessor_head(p)->path);
        int web = predecessor_take_web(p, predecessor_head(p)->web);

        look(p, from);
        if (predecessor_commit(p, from, &records, &err) == 0)
            (void)predecessor_done(p, &err);
        look(p, from);
        if (listener >= 0)
            close(listener);
        if (web >= 0)
            close(web);
    }
    predecessor_free(p);
    handover_close(from);
    free(from);
    buf_fini(&records);
}

/* More than all messages bring. */
#define FDS_LOOKED_AT (MESSAGES_MAX * (FDS_MAX + 1) + 16)

/* Descriptors that are open, the lowest of them: one that stays is soon among these. */
static unsigned open_fds(void)
{
    unsigned count = 0;

    for (unsigned fd = 0; fd < FDS_LOOKED_AT; fd++)
        count += fcntl((int)fd, F_GETFD) >= 0;
    return count;
}

/* Messages keep their bounds, so all answers wait before the first question. */
int fuzz_input(const uint8_t *data, size_t size)
{
    struct bytes in = bytes_of(data, size);
    const unsigned before = open_fds();
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        abort();
    for (unsigned i = 0; i < MESSAGES_MAX && bytes_left(&in) > 0; i++)
        add_message(ends[0], &in);
    shutdown(ends[0], SHUT_WR);
    take_over(ends[1]);
    close(ends[0]);
    if (open_fds() != before)
        abort();                        /* a descriptor stays open */
    return 0;
}
