/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/options.c - reads the command line. One table gives each option's name, the place
 * of its value, and the line of --help. */
#include "config.h"

#include "main/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option_kind {
    OPT_FLAG,           /* bool at offset */
    OPT_COUNT,          /* unsigned at offset, counted */
    OPT_TEXT,           /* const char * at offset */
    OPT_LIST,           /* string_list at offset */
    OPT_JOB,            /* what to do instead of running; argument optional */
    OPT_CAPTURE,        /* value is the capture's name; the argument a source */
    OPT_STRICT,
    OPT_IGNORED,        /* accepted for compatibility, without effect here */
};

/* A row of specs[]. Which of the members count depends on `kind`. */
struct option_spec {
    char letter;
    const char *name;
    enum option_kind kind;
    char argument;              /* 0 none, 'r' required, 'o' optional (--name=value only) */
    size_t offset;
    int value;                  /* OPT_JOB: the job */
    const char *capture;        /* OPT_CAPTURE */
    const char *metavar, *help; /* help NULL: not shown */
};

#define AT(member) offsetof(struct options, member)

/* The options in the order of --help. Names and letters are those of Suricata, if it has the
 * option. */
static const struct option_spec specs[] = {
    { 'h', "help", OPT_JOB, 0, 0, JOB_HELP, NULL, NULL, "list the options" },
    { 'V', "version", OPT_JOB, 0, 0, JOB_VERSION, NULL, NULL, "print the version" },
    { 'c', NULL, OPT_TEXT, 'r', AT(config), 0, NULL, "FILE", "configuration file" },
    { 0, "include", OPT_LIST, 'r', AT(include), 0, NULL, "FILE", "further configuration file" },
    { 0, "set", OPT_LIST, 'r', AT(set), 0, NULL, "KEY=VALUE", "override one setting" },
    { 0, "plugin", OPT_LIST, 'r', AT(plugins), 0, NULL, "FILE",
      "load a plugin, besides the configured ones" },
    { 'T', NULL, OPT_JOB, 0, 0, JOB_TEST, NULL, NULL, "check configuration and rules, and end" },
    { 'l', NULL, OPT_TEXT, 'r', AT(log_dir), 0, NULL, "DIR", "log directory" },
    { 0, "data-dir", OPT_TEXT, 'r', AT(data_dir), 0, NULL, "DIR", "directory for state" },
    { 'v', NULL, OPT_COUNT, 0, AT(verbose), 0, NULL, NULL, "say more; repeat for still more" },
    { 'D', NULL, OPT_FLAG, 0, AT(daemon), 0, NULL, NULL, "run in the background" },
    { 0, "pidfile", OPT_TEXT, 'r', AT(pid_file), 0, NULL, "FILE", "write the process number" },
    { 0, "user", OPT_TEXT, 'r', AT(user), 0, NULL, "NAME", "run as this user once started" },
    { 0, "group", OPT_TEXT, 'r', AT(group), 0, NULL, "NAME", "run as this group once started" },
    { 0, "runmode", OPT_TEXT, 'r', AT(run_mode), 0, NULL, "NAME",
      "single, workers, autofp, pipeline, or one of your own" },
    { 0, "plan", OPT_JOB, 'o', 0, JOB_PLAN, NULL, "json|dot|svg",
      "show which thread would run what, and where" },
    { 0, "svg", OPT_FLAG, 0, AT(svg), 0, NULL, NULL, "the plan as a picture, as --plan=svg does" },
    { 0, "topology", OPT_TEXT, 'r', AT(topology), 0, NULL, "TEXT|FILE",
      "plan for another machine" },
    { 0, "cpu", OPT_TEXT, 'r', AT(cpu), 0, NULL, "LEVEL",
      "use no more of the CPU: avx512, avx2, sse4, neon, scalar" },
    { 0, "deterministic", OPT_FLAG, 0, AT(deterministic), 0, NULL, NULL,
      "the same output, byte by byte, in every run mode" },

    { 'r', NULL, OPT_CAPTURE, 'r', 0, 0, "pcap-file", "PATH",
      "read a capture file, a directory, or - for standard input" },
    { 0, "pcap-file-continuous", OPT_FLAG, 0, AT(continuous), 0, NULL, NULL,
      "keep watching the directory" },
    { 0, "pcap-file-delete", OPT_FLAG, 0, AT(delete_done), 0, NULL, NULL,
      "delete each file when it is done" },
    { 0, "pcap-file-recursive", OPT_FLAG, 0, AT(recursive), 0, NULL, NULL,
      "descend into directories" },
    { 0, "pcap-file-buffer-size", OPT_TEXT, 'r', AT(pcap_file_buffer_size), 0, NULL, "N",
      "bytes to read at once" },
    { 'i', NULL, OPT_CAPTURE, 'r', 0, 0, "af-packet", "IFACE", "capture from an interface" },
    { 0, "af-packet", OPT_CAPTURE, 'o', 0, 0, "af-packet", "IFACE", "the same by name" },
    { 0, "af-xdp", OPT_CAPTURE, 'o', 0, 0, "af-xdp", "IFACE", "capture by AF_XDP" },
    { 0, "dpdk", OPT_CAPTURE, 'o', 0, 0, "dpdk", "PORT", "capture by DPDK" },
    { 0, "pcap", OPT_CAPTURE, 'o', 0, 0, "pcap", "IFACE", "capture by libpcap" },
    { 0, "pcap-buffer-size", OPT_TEXT, 'r', AT(pcap_buffer_size), 0, NULL, "N",
      "libpcap's buffer" },
    { 'q', NULL, OPT_CAPTURE, 'r', 0, 0, "nfq", "N[:M]", "inline on netfilter queues" },
    { 0, "nflog", OPT_CAPTURE, 'o', 0, 0, "nflog", "CONF", "capture by NFLOG" },
    { 0, "capture-plugin", OPT_TEXT, 'r', AT(plugin_capture), 0, NULL, "NAME",
      "capture by a method of a plugin" },
    { 0, "capture-plugin-args", OPT_TEXT, 'r', AT(plugin_source), 0, NULL, "TEXT",
      "the source of that method" },
    { 'F', NULL, OPT_TEXT, 'r', AT(bpf_file), 0, NULL, "FILE", "packet filter from a file" },
    { 'k', NULL, OPT_TEXT, 'r', AT(checksums), 0, NULL, "all|none", "verify checksums or not" },
    { 0, "simulate-ips", OPT_FLAG, 0, AT(simulate_ips), 0, NULL, NULL,
      "treat the run as inline" },
    { 0, "reject-dev", OPT_TEXT, 'r', AT(reject_device), 0, NULL, "IFACE",
      "send rejects from this interface" },
    { 0, "take-over", OPT_TEXT, 'r', AT(take_over), 0, NULL, "SOCKET",
      "go on with the capture of the engine at this control socket, which ends" },
    { 0, "unix-socket", OPT_JOB, 'o', 0, JOB_UNIX_SOCKET, NULL, "FILE",
      "wait for commands that name captures to read" },

    { 's', NULL, OPT_LIST, 'r', AT(rule_files), 0, NULL, "FILE", "rules besides the configured" },
    { 'S', NULL, OPT_TEXT, 'r', AT(only_rule_file), 0, NULL, "FILE", "these rules only" },
    { 0, "disable-detection", OPT_FLAG, 0, AT(no_detection), 0, NULL, NULL, "no rules at all" },
    { 0, "disable-hashing", OPT_FLAG, 0, AT(no_hashing), 0, NULL, NULL,
      "no hashes of files and handshakes" },
    { 0, "init-errors-fatal", OPT_FLAG, 0, AT(init_errors_fatal), 0, NULL, NULL,
      "any error at the start ends it" },
    { 0, "strict-rule-keywords", OPT_STRICT, 'o', 0, 0, NULL, "all|K,K",
      "be strict about keywords with a lenient history" },
    { 0, "firewall", OPT_FLAG, 0, AT(firewall), 0, NULL, NULL, "firewall mode" },
    { 0, "firewall-rules-exclusive", OPT_TEXT, 'r', AT(firewall_file), 0, NULL, "FILE",
      "these firewall rules only" },
    { 0, "engine-analysis", OPT_JOB, 0, 0, JOB_ENGINE_ANALYSIS, NULL, NULL,
      "write what the engine makes of each rule" },
    { 0, "lint", OPT_JOB, 'o', 0, JOB_LINT, NULL, "FILE",
      "say what is wrong with rules, or costs needlessly; status 1: something is" },
    { 0, "lint-off", OPT_TEXT, 'r', AT(lint_off), 0, NULL, "CLASS,CLASS",
      "lint without these classes of findings" },
    { 0, "explain", OPT_TEXT, 'r', AT(explain), 0, NULL, "SID,SID|all",
      "say why rules fired, or did not, on the file of -r" },
    { 0, "flow", OPT_TEXT, 'r', AT(explain_flow), 0, NULL, "A:P-B:P",
      "explain with this flow only" },
    { 0, "nearest", OPT_TEXT, 'r', AT(explain_nearest), 0, NULL, "N",
      "explain with so many of what came nearest (10)" },
    { 0, "summary", OPT_FLAG, 0, AT(explain_summary), 0, NULL, NULL,
      "explain how far each rule came" },
    { 0, "explain-flow", OPT_TEXT, 'r', AT(life), 0, NULL, "A:P-B:P",
      "tell the life of this flow of the file of -r, packet by packet" },
    { 0, "json", OPT_FLAG, 0, AT(json), 0, NULL, NULL, "explain or lint in JSON" },
    { 0, "rule-profile", OPT_TEXT, 'r', AT(rule_profile), 0, NULL, "FILE",
      "write what each rule cost at the end, as .csv or .json" },

    { 0, "list-keywords", OPT_JOB, 'o', 0, JOB_LIST_KEYWORDS, NULL, "all|csv|NAME",
      "the keywords of rules" },
    { 0, "list-runmodes", OPT_JOB, 0, 0, JOB_LIST_RUN_MODES, NULL, NULL,
      "run modes for each way of capture" },
    { 0, "list-app-layer-protos", OPT_JOB, 0, 0, JOB_LIST_PROTOS, NULL, NULL,
      "application protocols" },
    { 0, "list-rule-protos", OPT_JOB, 0, 0, JOB_LIST_RULE_PROTOS, NULL, NULL,
      "protocols of a rule's header that are no application's" },
    { 0, "list-app-layer-hooks", OPT_JOB, 0, 0, JOB_LIST_HOOKS, NULL, NULL,
      "the states that rules can hook" },
    { 0, "list-app-layer-frames", OPT_JOB, 0, 0, JOB_LIST_FRAMES, NULL, NULL,
      "the frames of protocols" },
    { 0, "dump-config", OPT_JOB, 0, 0, JOB_DUMP_CONFIG, NULL, NULL, "print all settings" },
    { 0, "dump-features", OPT_JOB, 0, 0, JOB_DUMP_FEATURES, NULL, NULL, "print feature names" },
    { 0, "build-info", OPT_JOB, 0, 0, JOB_BUILD_INFO, NULL, NULL, "what is built in" },
    { 0, "no-random", OPT_FLAG, 0, AT(no_random), 0, NULL, NULL, NULL },
    { 0, "qa-skip-prefilter", OPT_IGNORED, 0, 0, 0, NULL, NULL, NULL },
};

/* `fmt` takes one string. */
static int option_wrong(struct err *err, const char *fmt, const char *what)
{
    char text[300];

    snprintf(text, sizeof(text), fmt, what);
    return err_set(err, "%s; --help lists the options", text);
}

/* Arguments are borrowed from argv, which lives as long as the process. */
static void option_source(struct options *o, const struct option_spec *spec, const char *argument)
{
    o->capture = spec->capture;
    if (argument != NULL)
        ARRAY_PUSH(&o->sources, argument);
}

/* A second -S is an error: which file counts would be a guess. Two ways of capture
 * contradict each other, but one may have several sources. */
static int option_apply(struct options *o, const struct option_spec *spec, const char *argument,
                        struct err *err)
{
    char *base = (char *)o + spec->offset;

    switch (spec->kind) {
    case OPT_FLAG:
        *(bool *)base = true;
        break;
    case OPT_COUNT:
        (*(unsigned *)base)++;
        break;
    case OPT_TEXT:
        if (base == (void *)&o->only_rule_file && o->only_rule_file != NULL)
            return option_wrong(err, "-S names one file, not also \"%s\"", argument);
        *(const char **)base = argument;
        break;
    case OPT_LIST:
        ARRAY_PUSH((string_list *)base, argument);
        break;
    case OPT_JOB:
        o->job = (enum option_job)spec->value;
        o->job_argument = argument;
        break;
    case OPT_CAPTURE:
        if (o->capture != NULL && strcmp(o->capture, spec->capture) != 0)
            return option_wrong(err, "more than one way of capture given: \"%s\" is one too many",
                                spec->name != NULL ? spec->name : spec->capture);
        option_source(o, spec, argument);
        break;
    case OPT_STRICT:
        o->strict_all = argument == NULL || strcmp(argument, "all") == 0;
        o->strict_keywords = o->strict_all ? NULL : argument;
        break;
    case OPT_IGNORED:
        break;
    }
    return 0;
}

static const struct option_spec *spec_by_letter(char letter)
{
    for (size_t i = 0; i < ARRAY_LEN(specs); i++)
        if (specs[i].letter == letter)
            return &specs[i];
    return NULL;
}

static const struct option_spec *spec_by_name(const char *name, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(specs); i++)
        if (specs[i].name != NULL && strlen(specs[i].name) == len &&
            memcmp(specs[i].name, name, len) == 0)
            return &specs[i];
    return NULL;
}

/* Finds an option as getopt_long(3) does: by its complete name, or by a prefix that only one
 * option has. NULL with *err set. */
static const struct option_spec *spec_meant(const char *given, const char *name, size_t len,
                                            struct err *err)
{
    const struct option_spec *spec = spec_by_name(name, len), *other = NULL;
    char both[300];

    if (spec != NULL)
        return spec;
    for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
        if (specs[i].name == NULL || strncmp(specs[i].name, name, len) != 0)
            continue;
        other = spec;
        spec = &specs[i];
        if (other != NULL)
            break;
    }
    if (spec != NULL && other == NULL && len > 0)
        return spec;
    if (other == NULL) {
        (void)option_wrong(err, "there is no option \"%s\"", given);
        return NULL;
    }
    snprintf(both, sizeof(both), "%.100s\" may be --%s or --%s", given, other->name, spec->name);
    (void)option_wrong(err, "option \"%s", both);
    return NULL;
}

/* Takes "--name", "--name=value" and "--name value"; moves *i past a value in a separate word.
 * An optional value must follow "=", as with getopt_long(3). */
static int option_long(struct options *o, char **argv, int *i, struct err *err)
{
    const char *name = argv[*i] + 2, *equals = strchr(name, '=');
    size_t len = equals != NULL ? (size_t)(equals - name) : strlen(name);
    const struct option_spec *spec = spec_meant(argv[*i], name, len, err);
    const char *argument = equals != NULL ? equals + 1 : NULL;

    if (spec == NULL)
        return -1;
    if (argument != NULL && spec->argument == 0)
        return option_wrong(err, "option --%s takes no value", spec->name);
    if (argument == NULL && spec->argument == 'r') {
        argument = argv[*i + 1];
        if (argument == NULL)
            return option_wrong(err, "option --%s needs a value", spec->name);
        (*i)++;
    }
    return option_apply(o, spec, argument, err);
}

/* Takes "-vvT", "-r file" and "-rfile". */
static int option_letters(struct options *o, char **argv, int *i, struct err *err)
{
    for (const char *p = argv[*i] + 1; *p != '\0'; p++) {
        const struct option_spec *spec = spec_by_letter(*p);
        const char *argument = NULL;

        if (spec == NULL)
            return option_wrong(err, "there is no option \"%s\"", argv[*i]);
        if (spec->argument == 'r') {
            argument = p[1] != '\0' ? p + 1 : argv[++*i];
            if (argument == NULL)
                return option_wrong(err, "option %s needs a value", argv[*i - 1]);
            return option_apply(o, spec, argument, err);
        }
        if (option_apply(o, spec, NULL, err) < 0)
            return -1;
    }
    return 0;
}

/* Words that are no option form the packet filter, as with tcpdump. */
static void option_bpf_word(struct options *o, const char *word)
{
    size_t old = o->bpf != NULL ? strlen(o->bpf) : 0;

    o->bpf = xrealloc(o->bpf, old + strlen(word) + 2);
    if (old > 0)
        o->bpf[old++] = ' ';
    memcpy(o->bpf + old, word, strlen(word) + 1);
}

/* Lines are joined with blanks; "#" starts a comment. */
static int option_bpf_file(struct options *o, struct err *err)
{
    char line[4096];
    FILE *f = fopen(o->bpf_file, "r");

    if (f == NULL)
        return err_set(err, "packet filter file %s: %s", o->bpf_file, strerror(errno));
    while (fgets(line, sizeof(line), f) != NULL) {
        line[strcspn(line, "#\n")] = '\0';
        if (line[0] != '\0')
            option_bpf_word(o, line);
    }
    fclose(f);
    return 0;
}

/* The method is known only when plugins have been loaded, so its name is checked later. */
static int option_plugin_capture(struct options *o, struct err *err)
{
    if (o->plugin_source != NULL && o->plugin_capture == NULL)
        return err_set(err, "--capture-plugin-args goes with --capture-plugin");
    if (o->plugin_capture == NULL)
        return 0;
    if (o->capture != NULL)
        return err_set(err, "more than one way of capture given: --capture-plugin is one too many");
    o->capture = o->plugin_capture;
    ARRAY_PUSH(&o->sources, o->plugin_source != NULL ? o->plugin_source : o->plugin_capture);
    return 0;
}

/* Suricata refuses it in these words, because a daemon cannot tell its caller that a file is no
 * capture. A check of the configuration takes both options. */
static int option_daemon(const struct options *o, struct err *err)
{
    if (o->daemon && o->job == JOB_RUN && o->capture != NULL &&
        strcmp(o->capture, "pcap-file") == 0)
        return err_set(err, "pcap offline mode cannot run as daemon");
    return 0;
}

/* Options that say how to explain, and nothing to explain. */
static int option_explain_none(const struct options *o, struct err *err)
{
    if (o->explain_flow != NULL || o->explain_nearest != NULL || o->explain_summary)
        return err_set(err, "--flow, --nearest and --summary go with --explain");
    if (o->json && o->life == NULL && o->job != JOB_LINT)
        return err_set(err, "--json goes with --explain, --explain-flow or --lint");
    return 0;
}

/* One thread in the order of the file, so that the answer is the same each time. */
static int option_explain(struct options *o, struct err *err)
{
    const char *name = o->explain != NULL ? "--explain" : "--explain-flow";

    if (o->explain == NULL && option_explain_none(o, err) < 0)
        return -1;
    if (o->explain == NULL && o->life == NULL)
        return 0;
    if (o->explain != NULL && o->life != NULL)
        return err_set(err, "--explain and --explain-flow are two questions: give one of them");
    if (o->capture == NULL || strcmp(o->capture, "pcap-file") != 0)
        return err_set(err, "%s explains what happens in a file: give -r FILE", name);
    if (o->explain != NULL && o->no_detection)
        return err_set(err, "--explain needs rules: --disable-detection does not go with it");
    if (o->rule_profile != NULL)
        return err_set(err, "--explain evaluates rules more often than the engine: --rule-profile "
                       "does not go with it");
    o->run_mode = "single";
    return 0;
}

/* "--lint FILE" and "--lint=FILE" are "-S FILE"; without a file the configured rules are meant. A
 * word without an option is a packet filter otherwise. */
static int option_lint(struct options *o, struct err *err)
{
    const char *file = o->job_argument != NULL ? o->job_argument : o->bpf;

    if (o->job != JOB_LINT) {
        if (o->lint_off != NULL)
            return err_set(err, "--lint-off goes with --lint");
        return 0;
    }
    if (o->explain != NULL || o->life != NULL || o->no_detection)
        return err_set(err, "--lint is about rules alone: --explain, --explain-flow and "
                       "--disable-detection do not go with it");
    if (file == NULL)
        return 0;
    if (o->only_rule_file != NULL || (o->job_argument != NULL && o->bpf != NULL))
        return option_wrong(err, "--lint is about one file, not also \"%s\"", file);
    o->only_rule_file = file;
    return 0;
}

static int option_plan(struct options *o, struct err *err)
{
    if (!o->svg)
        return 0;
    if (o->job != JOB_PLAN)
        return err_set(err, "--svg goes with --plan");
    if (o->job_argument != NULL && strcmp(o->job_argument, "svg") != 0)
        return option_wrong(err, "--plan=%s and --svg are two forms of one plan", o->job_argument);
    o->job_argument = "svg";
    return 0;
}

/* Options that contradict each other are rejected here, before anything starts. */
int options_parse(struct options *o, int argc, char **argv, struct err *err)
{
    memset(o, 0, sizeof(*o));
    for (int i = 1; i < argc; i++) {
        int done = 0;

        if (strncmp(argv[i], "--", 2) == 0 && argv[i][2] != '\0')
            done = option_long(o, argv, &i, err);
        else if (argv[i][0] == '-' && argv[i][1] != '\0' && argv[i][1] != '-')
            done = option_letters(o, argv, &i, err);
        else if (strcmp(argv[i], "--") != 0)
            option_bpf_word(o, argv[i]);
        if (done < 0)
            return -1;
    }
    if (o->bpf_file != NULL && option_bpf_file(o, err) < 0)
        return -1;
    if (o->checksums != NULL && strcmp(o->checksums, "all") != 0 &&
        strcmp(o->checksums, "none") != 0)
        return option_wrong(err, "-k takes \"all\" or \"none\", not \"%s\"", o->checksums);
    if (option_lint(o, err) < 0 || option_plan(o, err) < 0)
        return -1;
    if (o->only_rule_file != NULL && o->rule_files.count > 0)
        return err_set(err, "-S says that only its rules are wanted: -s does not go with it");
    if (o->continuous && o->recursive)
        return err_set(err, "--pcap-file-continuous and --pcap-file-recursive cannot be used "
                       "together");
    if (o->no_detection && (o->only_rule_file != NULL || o->rule_files.count > 0 ||
                            o->firewall_file != NULL))
        return err_set(err, "--disable-detection leaves nothing to do for rules: -s, -S and "
                       "--firewall-rules-exclusive do not go with it");
    if (option_plugin_capture(o, err) < 0 || option_daemon(o, err) < 0)
        return -1;
    return option_explain(o, err);
}

void options_free(struct options *o)
{
    ARRAY_FREE(&o->include);
    ARRAY_FREE(&o->set);
    ARRAY_FREE(&o->plugins);
    ARRAY_FREE(&o->sources);
    ARRAY_FREE(&o->rule_files);
    free(o->bpf);
}

/* Options without a help text are for tests and for compatibility. */
void options_help(const char *program)
{
    printf("Usage: %s [OPTIONS] [PACKET FILTER]\n\n", program);
    for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
        const struct option_spec *s = &specs[i];
        char left[64];
        int n = 0;

        if (s->help == NULL)
            continue;
        if (s->letter != 0)
            n += snprintf(left + n, sizeof(left) - (size_t)n, "-%c%s", s->letter,
                          s->name != NULL ? ", " : "");
        if (s->name != NULL)
            n += snprintf(left + n, sizeof(left) - (size_t)n, "--%s", s->name);
        if (s->argument != 0)
            snprintf(left + n, sizeof(left) - (size_t)n, s->argument == 'o' ? "[=%s]" : " %s",
                     s->metavar);
        printf("  %-38s %s\n", left, s->help);
    }
}
