/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/plan.c - the number of threads, and the modules and name of each.
 *
 * Pure functions of configuration, run mode, capture and topology, so --plan can print the plan
 * without starting. */
#include "engine/plan.h"

#include "engine/plan_private.h"
#include "packet/packet.h"
#include "packet/vector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Packets per pool, and the limit of max-pending-packets. */
#define POOL_MAX 65536

/* hwloc's number of the interface's NUMA node; -1 for files and where it is unknown. */
int plan_source_numa(const struct plan *plan, const char *source)
{
    return source != NULL ? topology_interface_numa(plan->topology, source) : -1;
}

static unsigned within_quota(const struct topology *t, unsigned cpus)
{
    return t->quota > 0 && t->quota < cpus ? t->quota : cpus;
}

/* CPUs that threads of the role may use: those of its set, at most what the cgroup's quota pays
 * for. More threads than that would only preempt each other. */
unsigned plan_cpus_of(const struct plan *plan, enum cpu_role role)
{
    const struct affinity_set *set = &plan->affinity->set[role];
    const struct topology *t = plan->topology;
    unsigned cpus = cpu_set_count(&t->allowed);

    if (plan->affinity->enabled && set->given && cpu_set_count(&set->cpus) > 0)
        cpus = cpu_set_count(&set->cpus);
    return within_quota(t, cpus);
}

static unsigned clamp_threads(double n)
{
    return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : (unsigned)n;
}

unsigned plan_worker_limit(const struct plan *plan)
{
    const struct affinity_set *set = &plan->affinity->set[CPU_WORKER];
    const struct topology *t = plan->topology;

    if (set->threads > 0)
        return set->threads;
    return clamp_threads(within_quota(t, cpu_set_count(&t->allowed)) * plan->affinity->ratio);
}

/* Suricata takes detect-thread-ratio of all CPUs, whatever the worker set: 0.125 of 24 is three
 * threads, also on a set of three. So do we, but more threads than the set has CPUs need a ratio
 * above 1: with the shipped ratio of 1.0, 24 threads would take turns on the three CPUs. */
static unsigned worker_count(const struct plan *plan)
{
    const struct affinity_set *set = &plan->affinity->set[CPU_WORKER];
    double of_set = plan_cpus_of(plan, CPU_WORKER) * MAX(plan->affinity->ratio, 1.0);

    return set->threads > 0 ? set->threads : MIN(plan_worker_limit(plan), clamp_threads(of_set));
}

/* The role by the modules of the stage; threads that inspect are workers. */
static enum cpu_role role_of(const struct run_stage *stage)
{
    enum cpu_role role;

    if (stage->cpu_set != NULL && cpu_role_find(text_of(stage->cpu_set), &role))
        return role;
    if (stage_has(stage, "detect"))
        return CPU_WORKER;
    if (stage_has(stage, "receive"))
        return CPU_RECEIVE;
    if (stage_has(stage, "stream"))
        return CPU_STREAM;
    if (stage_has(stage, "decode"))
        return CPU_DECODE;
    return stage_has(stage, "verdict") ? CPU_VERDICT : CPU_OUTPUT;
}

/* W#01 and RX#01 are Suricata's names; the others follow their form. */
static const char *prefix_of(const struct run_stage *stage)
{
    if (stage_has(stage, "detect"))
        return "W";
    if (stage_has(stage, "receive"))
        return "RX";
    if (stage_has(stage, "stream"))
        return "ST";
    if (stage_has(stage, "decode"))
        return "DE";
    return stage_has(stage, "verdict") ? "TX" : "OUT";
}

/* The kernel keeps 15 characters (TASK_COMM_LEN is 16). Of a long interface name both ends stay. */
static void thread_name(struct plan_thread *t, const char *prefix, unsigned number,
                        const char *interface)
{
    char head[24];
    size_t space, n;

    snprintf(head, sizeof(head), "%s#%02u", prefix, number);
    if (interface == NULL) {
        snprintf(t->name, sizeof(t->name), "%.15s", head);
        return;
    }
    n = strlen(interface);
    space = sizeof(t->name) - 2 - MIN(strlen(head), (size_t)10);
    if (n <= space)
        snprintf(t->name, sizeof(t->name), "%.10s-%s", head, interface);
    else
        snprintf(t->name, sizeof(t->name), "%.10s-%.*s~%s", head, (int)(space / 2 - 1), interface,
                 interface + n - (space - space / 2));
}

/* Pipes can be read once only, so threads cannot share them as they share a file. */
static bool any_only_once(const struct plan *plan)
{
    for (unsigned i = 0; i < plan->source_count; i++)
        if (plan->sources[i].only_once)
            return true;
    return false;
}

/* Threads of a receiving stage: for each source in per_source, and in all. The interface's own
 * `threads` is overridden by the interface-specific CPU set; `auto` asks the capture (queues,
 * CPUs). In a mode with one stage they are at most as many as there are workers; a number that the
 * interface has may be larger than its CPU set, as in Suricata, but not than what is configured
 * for workers. */
static unsigned capture_threads(struct plan *plan, bool full_chain, unsigned *per_source)
{
    unsigned workers = worker_count(plan), total = 0;
    /* a file needs no separate thread: each thread processes its flows of all files */
    unsigned count = plan->live ? plan->source_count : MIN(plan->source_count, 1u);

    for (unsigned i = 0; i < count; i++) {
        const struct plan_source *s = &plan->sources[i];
        const struct affinity_set *set =
            affinity_get(plan->affinity, full_chain ? CPU_WORKER : CPU_RECEIVE, s->name);
        unsigned want = s->threads;

        if (set->interface != NULL && set->threads > 0)
            want = set->threads;
        if (!plan->live && any_only_once(plan))
            want = 1;
        if (want == 0 && full_chain && !plan->live)
            want = workers;
        if (want == 0)
            want = s->auto_threads > 0 ? s->auto_threads : 1;
        if (full_chain && (set->interface == NULL || set->threads == 0))
            want = MIN(want, s->threads > 0 ? plan_worker_limit(plan) : workers);
        per_source[i] = want;
        total += want;
    }
    return total;
}

static unsigned count_of(const struct plan *plan, const struct run_stage *stage, unsigned capture)
{
    switch (stage->threads) {
    case THREADS_ONE: return 1;
    case THREADS_CAPTURE: return capture;
    case THREADS_WORKER: return worker_count(plan);
    case THREADS_NUMBER: return stage->number;
    case THREADS_RATIO: return clamp_threads(plan_cpus_of(plan, role_of(stage)) * stage->ratio);
    }
    return 1;
}

/* stage and cpu are -1 until known. Pointers to threads of the plan do not survive this call. */
static struct plan_thread *thread_add(struct plan *plan)
{
    plan->threads = xrealloc(plan->threads, (plan->thread_count + 1) * sizeof(plan->threads[0]));
    plan->threads[plan->thread_count] = (struct plan_thread){ .stage = -1, .cpu = -1,
                                                              .memory_node = -1 };
    return &plan->threads[plan->thread_count++];
}

/* Source and queue of thread `index` of a receiving stage. Threads beyond what the sources need are
 * distributed over them in turn. */
static void assign_source(struct plan *plan, struct plan_thread *t, const unsigned *per_source)
{
    unsigned left = t->index;

    if (plan->source_count == 0)
        return;
    for (unsigned i = 0; i < plan->source_count; i++) {
        if (left < per_source[i]) {
            t->source_number = i;
            t->queue = left;
            t->source = plan->sources[i].name;
            return;
        }
        left -= per_source[i];
    }
    t->source_number = left % plan->source_count;
    t->queue = per_source[t->source_number] + left / plan->source_count;
    t->source = plan->sources[t->source_number].name;
}

/* Adds the stage and its threads. Threads that receive are numbered by queue and carry the
 * interface's name, so that `top -H` shows which queue is busy. */
static void stage_add(struct plan *plan, const struct run_stage *stage, unsigned count,
                      const unsigned *per_source)
{
    unsigned number = plan->stage_count++;
    struct plan_stage *pp = &plan->stages[number];
    bool receives = stage_has(stage, "receive");

    *pp = (struct plan_stage){ .stage = stage, .first = plan->thread_count, .count = count };
    pp->makes_packets = receives || stage_has(stage, "decode") || stage_has(stage, "stream");
    for (unsigned i = 0; i < count; i++) {
        struct plan_thread *t = thread_add(plan);

        t->modules = stage->modules;
        t->stage = (int)number;
        t->index = i;
        t->role = role_of(stage);
        if (receives)
            assign_source(plan, t, per_source);
        thread_name(t, prefix_of(stage), (receives && plan->live ? t->queue : i) + 1,
                    receives && plan->live ? t->source : NULL);
    }
}

/* NULL with an error for an unknown name. active-packets is a name of older Suricata versions. */
static const char *autofp_scheduler(const struct conf_node *root, struct err *err)
{
    static const char *const known[] = { "hash", "ippair", "ftp-hash", "round-robin", "xor-251",
                                         "least-loaded", "active-packets" };
    const struct conf_node *node = conf_find(root, "autofp-scheduler");

    if (node == NULL)
        return "hash";
    for (unsigned i = 0; i < ARRAY_LEN(known); i++)
        if (text_equal_nocase(text_of(node->value), known[i]))
            return known[i];
    err_at(err, node->at,
           "autofp-scheduler: expected hash, ippair, ftp-hash, round-robin, xor-251 or "
           "least-loaded, got \"%s\"",
           node->value);
    return NULL;
}

/* Every thread of a stage has a ring to every thread of the next one. A stage with one thread needs
 * no scheduler. */
static int connect_stages(struct plan *plan, const struct conf_node *root, struct err *err)
{
    const char *scheduler = autofp_scheduler(root, err);

    if (scheduler == NULL)
        return -1;
    for (unsigned i = 0; i < plan->stage_count; i++) {
        struct plan_stage *pp = &plan->stages[i];
        unsigned in = i > 0 ? plan->stages[i - 1].count : 0;
        unsigned out = i + 1 < plan->stage_count ? plan->stages[i + 1].count : 0;

        if (i > 0 && pp->count > 1)
            pp->scheduler = pp->stage->scheduler != NULL ? pp->stage->scheduler : scheduler;
        for (unsigned j = 0; j < pp->count; j++) {
            plan->threads[pp->first + j].rings_in = in;
            plan->threads[pp->first + j].rings_out = out;
        }
    }
    return 0;
}

/* Files get rings that are this much longer. A file always has more to read, so with longer rings a
 * thread that gets few of some thousand packets does not run dry while another's ring is full. */
#define DEPTH_OF_FILES 4

/* At most this many packets in all rings of one thread, however many consumers it has: packets in
 * flight should stay in the caches. */
#define PACKETS_OF_FILES 8192

/* In vectors. At least 4 so that producer and consumer overlap; at most 64, which bounds
 * latency. */
static unsigned ring_depth(const struct plan *plan, uint64_t pending)
{
    uint64_t depth = pending / (2 * VECTOR_FILL);
    unsigned most = 1;

    if (!plan->live) {
        for (unsigned i = 1; i < plan->stage_count; i++)
            most = MAX(most, plan->stages[i].count);
        depth = MIN(depth * DEPTH_OF_FILES, PACKETS_OF_FILES / (VECTOR_FILL * most));
    }
    return (unsigned)MIN(MAX(depth, 4u), 64u);
}

/* A pool holds as much as all rings after the stage can hold, so that a ring is full before the
 * pool is empty: a thread can sleep on a ring, but must poll its pool. Packets of the last stage's
 * own are back after each vector. */
static unsigned pool_size(const struct plan *plan, unsigned stage, uint64_t pending)
{
    uint64_t in_flight = 0;

    for (unsigned i = stage + 1; i < plan->stage_count; i++)
        in_flight += (uint64_t)plan->stages[i].count * plan->stages[i - 1].count;
    in_flight = in_flight * (plan->ring_depth + 2) * VECTOR_FILL / plan->stages[stage].count;
    return (unsigned)MIN(MAX(pending, in_flight + 4 * VECTOR_FILL), POOL_MAX);
}

/* Suricata does not start with less than one, and takes any larger number. */
static uint64_t pending_packets(const struct conf_node *root)
{
    const struct conf_node *node = conf_find(root, "max-pending-packets");
    int64_t pending = conf_i64(node, NULL, 1024);

    if (pending < 1)
        conf_fatal(node, "expected a number from 1 to %d, got \"%s\"", POOL_MAX - 1, node->value);
    if (pending >= POOL_MAX)
        conf_warning(node, "expected a number from 1 to %d, got \"%s\"; the largest is used",
                     POOL_MAX - 1, node->value);
    return (uint64_t)MAX(MIN(pending, POOL_MAX - 1), 1);
}

/* max-pending-packets has Suricata's meaning where possible: it sizes rings and pools. */
static void size_queues(struct plan *plan, const struct conf_node *root)
{
    uint64_t pending = pending_packets(root);

    plan->ring_depth = ring_depth(plan, pending);
    for (unsigned i = 0; i < plan->stage_count; i++)
        plan->stages[i].pool_size = pool_size(plan, i, pending);
}

/* An estimate for --plan: rings, pools, and the flow and TCP memcaps in equal parts. Tables are
 * shared by need, not by these parts. */
static void share_memory(struct plan *plan, const struct conf_node *root)
{
    uint64_t flow = conf_size(root, "flow.memcap", (uint64_t)128 << 20);
    uint64_t tcp = conf_size(root, "stream.memcap", (uint64_t)64 << 20) +
                   conf_size(root, "stream.reassembly.memcap", (uint64_t)256 << 20);
    uint64_t vector = sizeof(struct packet_vector) + VECTOR_FILL * sizeof(struct packet *);

    for (unsigned i = 0; i < plan->packet_threads; i++) {
        struct plan_thread *t = &plan->threads[i];
        const struct plan_stage *pp = &plan->stages[t->stage];

        t->memory = (uint64_t)t->rings_out * plan->ring_depth * vector;
        if (pp->makes_packets)
            t->memory += (uint64_t)pp->pool_size * sizeof(struct packet);
        if (stage_has(pp->stage, "stream"))
            t->memory += (flow + tcp) / pp->count;
    }
}

/* Threads without packets come last, so that packet_threads is both a count and their first
 * index. */
static void add_management(struct plan *plan, const struct plan_manager *managers)
{
    plan->packet_threads = plan->thread_count;
    for (unsigned i = 0; managers != NULL && managers[i].name != NULL; i++) {
        struct plan_thread *t = thread_add(plan);

        t->modules = "management";
        t->doc = managers[i].doc;
        t->role = CPU_MANAGEMENT;
        t->index = i;
        snprintf(t->name, sizeof(t->name), "%.15s", managers[i].name);
    }
}

static unsigned usable_cpus(const struct topology *t)
{
    unsigned cpus = cpu_set_count(&t->allowed);

    return t->quota > 0 && t->quota < cpus ? t->quota : cpus;
}

/* The sender starts with the affinity and nice level of the thread that gives the verdicts. On a
 * single CPU the two would only preempt each other, so add_senders() leaves it out there. */
static void add_sender(struct plan *plan, unsigned verdict_thread)
{
    struct plan_thread *sender = thread_add(plan), *t = &plan->threads[verdict_thread];

    *sender = *t;
    sender->modules = "send";
    sender->stage = -1;
    sender->verdict_thread = verdict_thread;
    sender->rings_in = sender->rings_out = 0;
    sender->memory = 0;
    thread_name(sender, "V", t->queue + 1, t->source);
    sender->source = NULL;
    t->sender = plan->thread_count - 1;
}

/* NFQ: a helper thread sends verdicts where the capture asks for one and a second CPU is
 * available. */
static void add_senders(struct plan *plan, const struct plan_request *rq)
{
    const struct plan_stage *first = &plan->stages[0];
    unsigned cpus = usable_cpus(plan->topology);

    if (rq->sends_apart == NULL || !stage_has(first->stage, "verdict"))
        return;
    for (unsigned i = 0; i < first->count; i++) {
        const struct plan_thread *t = &plan->threads[first->first + i];

        if (t->source != NULL && cpu_set_count(&t->cpus) != 1 &&
            rq->sends_apart(rq->root, t->source, first->count, cpus))
            add_sender(plan, first->first + i);
    }
}

/* With `pcap-file.directory: files` each thread reads its own files instead of a part of each. */
static bool needs_file_per_queue(const struct plan *plan, const struct conf_node *root)
{
    static const char *const ways[] = { "timeline", "files", NULL };

    return strcmp(plan->method, "pcap-file") == 0 &&
           conf_choice(conf_find(root, "pcap-file"), "directory", ways, 0) == 1;
}

/* Decides which threads read files, and rejects modes in which that cannot work. Sharing means that
 * every receiving thread decodes frames to find their flow, so decode must be in the same stage. */
static int plan_files(struct plan *plan, const struct conf_node *root, struct err *err)
{
    const struct run_mode *mode = plan->mode;

    plan->file_per_queue = !plan->live && needs_file_per_queue(plan, root);
    plan->shares_file = !plan->live && plan->stages[0].count > 1 && !plan->file_per_queue;
    if (plan->file_per_queue && plan->stage_count > 1)
        return err_at(
            err, conf_find(root, "pcap-file.directory")->at,
            "directory: files: in run "
            "mode %s threads share a file; expected single, workers, or one of your own in "
            "one stage",
            mode->name);
    if (plan->shares_file && any_only_once(plan))
        return err_at(err, mode->at, "run mode %s: a pipe is read by one thread, not by %u",
                      mode->name, plan->stages[0].count);
    if (plan->shares_file && !stage_has(plan->stages[0].stage, "decode"))
        return err_at(err, mode->at, "run mode %s: several threads can only read a file where "
                      "decode is in the same stage as receive", mode->name);
    return 0;
}

/* Counts in chain order; connect_stages() and plan_files() need the counts of all stages. */
static int plan_count(struct plan *plan, const struct plan_request *rq, struct err *err)
{
    const struct run_mode *mode = rq->mode;
    unsigned *per_source = xcalloc(plan->source_count + 1, sizeof(per_source[0])), capture;
    bool full_chain = run_mode_stage_count(mode) == 1;

    capture = MAX(capture_threads(plan, full_chain, per_source), 1u);
    for (unsigned i = 0; mode->stages[i].modules != NULL; i++)
        stage_add(plan, &mode->stages[i],
                  MIN(count_of(plan, &mode->stages[i], capture), (unsigned)THREADS_MAX),
                  per_source);
    free(per_source);
    if (connect_stages(plan, rq->root, err) < 0)
        return -1;
    return plan_files(plan, rq->root, err);
}

static void copy_sources(struct plan *plan, const struct plan_request *rq)
{
    plan->sources = xcalloc(rq->source_count + 1, sizeof(plan->sources[0]));
    plan->source_count = rq->source_count;
    if (rq->source_count > 0)
        memcpy(plan->sources, rq->sources, rq->source_count * sizeof(plan->sources[0]));
}

/* Interface-specific CPU sets are checked against the interfaces; files have no such sets. */
static int read_affinity(struct plan *plan, const struct plan_request *rq, struct err *err)
{
    const char **names = xcalloc(rq->source_count + 1, sizeof(names[0]));

    for (unsigned i = 0; i < rq->source_count && rq->live; i++)
        names[i] = rq->sources[i].name;
    plan->affinity = affinity_new(rq->root, rq->topology, names, &plan->diagnostics, err);
    free(names);
    if (plan->affinity == NULL)
        return -1;
    plan->stack_size = plan->affinity->stack_size;
    return 0;
}

/* The order matters: counts, then queues and memory that depend on counts, then CPUs, then senders,
 * which need their verdict thread's CPU. NULL on error. Names and nodes are borrowed from the
 * request. */
struct plan *plan_new(const struct plan_request *rq, struct err *err)
{
    struct plan *plan = xcalloc(1, sizeof(*plan));
    struct plan_request request = *rq;

    if (rq->verdict_threads && rq->mode->verdict_form != NULL)
        request.mode = rq->mode->verdict_form;
    plan->mode = request.mode;
    plan->topology = rq->topology;
    plan->method = rq->method;
    plan->live = rq->live;
    copy_sources(plan, rq);
    if (read_affinity(plan, rq, err) < 0 || plan_count(plan, &request, err) < 0)
        goto fail;
    size_queues(plan, rq->root);
    add_management(plan, rq->management);
    share_memory(plan, rq->root);
    if (plan_place(plan, err) < 0)
        goto fail;
    add_senders(plan, rq);
    plan_warn(plan, rq->interfaces);
    return plan;

fail:
    plan_free(plan);
    return NULL;
}

void plan_free(struct plan *plan)
{
    if (plan == NULL)
        return;
    affinity_free(plan->affinity);
    diagnostics_fini(&plan->diagnostics);
    free(plan->threads);
    free(plan->sources);
    free(plan);
}

/* Threads per source, for captures that split queues among threads. */
void plan_source_threads(const struct plan *plan, unsigned *out)
{
    memset(out, 0, plan->source_count * sizeof(out[0]));
    for (unsigned i = 0; i < plan->stages[0].count && plan->source_count > 0; i++)
        out[plan->threads[i].source_number]++;
}

/* True for standard input, and for anything that is neither a file nor a directory. */
static bool is_pipe(const char *path)
{
    struct stat st;

    return strcmp(path, "-") == 0 ||
           (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

/* `threads` of each interface in the capture's section; a missing entry is `auto`. An invalid value
 * is reported like other mistakes of the configuration. */
void plan_sources_read(const struct conf_node *root, const char *section, const char *const *names,
                       struct plan_source *out, unsigned count)
{
    const struct conf_node *list = conf_find(root, section);

    for (unsigned i = 0; i < count; i++) {
        const struct conf_node *item = conf_item(list, "interface", names[i]);
        const char *threads = conf_string(item, "threads", "auto");
        uint64_t n;

        out[i] = (struct plan_source){ .name = names[i], .only_once = is_pipe(names[i]) };
        if (item != NULL)
            out[i].at = out[i].threads_at = item->at;
        if (conf_find(item, "threads") != NULL)
            out[i].threads_at = conf_find(item, "threads")->at;
        if (text_to_u64(text_of(threads), THREADS_MAX, &n))
            out[i].threads = (unsigned)n;
        else if (!text_equal_nocase(text_of(threads), "auto"))
            conf_error(conf_find(item, "threads"), "threads: expected auto or 1 to %d, got \"%s\"",
                       THREADS_MAX, threads);
    }
}
