/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/web/threads.c - the threads of the run, as the page shows them: where each one ran last
 * and what it did in the last second, as JSON and as the picture of the machine. */
#include "control/web/web_private.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/report/json.h"
#include "control/private.h"

/* A thread of this process, as the kernel knows it. */
struct task {
    char name[16];
    int cpu;
};

struct tasks {
    ARRAY_OF(struct task) list;
};

/* Field 39 of /proc/self/task/TID/stat (proc(5)) is the CPU; the name in field 2 may hold blanks
 * and ')'. */
static bool task_parse(const char *line, struct task *out)
{
    const char *open = strchr(line, '('), *close = strrchr(line, ')'), *at = close;

    if (open == NULL || close == NULL || close < open)
        return false;
    snprintf(out->name, sizeof(out->name), "%.*s", (int)(close - open - 1), open + 1);
    for (unsigned field = 2; field < 39 && at != NULL; field++)
        at = strchr(at + 1, ' ');
    out->cpu = at != NULL ? (int)strtol(at, NULL, 10) : -1;
    return at != NULL;
}

static void task_read(struct tasks *tasks, const char *tid)
{
    char path[64], line[1024];
    struct task task;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/self/task/%.16s/stat", tid);
    f = fopen(path, "re");
    if (f == NULL)
        return;
    if (fgets(line, sizeof(line), f) != NULL && task_parse(line, &task))
        ARRAY_PUSH(&tasks->list, task);
    fclose(f);
}

/* One pass for all threads, because each costs a file of /proc. */
static void tasks_read(struct tasks *tasks)
{
    DIR *dir = opendir("/proc/self/task");

    memset(tasks, 0, sizeof(*tasks));
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;)
        if (isdigit((unsigned char)e->d_name[0]))
            task_read(tasks, e->d_name);
    if (dir != NULL)
        closedir(dir);
}

static int task_cpu(const struct tasks *tasks, const char *name)
{
    for (size_t i = 0; i < tasks->list.count; i++)
        if (strcmp(tasks->list.at[i].name, name) == 0)
            return tasks->list.at[i].cpu;
    return -1;
}

static void thread_json(struct web *web, struct json *j, const struct plan_thread *t, int cpu)
{
    const struct history_thread *now = history_thread(web_history(web), t->name);

    json_object(j, NULL);
    json_string(j, "name", t->name);
    json_string(j, "modules", t->modules);
    if (t->doc != NULL)
        json_string(j, "does", t->doc);
    if (t->source != NULL)
        json_string(j, "interface", t->source);
    json_i64(j, "planned_cpu", t->pinned ? t->cpu : -1);
    json_i64(j, "cpu", cpu);
    if (now != NULL) {
        json_u64(j, "packets", now->packets);
        json_u64(j, "busy", now->busy);
        json_u64(j, "wait", now->wait);
        json_u64(j, "blocked", now->blocked);
    }
    json_object_end(j);
}

void threads_json(struct web *web, struct json *j, const struct plan *plan)
{
    struct tasks tasks;

    tasks_read(&tasks);
    json_array(j, "threads");
    for (unsigned i = 0; plan != NULL && i < plan->thread_count; i++)
        thread_json(web, j, &plan->threads[i], task_cpu(&tasks, plan->threads[i].name));
    json_array_end(j);
    ARRAY_FREE(&tasks.list);
}

static void draw_now(struct web *web, const struct plan *plan, struct buf *out)
{
    struct plan_thread_now *now = xcalloc(plan->thread_count + 1, sizeof(*now));
    struct tasks tasks;

    tasks_read(&tasks);
    for (unsigned i = 0; i < plan->thread_count; i++) {
        const char *name = plan->threads[i].name;
        const struct history_thread *load = history_thread(web_history(web), name);

        now[i].cpu = task_cpu(&tasks, name);
        if (load != NULL)
            now[i] = (struct plan_thread_now){ now[i].cpu, load->busy, load->wait, load->blocked,
                                               true };
    }
    plan_print_svg_now(plan, now, out);
    ARRAY_FREE(&tasks.list);
    free(now);
}

const char *threads_svg_write(struct web *web, const struct web_request *request, struct buf *out)
{
    struct control *c = web_control(web);

    (void)request;
    pthread_mutex_lock(&c->lock);
    if (c->plan != NULL && c->engine != NULL)
        draw_now(web, c->plan, out);
    else
        BUF_LITERAL(out, "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n");
    pthread_mutex_unlock(&c->lock);
    return NULL;
}
