/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of capture/pcap/file_list: files that appear in a directory later. */
#include "base/test.h"
#include "capture/pcap/file_list.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture {
    char dir[32];
    const char *paths[2];
    struct pcap_files *files;
    unsigned next;
};

/* The file changed `second` and `ns` after 1970. */
static void put(struct test *t, const struct fixture *f, const char *name, long second, long ns)
{
    struct timespec times[2] = { { second, ns }, { second, ns } };
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "%s/%s", f->dir, name);
    fd = open(path, O_CREAT | O_WRONLY, 0600);
    CHECK(fd >= 0);
    CHECK_INT(futimens(fd, times), 0);
    close(fd);
}

static void begin(struct test *t, struct fixture *f)
{
    *f = (struct fixture){ .dir = "/tmp/ids-list-XXXXXX" };
    CHECK(mkdtemp(f->dir) != NULL);
    f->paths[0] = f->dir;
}

static void look(struct test *t, struct fixture *f)
{
    struct pcap_files_conf conf = { .paths = f->paths, .continuous = true };
    struct err err = { 0 };

    f->files = pcap_files_new(&conf, &err);
    CHECK_STRING(err.text, "");
}

/* Checks the names of the files that were not returned before. */
static void expect(struct test *t, struct fixture *f, const char *names)
{
    char got[256] = "";
    struct pcap_input *input;
    bool more;

    while ((input = pcap_files_at(f->files, f->next, &more)) != NULL) {
        snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s ", strrchr(input->path, '/') + 1);
        f->next++;
    }
    CHECK_STRING(got, names);
}

static void end(struct fixture *f)
{
    bool more;

    for (unsigned i = 0; i < f->next; i++)
        unlink(pcap_files_at(f->files, i, &more)->path);
    pcap_files_free(f->files);
    rmdir(f->dir);
}

TEST(file_list_finds_each_file_once)
{
    struct fixture f;

    begin(t, &f);
    put(t, &f, "b", 1000, 5);
    put(t, &f, "a", 1000, 7);
    look(t, &f);
    expect(t, &f, "b a ");
    expect(t, &f, "");
    put(t, &f, "c", 1000, 9);
    expect(t, &f, "c ");
    expect(t, &f, "");
    end(&f);
}

/* Files that are made within one step of the file system's clock have the same time. */
TEST(file_list_finds_files_as_new_as_the_newest)
{
    struct fixture f;

    begin(t, &f);
    put(t, &f, "b", 1000, 5);
    put(t, &f, "d", 1000, 5);
    look(t, &f);
    expect(t, &f, "b d ");
    put(t, &f, "c", 1000, 5);
    put(t, &f, "a", 1000, 5);
    expect(t, &f, "a c ");
    put(t, &f, "e", 1000, 5);
    put(t, &f, "0", 1000, 6);
    expect(t, &f, "e 0 ");
    expect(t, &f, "");
    end(&f);
}

TEST(file_list_leaves_older_files_out)
{
    struct fixture f;

    begin(t, &f);
    put(t, &f, "b", 1000, 5);
    look(t, &f);
    expect(t, &f, "b ");
    put(t, &f, "a", 1000, 4);
    expect(t, &f, "");
    f.next = 0;
    put(t, &f, "a", 1000, 5);
    expect(t, &f, "b a ");
    end(&f);
}
