/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/files.h - the framework's side of the files of a transaction: what may be freed, what
 * still waits for rules and outputs. */
#ifndef APP_CORE_FILES_H
#define APP_CORE_FILES_H

#include "app/core/file.h"
#include "app/core/thread.h"

void app_files_free(struct app_thread *at, struct app_tx *tx);
/* Called after outputs have processed the packet. own_packet: a packet of that direction;
 * libmagic then examines the data so far. */
void app_files_prune(struct app_tx *tx, enum direction d, bool own_packet);
bool app_files_done(struct app_tx *tx, const struct inspection *in, uint32_t required);
/* True if no file of the transaction waits to be reported or stored with a packet. */
bool app_files_idle(const struct app_tx *tx, uint32_t required);
void app_file_pool_init(struct pool *pool);
void app_file_pool_fini(struct pool *pool);

#endif
