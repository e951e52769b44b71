/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that takes over, and an engine that gives it what no engine should. */
#include "control/handover.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/array.h"
#include "base/test.h"

#define FDS_MAX 8

/* The engine that runs: one connection. */
struct giver {
    char dir[32], path[64];
    int listener;
    pthread_t thread;
    struct buf first, last;             /* blobs: of the offer, of the commit */
    unsigned fds;                       /* besides the blob */
    const char *text;                   /* instead of an answer to take-over; NULL: none */
};

static struct handover_head head_of(unsigned queues)
{
    struct handover_head head = {
        .version = HANDOVER_VERSION, .socket_size = sizeof(struct capture_socket),
        .flow_size = sizeof(struct flow_export), .queues = queues, .pid = 4711,
        .method = "af-packet", .path = "/run/ids/socket",
    };

    return head;
}

/* Two queues with a socket each, one of which has another descriptor. */
static void fill_blob(struct buf *out, bool is_last)
{
    struct handover_head head = head_of(2);

    head.is_last = is_last;
    buf_add(out, &head, sizeof(head));
    for (unsigned i = 0; i < 2 * HANDOVER_SIDES; i++) {
        struct capture_socket at = { .device = "eth0", .fd = i % HANDOVER_SIDES == 0 ? 5 : -1 };

        at.more[0] = i == 0 ? 6 : 0;
        at.place[0] = 100 + i;
        buf_add(out, &at, sizeof(at));
    }
}

static void answer_with(int fd, const struct buf *blob, unsigned more, const char *text)
{
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(FDS_MAX * sizeof(int))];
    } control = { .space = { 0 } };
    struct iovec part = { (void *)(uintptr_t)text, strlen(text) };
    struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.space,
                        .msg_controllen = CMSG_SPACE((1 + more) * sizeof(int)) };
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    int fds[FDS_MAX];
    struct err err;

    fds[0] = handover_blob(blob, &err);
    for (unsigned i = 0; i < more; i++)
        fds[1 + i] = dup(fd);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN((1 + more) * sizeof(int));
    memcpy(CMSG_DATA(c), fds, (1 + more) * sizeof(int));
    (void)sendmsg(fd, &m, MSG_NOSIGNAL);
    for (unsigned i = 0; i <= more; i++)
        close(fds[i]);
}

/* Requests are short, so each comes with one read. */
static void *serve(void *arg)
{
    struct giver *g = arg;
    int fd = accept4(g->listener, NULL, NULL, SOCK_CLOEXEC);
    char request[256];

    for (unsigned n = 0; recv(fd, request, sizeof(request), 0) > 0; n++) {
        if (n == 1 && g->text == NULL)
            answer_with(fd, &g->first, g->fds, "{\"return\":\"OK\"}\n");
        else if (n == 2)
            answer_with(fd, &g->last, 0, "{\"return\":\"OK\"}\n");
        else if (n == 1)
            (void)send(fd, g->text, strlen(g->text), MSG_NOSIGNAL);
        else
            (void)send(fd, "{\"return\":\"OK\"}\n", 16, MSG_NOSIGNAL);
        if (n == 1 && g->text != NULL)
            break;
    }
    close(fd);
    return NULL;
}

static void giver_open(struct test *t, struct giver *g)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };

    *g = (struct giver){ .dir = "/tmp/ids-giver-XXXXXX", .fds = 4 };
    CHECK(mkdtemp(g->dir) != NULL);
    snprintf(g->path, sizeof(g->path), "%s/socket", g->dir);
    memcpy(at.sun_path, g->path, sizeof(g->path));
    g->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(bind(g->listener, (struct sockaddr *)&at, sizeof(at)), 0);
    CHECK_INT(listen(g->listener, 1), 0);
    fill_blob(&g->first, false);
    fill_blob(&g->last, true);
}

static void giver_close(struct giver *g)
{
    close(g->listener);
    unlink(g->path);
    rmdir(g->dir);
    buf_fini(&g->first);
    buf_fini(&g->last);
}

static unsigned count_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned n = 0;

    while (dir != NULL && readdir(dir) != NULL)
        n++;
    if (dir != NULL)
        closedir(dir);
    return n;
}

/* With a text of the error in *err if it fails. All descriptors must be closed afterwards. */
static bool takes(struct test *t, struct giver *g, struct buf *flows, struct err *err)
{
    struct capture_handover *from = xcalloc(1, sizeof(*from));
    unsigned before = count_fds();
    struct predecessor *p;
    bool ok;

    *err = (struct err){ 0 };
    CHECK_INT(pthread_create(&g->thread, NULL, serve, g), 0);
    p = predecessor_new(g->path, from, err);
    ok = p != NULL && (flows == NULL || predecessor_commit(p, from, flows, err) == 0);
    if (ok && flows != NULL)
        CHECK_INT(handover_socket(from, 1, 0)->place[0], 102);
    predecessor_free(p);
    pthread_join(g->thread, NULL);
    handover_close(from);
    free(from);
    CHECK_INT(count_fds(), before);
    return ok;
}

TEST(predecessor_gets_sockets_and_flows)
{
    struct buf flows = { 0 };
    struct giver g;
    struct err err;

    giver_open(t, &g);
    buf_add(&g.last, "flows", 5);
    CHECK(takes(t, &g, &flows, &err));
    CHECK_STRING(err.text, "");
    CHECK(flows.len == 5 && memcmp(flows.data, "flows", 5) == 0);
    buf_fini(&flows);
    giver_close(&g);
}

TEST(predecessor_refuses_what_is_cut)
{
    struct giver g;
    struct err err;
    size_t all;

    giver_open(t, &g);
    all = g.first.len;
    for (size_t len = 0; len < all; len++) {
        g.first.len = len;
        if (takes(t, &g, NULL, &err) || strstr(err.text, "too short") == NULL)
            test_fail(t, __FILE__, __LINE__, "%zu of %zu bytes: %s", len, all, err.text);
    }
    g.first.len = all;
    CHECK(takes(t, &g, NULL, &err));
    all = g.last.len;
    for (size_t len = 0; len < all; len++) {
        struct buf flows = { 0 };

        g.last.len = len;
        CHECK(!takes(t, &g, &flows, &err));
        buf_fini(&flows);
    }
    giver_close(&g);
}

static void put_head(struct giver *g, const struct handover_head *head)
{
    memcpy(g->first.data, head, sizeof(*head));
}

TEST(predecessor_refuses_another_version)
{
    struct handover_head head;
    char text[64];
    struct giver g;
    struct err err;

    giver_open(t, &g);
    head = head_of(2);
    head.version++;
    put_head(&g, &head);
    CHECK(!takes(t, &g, NULL, &err));
    snprintf(text, sizeof(text), "another version (%d, here %d)", HANDOVER_VERSION + 1,
             HANDOVER_VERSION);
    CHECK(strstr(err.text, text) != NULL);
    head = head_of(2);
    head.socket_size--;
    put_head(&g, &head);
    CHECK(!takes(t, &g, NULL, &err));
    head = head_of(2);
    head.flow_size++;
    put_head(&g, &head);
    CHECK(!takes(t, &g, NULL, &err));
    head = head_of(2);
    put_head(&g, &head);
    CHECK(takes(t, &g, NULL, &err));
    giver_close(&g);
}

/* More queues than the blob has, more than there may be, and descriptors that do not fit. */
TEST(predecessor_refuses_wrong_counts)
{
    static const unsigned queues[] = { 3, HANDOVER_QUEUES_MAX, HANDOVER_QUEUES_MAX + 1,
                                       UINT32_MAX / HANDOVER_SIDES + 1, UINT32_MAX };
    struct handover_head head;
    struct giver g;
    struct err err;

    giver_open(t, &g);
    for (size_t i = 0; i < ARRAY_LEN(queues); i++) {
        head = head_of(queues[i]);
        put_head(&g, &head);
        CHECK(!takes(t, &g, NULL, &err));
    }
    head = head_of(2);
    put_head(&g, &head);
    for (unsigned fds = 0; fds < FDS_MAX - 1; fds++) {
        g.fds = fds;
        CHECK_INT(takes(t, &g, NULL, &err), fds == 4);
    }
    g.fds = 4;
    snprintf(head.web, sizeof(head.web), "127.0.0.1:9917");     /* one descriptor more */
    put_head(&g, &head);
    CHECK(!takes(t, &g, NULL, &err));
    g.fds = 5;
    CHECK(takes(t, &g, NULL, &err));
    memset(head.web, 'x', sizeof(head.web));                    /* no end */
    memset(head.method, 'x', sizeof(head.method));
    put_head(&g, &head);
    CHECK(takes(t, &g, NULL, &err));
    giver_close(&g);
}

/* Another process at the socket may send any descriptor. */
TEST(handover_blobs_are_files_of_some_size)
{
    struct buf blob = { 0 }, read = { 0 };
    int fd, pipe_fds[2];
    struct err err;

    CHECK(buf_add(&blob, "flows", 5) && buf_add(&read, "more ", 5));
    fd = handover_blob(&blob, &err);
    CHECK_INT(handover_blob_read(fd, &read, &err), 0);
    CHECK_INT(handover_blob_read(fd, &read, &err), 0);         /* each from its start */
    CHECK(read.len == 15 && memcmp(read.data, "more flowsflows", 15) == 0);
    CHECK_INT(ftruncate(fd, HANDOVER_BLOB_MAX + 1), 0);
    CHECK_INT(handover_blob_read(fd, &read, &err), -1);
    CHECK(strstr(err.text, "too many") != NULL);
    close(fd);
    fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    CHECK_INT(handover_blob_read(fd, &read, &err), -1);
    close(fd);
    CHECK_INT(pipe2(pipe_fds, O_CLOEXEC), 0);
    CHECK_INT(handover_blob_read(pipe_fds[0], &read, &err), -1);
    CHECK(strstr(err.text, "no file") != NULL);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    CHECK_INT(read.len, 15);
    buf_fini(&blob);
    buf_fini(&read);
}

/* The places of another number of queues than was offered. */
TEST(predecessor_refuses_places_of_others)
{
    struct buf flows = { 0 };
    struct handover_head head = head_of(1);
    struct giver g;
    struct err err;

    giver_open(t, &g);
    head.is_last = 1;
    memcpy(g.last.data, &head, sizeof(head));
    CHECK(!takes(t, &g, &flows, &err));
    buf_fini(&flows);
    head = head_of(2);                                          /* an offer once more */
    memcpy(g.last.data, &head, sizeof(head));
    CHECK(!takes(t, &g, &flows, &err));
    buf_fini(&flows);
    giver_close(&g);
}

TEST(predecessor_reports_answers)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        { "{\"message\":\"not now\",\"return\":\"NOK\"}\n", "says: not now" },
        { "{\"return\":\"OK\"}\n", "brings nothing" },
        { "{\"return\":", "closed the connection" },
        { "]\n", "no JSON" },
        { "", "closed the connection" },
    };
    struct giver g;
    struct err err;

    giver_open(t, &g);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        g.text = cases[i].text;
        CHECK(!takes(t, &g, NULL, &err));
        if (strstr(err.text, cases[i].error) == NULL)
            test_fail(t, __FILE__, __LINE__, "%s: %s", cases[i].text, err.text);
    }
    giver_close(&g);
}
