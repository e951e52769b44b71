/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/vector_search.h - searches the payloads of a vector before its packets are
 * inspected, those of one group of rules after each other.
 *
 * Between two packets of a group, parsers, records and other groups evict the tables of its pattern
 * sets and lists: half of the time of a search was waiting for them. A search only reads the
 * payload, the header and the ruleset, so when it runs does not change what it finds. What has
 * changed until the packet is inspected is compared then, and the packet is searched again if the
 * result may be another one. */
#ifndef DETECT_VECTOR_SEARCH_H
#define DETECT_VECTOR_SEARCH_H

#include "detect/inspect/inspect_private.h"

struct vector_search;

struct vector_search *vector_search_new(void);
void vector_search_free(struct vector_search *vs);      /* NULL is fine */

/* Adds a packet of a vector, with rising positions. */
void vector_search_add(struct detect_thread *dt, unsigned at, const struct packet *p);
/* Searches what was added. */
void vector_search_run(struct detect_thread *dt);
/* The packet at this position is inspected next. */
void vector_search_reach(struct vector_search *vs, unsigned at);
/* Adds the candidates of this packet in this group to dt->found. False: it is to be searched. */
bool vector_search_take(struct detect_thread *dt, const struct packet *p,
                        const struct transport_group *g);
/* After the vector: its packets go back to their pool. */
void vector_search_clear(struct vector_search *vs);

#endif
