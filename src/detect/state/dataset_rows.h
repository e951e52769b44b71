/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/dataset_rows.h - what users know of a set's insides from Suricata: its rows.
 *
 * `hashsize` says how many there are. memcap counts them, and a thousand elements that are set
 * aside from the start; state files are in the order of the rows. Our tables have other rows and
 * grow as they need, but configured sizes and files mean the same. */
#ifndef DETECT_DATASET_ROWS_H
#define DETECT_DATASET_ROWS_H

#include "detect/state/dataset.h"

#define DATASET_SET_ASIDE 1000u

/* One value but for what has no fixed size: the bytes of a string, JSON. */
uint64_t dataset_element_size(enum dataset_type type);
/* An empty set. */
uint64_t dataset_empty_size(enum dataset_type type, uint32_t rows);
uint32_t dataset_row(enum dataset_type type, struct slice value, uint32_t rows);

#endif
