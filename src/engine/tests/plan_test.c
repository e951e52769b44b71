/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plans: golden files in tests/plans/, one a case. Each holds the YAML, a line that says for what
 * it is planned, and the plan that comes of it:
 *
 *     # topology: pack:2 core:6 pu:2
 *     # mode: autofp
 *     # capture: live af-packet eth0:4          (name:queues; or: file)
 *     # print: json                            (else the table)
 *     ...YAML...
 *     --- plan
 *     ...text...
 *
 * PLAN_UPDATE=1 writes the plans again; check the difference before committing it. */
#include "base/array.h"
#include "base/memory/buf.h"
#include "base/test.h"
#include "engine/plan_picture.h"

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

static char *read_all(const char *path)
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
        out[i].queues = out[i].auto_threads = queues[i];
    return count;
}

struct built {
    struct run_modes *modes;
    struct topology *topology;
    struct plan *plan;              /* NULL: err says why */
    struct err err;
    char capture[256];
};

static bool sends_with_a_cpu_left(const struct conf_node *root, const char *source,
                                  unsigned threads, unsigned cpus)
{
    (void)root;
    (void)source;
    return cpus > threads;
}

/* `mode`: another than the case's; NULL: the case's. */
static void build(struct built *out, struct conf *conf, const char *text, const char *mode)
{
    static const struct plan_manager management[] = {
        { "CS", NULL }, { "US", NULL }, { NULL, NULL }
    };
    char topology_text[256], topology_path[800], mode_text[64];
    struct plan_source sources[8];
    struct plan_request rq = { .root = conf_root(conf), .sources = sources,
                               .management = management };
    bool live;

    *out = (struct built){ 0 };
    head_value(text, "topology", topology_text, sizeof(topology_text));
    head_value(text, "mode", mode_text, sizeof(mode_text));
    head_value(text, "capture", out->capture, sizeof(out->capture));
    live = strncmp(out->capture, "live ", 5) == 0;
    rq.live = live;
    rq.source_count = parse_sources(live ? out->capture + 5 : out->capture, rq.root, sources,
                                    &rq.method);
    rq.verdict_threads = strcmp(rq.method, "nfq") == 0;
    if (rq.verdict_threads)
        rq.sends_apart = sends_with_a_cpu_left;
    out->modes = run_modes_new(rq.root, &out->err);
    if (strstr(topology_text, ".xml") != NULL)
        snprintf(topology_path, sizeof(topology_path), "%s/%s", plans, topology_text);
    else
        snprintf(topology_path, sizeof(topology_path), "%s", topology_text);
    out->topology = topology_described(topology_path, &out->err);
    rq.topology = out->topology;
    rq.mode = out->modes != NULL ? run_modes_find(out->modes, mode != NULL ? mode : mode_text)
                                 : NULL;
    if (rq.mode != NULL && out->topology != NULL)
        out->plan = plan_new(&rq, &out->err);
}

static void built_free(struct built *b)
{
    plan_free(b->plan);
    topology_free(b->topology);
    run_modes_free(b->modes);
}

static void plan_case(struct conf *conf, const char *text, struct buf *out)
{
    struct built b;
    char error[600], as[16];

    build(&b, conf, text, NULL);
    head_value(text, "print", as, sizeof(as));
    if (b.plan != NULL && strcmp(as, "json") == 0)
        plan_print_json(b.plan, out);
    else if (b.plan != NULL)
        plan_print(b.plan, out);
    else
        buf_printf(out, "error: %s\n", err_text(&b.err, error, sizeof(error)));
    built_free(&b);
}

static struct conf *conf_of_case(struct test *t, const char *text, const char *name)
{
    struct conf *conf = conf_new();
    struct err err = { 0 };
    struct buf yaml = { 0 };

    buf_printf(&yaml, "%%YAML 1.1\n---\n%s", text);
    buf_add_u8(&yaml, '\0');
    CHECK_INT(conf_load_string(conf, (char *)yaml.data, name, &err), 0);
    buf_fini(&yaml);
    return conf;
}

static void run_case(struct test *t, const char *path, const char *name)
{
    char *text = read_all(path), *mark = text != NULL ? strstr(text, MARK) : NULL;
    struct buf found = { 0 };
    struct conf *conf;

    CHECK(mark != NULL);
    if (mark == NULL)
        return;
    *mark = '\0';
    conf = conf_of_case(t, text, name);
    plan_case(conf, text, &found);
    buf_add_u8(&found, '\0');
    if (getenv("PLAN_UPDATE") != NULL) {
        FILE *f = fopen(path, "wb");

        fprintf(f, "%s%s%s", text, MARK, (char *)found.data);
        fclose(f);
    } else if (strcmp((char *)found.data, mark + strlen(MARK)) != 0) {
        test_fail(t, path, 1, "plan differs; found:\n%s", (char *)found.data);
    }
    buf_fini(&found);
    conf_free(conf);
    free(text);
}

/* --- lines that fix it ------------------------------------------------------------------------ */

/* "[ 2, 4 ]" is set as "2,4", which means the same. */
static bool is_flat(const struct conf_node *list)
{
    CONF_EACH(item, list)
        if (item->kind != CONF_SCALAR)
            return false;
    return list->kind == CONF_LIST;
}

static void set_all(struct conf *conf, const char *above, const struct conf_node *node)
{
    CONF_EACH(child, node) {
        char path[512];
        struct buf value = { 0 };

        snprintf(path, sizeof(path), "%s%s", above, child->name);
        if (is_flat(child)) {
            CONF_EACH(item, child)
                buf_printf(&value, "%s%s", value.len > 0 ? "," : "", item->value);
            buf_add_u8(&value, '\0');
            conf_set(conf, path, (char *)value.data);
            buf_fini(&value);
        } else if (child->kind == CONF_SCALAR) {
            conf_set(conf, path, child->value);
        } else {
            snprintf(path, sizeof(path), "%s%s.", above, child->name);
            set_all(conf, path, child);
        }
    }
}

/* Puts a line where it belongs; false: it is one of a run mode's stage, of which there may be
 * several. */
static bool put_line(struct test *t, struct conf *conf, const char *line)
{
    struct conf *fresh = conf_of_case(t, line, "mend");
    const struct conf_node *root = conf_root(fresh);
    bool placed = strncmp(line, "threads:", 8) != 0;

    if (strstr(line, "-cpu-set:") != NULL)
        set_all(conf, "threading.cpu-affinity.", root);
    else if (conf_find(root, "autopin") != NULL || conf_find(root, "detect-thread-ratio") != NULL)
        set_all(conf, "threading.", root);
    else if (placed)
        set_all(conf, "", root);
    conf_free(fresh);
    return placed;
}

static bool has_diagnostic(const struct plan *plan, const char *text)
{
    for (size_t i = 0; i < plan->diagnostics.list.count; i++)
        if (strcmp(plan->diagnostics.list.at[i].text, text) == 0)
            return true;
    return false;
}

static unsigned check_fixits(struct test *t, const char *path, const char *name)
{
    char *text = read_all(path), *mark = strstr(text, MARK);
    struct conf *conf;
    struct built first;
    unsigned count = 0;

    *mark = '\0';
    conf = conf_of_case(t, text, name);
    build(&first, conf, text, NULL);
    for (size_t i = 0; first.plan != NULL && i < first.plan->diagnostics.list.count; i++) {
        const struct diagnostic *diagnostic = &first.plan->diagnostics.list.at[i];
        struct conf *fixed = conf_of_case(t, text, name);
        struct built second;

        if (diagnostic->fixit == NULL || !put_line(t, fixed, diagnostic->fixit)) {
            conf_free(fixed);
            continue;
        }
        count++;
        build(&second, fixed, text, conf_string(conf_root(fixed), "runmode", NULL));
        if (second.plan == NULL)
            test_fail(t, path, 1, "%s: %s", diagnostic->fixit, second.err.text);
        else if (has_diagnostic(second.plan, diagnostic->text))
            test_fail(t, path, 1, "%s does not mend: %s", diagnostic->fixit, diagnostic->text);
        built_free(&second);
        conf_free(fixed);
    }
    built_free(&first);
    conf_free(conf);
    free(text);
    return count;
}

static bool is_case(const char *name)
{
    return name[0] != '.' && strstr(name, ".plan") != NULL;
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

        if (!is_case(entry->d_name))
            continue;
        snprintf(path, sizeof(path), "%s/%s", plans, entry->d_name);
        run_case(t, path, entry->d_name);
        count++;
    }
    closedir(dir);
    CHECK(count > 0);
}

/* The sum of what `check` returns for each plan of the directory must be above ten. */
static void check_plans(struct test *t,
                        unsigned (*check)(struct test *t, const char *path, const char *name))
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

        if (!is_case(entry->d_name))
            continue;
        snprintf(path, sizeof(path), "%s/%s", plans, entry->d_name);
        count += check(t, path, entry->d_name);
    }
    closedir(dir);
    CHECK(count > 10);
}

/* What a plan suggests must do what it says. */
TEST(plan_fixits_fix)
{
    check_plans(t, check_fixits);
}

/* --- the picture ------------------------------------------------------------------------------ */

static bool is_inside(struct pic_box a, struct pic_box b)
{
    return a.x >= b.x && a.y >= b.y && a.x + a.w <= b.x + b.w && a.y + a.h <= b.y + b.h;
}

static bool overlaps(struct pic_box a, struct pic_box b)
{
    return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

/* A box of an L2 cache has the CPUs of that cache and no others. Returns how many boxes there are. */
static unsigned check_l2s(struct test *t, const struct picture *p)
{
    const struct topology *topology = p->plan->topology;

    for (unsigned i = 0; i < topology->count; i++) {
        unsigned inside = 0;

        for (unsigned k = 0; k < p->l2_count; k++) {
            bool is_here = is_inside(p->cpu[i], p->l2[k].box);

            inside += is_here;
            CHECK(is_here == overlaps(p->cpu[i], p->l2[k].box));
            CHECK(!is_here || p->l2[k].number == topology->cpu[i].l2);
        }
        CHECK_INT(inside, topology->cpu[i].l2 >= 0);
    }
    for (unsigned i = 0; i < p->l2_count; i++) {
        unsigned groups = 0;

        for (unsigned k = 0; k < p->group_count; k++)
            groups += is_inside(p->l2[i].box, p->group[k].box);
        CHECK_INT(groups, 1);
        for (unsigned k = 0; k < i; k++)
            CHECK(!overlaps(p->l2[i].box, p->l2[k].box));
    }
    return p->l2_count;
}

/* Each thread stands on its CPU and in its panel, and hides no other. */
static void check_layout(struct test *t, const struct plan *plan)
{
    struct picture p;

    picture_lay_out(&p, plan, NULL);
    for (unsigned i = 0; i < plan->thread_count; i++) {
        int cpu = picture_cpu_of(&p, i);

        CHECK(is_inside(p.chip[i], p.panel[p.chip_panel[i]].box));
        CHECK(cpu < 0 || is_inside(p.chip[i], p.cpu[cpu]));
        CHECK(cpu < 0 || (int)plan->topology->cpu[cpu].os == plan->threads[i].cpu);
        for (unsigned k = 0; k < i; k++)
            CHECK(!overlaps(p.chip[i], p.chip[k]));
    }
    for (unsigned i = 0; i < plan->topology->count; i++)
        for (unsigned k = 0; k < i; k++)
            CHECK(!overlaps(p.cpu[i], p.cpu[k]));
    for (unsigned i = 0; i < plan->source_count; i++)
        CHECK(is_inside(p.source[i], p.panel[p.source_panel[i]].box));
    (void)check_l2s(t, &p);
    picture_free(&p);
}

static unsigned times(const char *text, const char *part)
{
    unsigned count = 0;

    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
        count++;
    return count;
}

/* Paths of the picture that have a horizontal line: arrows that pass above other threads. */
static unsigned arrows_above(const char *text)
{
    unsigned count = 0;

    for (const char *at = text; (at = strstr(at, " d=\"M")) != NULL; at++)
        count += memchr(at + 5, 'H', strcspn(at + 5, "\"")) != NULL;
    return count;
}

/* Threads that read and have others before them. Up to 16 of an interface have an arrow each. */
static unsigned threads_behind(const struct plan *plan)
{
    struct picture p;
    unsigned count = 0;

    picture_lay_out(&p, plan, NULL);
    for (unsigned i = 0; i < plan->packet_threads; i++)
        count += plan->threads[i].source != NULL &&
                 p.chip[i].x >= p.panel[p.chip_panel[i]].grid.x + PIC_CHIP_W;
    picture_free(&p);
    return count;
}

/* Each thread and interface is there once, and arrows have heads. */
static void check_svg(struct test *t, const struct plan *plan)
{
    struct buf out = { 0 };
    char text[64];

    plan_print_svg(plan, &out);
    buf_add_u8(&out, '\0');
    for (unsigned i = 0; i < plan->thread_count; i++) {
        snprintf(text, sizeof(text), "data-thread=\"%s\"", plan->threads[i].name);
        CHECK(times((const char *)out.data, text) == 1);
    }
    CHECK(times((const char *)out.data, "data-source=") == plan->source_count);
    CHECK(times((const char *)out.data, "class=\"arrow") ==
          times((const char *)out.data, "marker-end="));
    CHECK(times((const char *)out.data, "marker-end=") >= plan->stage_count);
    CHECK(plan->packet_threads > 16 ||
          arrows_above((const char *)out.data) == threads_behind(plan));
    CHECK(times((const char *)out.data, "</svg>") == 1);
    buf_fini(&out);
}

/* Returns whether the case has a plan. */
static unsigned check_picture(struct test *t, const char *path, const char *name)
{
    char *text = read_all(path);
    struct conf *conf;
    struct built b;
    bool drawn;

    *strstr(text, MARK) = '\0';
    conf = conf_of_case(t, text, name);
    build(&b, conf, text, NULL);
    drawn = b.plan != NULL;
    if (drawn) {
        check_layout(t, b.plan);
        check_svg(t, b.plan);
    }
    built_free(&b);
    conf_free(conf);
    free(text);
    return drawn;
}

TEST(plan_picture)
{
    check_plans(t, check_picture);
}

/* Caches of one core, of two, of more cores than a row has, and none. */
TEST(plan_picture_l2)
{
    static const struct { const char *topology; unsigned boxes; } cases[] = {
        { "pack:2 core:6 pu:2", 0 },
        { "pack:1 l3:1 l2:4 core:1 pu:2", 4 },
        { "pack:2 l3:2 l2:2 core:2 pu:2", 8 },
        { "pack:1 l3:1 l2:1 core:10 pu:1", 2 },
        { "numa:2 l3:1 l2:64 core:1 pu:1", 128 },
    };

    for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
        struct conf *conf = conf_new();
        struct picture p;
        struct built b;
        char text[200];

        snprintf(text, sizeof(text), "# topology: %s\n# mode: workers\n# capture: live af-packet "
                 "eth0\n", cases[i].topology);
        build(&b, conf, text, NULL);
        CHECK(b.plan != NULL);
        if (b.plan != NULL) {
            picture_lay_out(&p, b.plan, NULL);
            CHECK_INT(check_l2s(t, &p), cases[i].boxes);
            picture_free(&p);
        }
        built_free(&b);
        conf_free(conf);
    }
}
