/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/dataset_rows.h - the rows of a dataset's hash table in Suricata, which users can
 * observe.
 *
 * `hashsize` is their number. Suricata's memcap includes the rows and a thousand elements that are
 * allocated at the start; its state files are in the order of the rows. Our tables have other rows
 * and grow on demand, but configured sizes and files mean the same. */
#ifndef DETECT_DATASET_ROWS_H
#define DETECT_DATASET_ROWS_H

#include "detect/state/dataset.h"

#define DATASET_SET_ASIDE 1000u

/* The size of one value, without parts of variable size: the bytes of a string, JSON. */
uint64_t dataset_element_size(enum dataset_type type);
/* The size of an empty set. */
uint64_t dataset_empty_size(enum dataset_type type, uint32_t rows);
uint32_t dataset_row(enum dataset_type type, struct slice value, uint32_t rows);

#endif
