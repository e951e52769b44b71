/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/eve/files.c - the record type `files`: a fileinfo record for each file that has
 * ended. */
#include <stdlib.h>

#include "app/core/file.h"
#include "app/proto.h"
#include "base/array.h"
#include "output/eve/eve.h"
#include "output/output_private.h"

struct files_settings {
    bool force_magic;
    uint8_t mark;                       /* of output_file.logged */
    struct xff xff;                     /* its own, or eve-log's */
};

/* force-magic, force-hash and force-filestore make parsers compute these for every file, not only
 * for those that rules match. A local `xff` replaces that of the eve-log. */
static void *files_configure(const struct conf_node *node, const struct eve *eve, struct err *err)
{
    struct files_settings *s = xcalloc(1, sizeof(*s));

    s->mark = (uint8_t)(1u << eve_mark(&eve->marks->files, 8, "files", err));
    app_require_files(eve->request->app, APP_FILE_TRACK);
    s->xff = eve->xff;
    if (conf_find(node, "xff") != NULL)
        s->xff.mode = XFF_OFF;
    eve_read_xff(&s->xff, node);
    s->force_magic = conf_bool(node, "force-magic", false);
    if (s->force_magic)
        app_require_files(eve->request->app, APP_FILE_MAGIC);
    if (conf_bool(node, "force-filestore", false))
        app_require_files(eve->request->app, APP_FILE_STORE_ALL);
    CONF_EACH (item, conf_find(node, "force-hash")) {
        if (!app_require_file_hash(eve->request->app, item->value))
            err_set(err, "force-hash: \"%s\" is not md5, sha1 or sha256", item->value);
    }
    return s;
}

/* The direction is that of the file, whichever packet ends it. */
static void file_record(struct render *r, const struct eve *eve, const struct xff *xff,
                        struct packet *p, const struct app_file *file)
{
    struct xff_use use;
    struct json j;

    if (UNLIKELY(!eve_flow_has_space(r, eve, p->flow)))
        return;
    eve_xff_begin(r, xff, p, file->tx, &use);
    eve_begin(r, eve, &j, p,
              (struct eve_head){ file->direction == TO_SERVER ? EVE_TO_SERVER : EVE_TO_CLIENT,
                                 "fileinfo", EVE_NO_TX });
    eve_tx_metadata(&j, file->tx);
    json_string(&j, "app_proto", app_proto_name(p->flow->app_proto));
    json_object(&j, "fileinfo");
    eve_file(&j, file, true);
    json_object_end(&j);
    eve_xff_end(r, xff, &j, &use);
    (void)eve_end_within(r, eve, &j, p);
}

/* The mark is set before the record is written: a record that the flow's limit cuts is not
 * tried again. */
static void files_tx(struct render *r, const struct eve *eve, void *settings, struct packet *p,
                     struct app_tx *tx)
{
    const struct files_settings *s = settings;

    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++) {
        for (struct app_file *file = tx->files[d]; file != NULL; file = file->next) {
            if ((output_file(file)->logged & s->mark) || !app_file_due(file, r->inspection))
                continue;
            output_file(file)->logged |= s->mark;
            if (s->force_magic)
                app_file_magic(file);
            file_record(r, eve, &s->xff, p, file);
        }
    }
}

const struct eve_type eve_type_files = {
    .name = "files",
    .configure = files_configure,
    .tx = files_tx,
};
