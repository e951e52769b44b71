/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/file/filestore.c - filestore: stores the files of what the rule matched. */
#include "detect/keywords/file/file_test.h"
#include "detect/rule/file_slot.h"
#include "detect/rule/ruleset_private.h"

#include <ctype.h>
#include <string.h>

/* Selects files: those of the match's direction, or of the named directions; in this transaction,
 * or in the rest of the flow. */
struct filestore_arg {
    uint8_t directions;         /* 0: that of the match */
    bool scope_tx, scope_flow;
    uint32_t depth;             /* of reassembly for files that are stored; 0: as for all */
};

/* The file's record lists the rules that stored it, up to the size of its array; a rule counts
 * once. */
static void store_file(struct app_file *file, uint32_t sid)
{
    struct detect_file *by = detect_file(file);

    file->store_requested = file->rule_stores = true;
    for (uint32_t i = 0; i < by->sid_count; i++)
        if (by->sids[i] == sid)
            return;
    if (by->sid_count < ARRAY_LEN(by->sids))
        by->sids[by->sid_count++] = sid;
}

/* The flag makes files stored that the transaction gets later. */
static void store_tx(struct app_tx *tx, const struct filestore_arg *a, uint8_t directions,
                     uint32_t sid)
{
    for (unsigned d = TO_SERVER; d <= TO_CLIENT; d++) {
        if (!(directions & APP_DIRECTION_BIT(d)))
            continue;
        if (a->scope_tx || a->scope_flow)
            tx->store_files[d] = true;
        for (struct app_file *file = tx->files[d]; file != NULL; file = file->next)
            store_file(file, sid);
    }
}

/* The depth is an atomic store because the stream module reads it, perhaps on another
 * thread. */
static bool filestore_match(const struct match_input *in, const void *arg)
{
    const struct filestore_arg *a = arg;
    uint8_t directions = a->directions != 0 ? a->directions :
                         (uint8_t)APP_DIRECTION_BIT(in->direction);

    if (in->tx == NULL)
        return true;
    if (in->flow != NULL && a->depth != 0)
        __atomic_store_n(&in->flow->depth, a->depth, __ATOMIC_RELAXED);
    if (!a->scope_flow) {
        store_tx(in->tx, a, directions, in->rule->sid);
        return true;
    }
    for (struct app_tx *tx = in->tx->flow->first; tx != NULL; tx = tx->next)
        store_tx(tx, a, directions, in->rule->sid);
    return true;
}

/* Suricata ignores other words here. */
static void direction_parse(struct text in, uint8_t *directions)
{
    static const struct { const char *name; uint8_t directions; } names[] = {
        { "request", APP_TS }, { "to_server", APP_TS }, { "response", APP_TC },
        { "to_client", APP_TC }, { "both", APP_BOTH },
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (text_equal_nocase(in, names[i].name))
            *directions = names[i].directions;
    }
}

/* "file" is the default and needs no flag. */
static void scope_parse(struct text in, struct filestore_arg *a)
{
    if (text_equal_nocase(in, "tx"))
        a->scope_tx = true;
    else if (text_equal_nocase(in, "ssn") || text_equal_nocase(in, "flow"))
        a->scope_flow = true;
}

/* At most three words of letters, so that garbage is an error. */
static bool is_words(struct text in)
{
    unsigned words = 0;
    struct text word;

    while (text_split(&in, ',', &word)) {
        if (word.n == 0 || ++words > 3)
            return false;
        for (size_t i = 0; i < word.n; i++)
            if (!isalpha((unsigned char)word.p[i]) && word.p[i] != '_')
                return false;
    }
    return true;
}

/* file-store.stream-depth, where it exceeds the stream's own depth; 0: it does not. */
static uint32_t store_depth(const struct conf_node *root)
{
    static const char path[] = "outputs.file-store.stream-depth";
    uint64_t depth = conf_size(root, "stream.reassembly.depth", 0), own;

    if (strcmp(conf_string(root, path, "no"), "no") == 0)
        return 0;
    own = conf_size(root, path, 0);
    return own > depth && own < UINT32_MAX ? (uint32_t)own : 0;
}

/* Alone in a rule, filestore still needs a file: the test without a function holds for
 * any. */
static int filestore_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct filestore_arg *a = arg;
    struct text rest = in, part;

    p->rule->flags |= RULE_FILESTORE;
    if (!is_words(in))
        return rule_error(p,
                          "filestore: expected [request|response|both[,file|tx|ssn|flow]], found "
                          "\"%.*s\"",
                          TEXT(in));
    if (text_split(&rest, ',', &part))
        direction_parse(part, &a->directions);
    if (text_split(&rest, ',', &part))
        scope_parse(part, a);
    a->depth = store_depth(p->ruleset->conf);
    return file_test_add(p, NULL, NULL, APP_FILE_STORE);
}

const struct keyword_ops keyword_filestore = {
    .name = "filestore",
    .doc = "store the file that matched",
    .syntax = "[request|response|both|to_server|to_client[,file|tx|ssn|flow]]",
    .point = POINT_POST,
    .argument = ARGUMENT_OPTIONAL,
    .arg_size = sizeof(struct filestore_arg),
    .parse = filestore_parse,
    .match = filestore_match,
};
