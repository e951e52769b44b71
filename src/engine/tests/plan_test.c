/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plans: golden files in tests/plans/, one a case. Each holds the YAML, a line that says for what
 * it is planned, and the plan that comes of it:
 *
 *     # topology: pack:2 core:6 pu:2
 *     # mode: autofp
 *     # capture: live af-packet eth0:4          (name:queues; or: file)
 *     ...YAML...
 *     --- plan
 *     ...text...
 *
 * PLAN_UPDATE=1 writes the plans anew; look at the difference before committing it. */
#include "base/array.h"
#include "base/buf.h"
#include "base/test.h"
#include "engine/plan.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK "--- plan\n"

static char plans[512];

/* The tests are run in the source tree, in a build directory below it, or by make check. */
static bool find_plans(void)
{
    static const char *const tops[] = { ".", "..", "../.." };
    const char *given = getenv("srcdir");
    DIR *dir = NULL;

    for (unsigned i = 0; i <= ARRAY_LEN(tops) && dir == NULL; i++) {
        const char *top = i > 0 ? tops[i - 1] : given != NULL ? given : ".";

        snprintf(plans, sizeof(plans), "%s/src/engine/tests/plans", top);
        dir = opendir(plans);
    }
    if (dir == NULL)
        return false;
    closedir(dir);
    return true;
}

static char *read_whole(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct buf b = { 0 };
    char part[4096];
    size_t n;

    if (f == NULL)
        return NULL;
    while ((n = fread(part, 1, sizeof(part), f)) > 0)
        buf_add(&b, part, n);
    fclose(f);
    buf_add_u8(&b, '\0');
    return (char *)b.data;
}

/* "# key: value" at the head of the case. */
static char *head_value(const char *text, const char *key, char *buf, size_t size)
{
    char want[64];
    const char *at, *end;

    snprintf(want, sizeof(want), "# %s: ", key);
    at = strstr(text, want);
    buf[0] = '\0';
    if (at == NULL)
        return buf;
    at += strlen(want);
    end = strchr(at, '\n');
    snprintf(buf, size, "%.*s", (int)(end - at), at);
    return buf;
}

static unsigned parse_sources(char *text, const struct conf_node *root, struct plan_source *out,
                              const char **method)
{
    unsigned count = 0, queues[8] = { 0 };
    const char *names[8];
    char *save = NULL;

    *method = strtok_r(text, " ", &save);
    for (char *name; (name = strtok_r(NULL, " ", &save)) != NULL; count++) {
        char *colon = strrchr(name, ':');

        names[count] = name;
        if (colon != NULL) {
            *colon = '\0';
            queues[count] = (unsigned)atoi(colon + 1);
        }
    }
    plan_sources_read(root, *method, names, out, count);
    for (unsigned i = 0; i < count; i++)
        out[i].queues = queues[i];
    return count;
}

static void plan_case(struct conf *conf, const char *text, struct buf *out)
{
    static const char *const management[] = { "CS", "US", NULL };
    char topology_text[256], topology_path[800], mode[64], capture[256], error[600];
    struct plan_source sources[8];
    struct plan_request rq = { .root = conf_root(conf), .sources = sources,
                               .management = management };
    struct run_modes *modes;
    struct topology *topology;
    struct plan *plan = NULL;
    struct err err = { 0 };
    bool live;

    head_value(text, "topology", topology_text, sizeof(topology_text));
    head_value(text, "mode", mode, sizeof(mode));
    head_value(text, "capture", capture, sizeof(capture));
    live = strncmp(capture, "live ", 5) == 0;
    rq.live = live;
    rq.source_count = parse_sources(live ? capture + 5 : capture, rq.root, sources, &rq.method);
    rq.verdict_threads = strcmp(rq.method, "nfq") == 0;
    modes = run_modes_new(rq.root, &err);
    if (strstr(topology_text, ".xml") != NULL)
        snprintf(topology_path, sizeof(topology_path), "%s/%s", plans, topology_text);
    else
        snprintf(topology_path, sizeof(topology_path), "%s", topology_text);
    topology = topology_described(topology_path, &err);
    rq.topology = topology;
    rq.mode = modes != NULL ? run_modes_find(modes, mode) : NULL;
    if (rq.mode != NULL && topology != NULL)
        plan = plan_new(&rq, &err);
    if (plan != NULL)
        plan_print(plan, out);
    else
        buf_printf(out, "error: %s\n", err_text(&err, error, sizeof(error)));
    plan_free(plan);
    topology_free(topology);
    run_modes_free(modes);
}

static void run_case(struct test *t, const char *path, const char *name)
{
    char *text = read_whole(path), *mark = text != NULL ? strstr(text, MARK) : NULL;
    struct conf *conf = conf_new();
    struct err err = { 0 };
    struct buf yaml = { 0 }, found = { 0 };

    CHECK(mark != NULL);
    if (mark == NULL)
        return;
    *mark = '\0';
    buf_printf(&yaml, "%%YAML 1.1\n---\n%s", text);
    buf_add_u8(&yaml, '\0');
    CHECK_INT(conf_load_string(conf, (char *)yaml.data, name, &err), 0);
    plan_case(conf, text, &found);
    buf_add_u8(&found, '\0');
    if (getenv("PLAN_UPDATE") != NULL) {
        FILE *f = fopen(path, "wb");

        fprintf(f, "%s%s%s", text, MARK, (char *)found.data);
        fclose(f);
    } else if (strcmp((char *)found.data, mark + strlen(MARK)) != 0) {
        test_fail(t, path, 1, "plan differs; found:\n%s", (char *)found.data);
    }
    buf_fini(&yaml);
    buf_fini(&found);
    conf_free(conf);
    free(text);
}

TEST(plan_golden)
{
    struct dirent *entry;
    unsigned count = 0;
    DIR *dir;

    if (!find_plans()) {
        t->skipped = true;
        return;
    }
    dir = opendir(plans);
    while ((entry = readdir(dir)) != NULL) {
        char path[800];

        if (entry->d_name[0] == '.' || strstr(entry->d_name, ".plan") == NULL)
            continue;
        snprintf(path, sizeof(path), "%s/%s", plans, entry->d_name);
        run_case(t, path, entry->d_name);
        count++;
    }
    closedir(dir);
    CHECK(count > 0);
}
