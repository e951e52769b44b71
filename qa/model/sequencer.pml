/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sequencer.pml - threads that take the batches of one file, and wait for each other before they
 * touch what flows share (src/sequencer/), for the model checker spin.
 *
 * THREADS take PACKETS in batches, of which SLOTS exist. Every way is tried to give packets to
 * threads and to choose those that touch what is shared. Sleeping and waking of one thread is
 * ring.pml's: here a wake-up sets a flag, and one that comes before the sleep is not lost.
 *
 * With HOSTS what is shared belongs to hosts (src/sequencer/hosts.c): the scan notes which thread
 * has packets of a host, and a thread that has it alone does not wait.
 *
 * With RELOAD thread 0 is out of the order at the start, as one whose rules share nothing: it enters
 * before one batch and leaves before another (seq_handle_enter(), seq_handle_leave()). Outside, it
 * touches nothing that is shared and publishes nothing. Who looks while it enters may still pass it,
 * so the order is checked for waits that begin when it has entered.
 *
 * Checked over every interleaving: what is shared is touched in the order of the packets (with
 * HOSTS, of its host's packets), and no thread waits for ever (that would be an invalid end state).
 *
 * Each of the defines tried by the run script builds in a mistake, which must be found. */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef PACKETS
#define PACKETS 4
#endif
#ifndef BATCH
#define BATCH 1
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#define BATCHES (PACKETS / BATCH)
#define NEVER 255
#ifdef HOSTS
#define HOST_COUNT 2
#define HOST(i) host[i]
#else
#define HOST_COUNT 1
#define HOST(i) 0
#endif
#ifdef RELOAD
#define IN_ORDER(t) in_order[t]
#else
#define IN_ORDER(t) true
#endif
#define END 254
#define NOBODY 254
#define SEVERAL 253
#define PLACE(i) ((i) + 1)

/* The capture, chosen at the start. */
byte owner[PACKETS];
bool shares[PACKETS];
#ifdef HOSTS
byte host[PACKETS];
byte has_host[HOST_COUNT];                  /* hosts.c: a thread, NOBODY or SEVERAL */
#endif

/* batches.c */
bool scan_locked;
byte scanned;
byte users[SLOTS];
byte sleepers;
bool woken[THREADS];

/* sequencer.c */
bool locked;
byte mark[THREADS], wake_at[THREADS], wanted[THREADS], missing[THREADS];
bool listed[THREADS * THREADS];             /* eventcount * THREADS + the one it waits for */

#ifdef RELOAD
bool in_order[THREADS];
bool met[THREADS * THREADS];                /* in the order when the wait of the first began */
byte passed[THREADS];                       /* the place up to which others went, after waiting */
#endif
byte touched[HOST_COUNT];                   /* the place of the last one that touched */

/* --- src/sequencer/batches.c --- */

#define SLOT(k) users[(k) % SLOTS]
#define IS_SCANNED(k) (scanned > (k))
#define IS_FREE(k) (SLOT(k) == 0)

inline wake_sleepers()
{
    if
    :: sleepers > 0 -> d_step { n = 0; do :: n < THREADS -> woken[n] = true; n++ :: else -> break od }
    :: else
    fi
}

/* Of the packets of batch k, before a thread can have them. */
inline note_hosts(k)
{
#ifdef HOSTS
    noted = (k) * BATCH;
    do
    :: noted == ((k) + 1) * BATCH -> break
    :: noted < ((k) + 1) * BATCH ->
#ifdef HOSTS_LAST
        has_host[host[noted]] = owner[noted];   /* the mistake: forgets the others */
#else
        if
        :: has_host[host[noted]] == NOBODY -> has_host[host[noted]] = owner[noted]
        :: has_host[host[noted]] != NOBODY && has_host[host[noted]] != owner[noted] ->
            has_host[host[noted]] = SEVERAL
        :: else
        fi;
#endif
        noted++
    od
#else
    skip
#endif
}

/* The next batch, unless `upto` is scanned. */
inline scan(upto)
{
    atomic { !scan_locked -> scan_locked = true };
    made = false;
    if
    :: scanned <= upto && scanned < BATCHES && IS_FREE(scanned) ->
#if defined(HOSTS) && !defined(HOSTS_LATE)
        note_hosts(scanned);
#endif
        SLOT(scanned) = THREADS;
        scanned++;
        made = true
    :: else
    fi;
    scan_locked = false;
#ifdef HOSTS_LATE
    if :: made -> note_hosts(scanned - 1) :: else fi;   /* the mistake: others have it by now */
#endif
    if :: made -> wake_sleepers() :: else fi
}

inline sleep_for_batch()
{
#ifdef LOOK_FIRST
    may_go = IS_SCANNED(at) || IS_FREE(at);     /* the mistake: looked before it is counted */
    sleepers++;
    woken[me] = false;
#else
    sleepers++;
    woken[me] = false;
    may_go = IS_SCANNED(at) || IS_FREE(at);
#endif
    if :: may_go :: else -> woken[me] fi;
    sleepers--
}

inline next_batch()
{
    do
    :: IS_SCANNED(at) -> break
    :: else ->
        if :: IS_FREE(at) -> scan(at) :: else fi;
        if :: IS_SCANNED(at) -> break :: else -> sleep_for_batch() fi
    od
}

inline leave_batch()
{
    d_step { SLOT(at)--; last_one = SLOT(at) == 0; at++ };
    if
    :: last_one && sleepers > 0 -> scan(BATCHES)
    :: else
    fi
}

/* --- src/sequencer/sequencer.c --- */

inline lock() { atomic { !locked -> locked = true } }

inline cross_off(eventcount, w)
{
    d_step {
        listed[eventcount * THREADS + w] = false;
#ifdef FIRST_WAKES
        missing[eventcount] = 0     /* the mistake: the others may not have passed */
#else
        missing[eventcount]--
#endif
    }
}

/* Under the lock; the marks of others may move on meanwhile. */
inline look_at_waits(w)
{
    d_step { n = 0; least = NEVER };
    do
    :: n == THREADS -> break
    :: n < THREADS ->
        if
        :: listed[n * THREADS + w] && mark[w] >= wanted[n] -> cross_off(n, w)
        :: listed[n * THREADS + w] && mark[w] < wanted[n] ->
            least = (wanted[n] < least -> wanted[n] : least)
        :: else
        fi;
        n++
    od;
    wake_at[w] = least
}

inline publish(place)
{
#ifdef LOOK_BEFORE
    must_look = place >= wake_at[me];       /* the mistake: looked before the mark is stored */
    mark[me] = (place > mark[me] -> place : mark[me]);
#else
    mark[me] = (place > mark[me] -> place : mark[me]);
    must_look = place >= wake_at[me];
#endif
    if
    :: must_look -> lock(); look_at_waits(me); locked = false
    :: else
    fi
}

inline begin_wait(place)
{
    lock();
    d_step { wanted[me] = place; missing[me] = 1; other = 0 };
    do
    :: other == THREADS -> break
    :: other < THREADS ->
        if
        :: other != me && mark[other] < place ->
            d_step { listed[me * THREADS + other] = true; missing[me]++ };
            wake_at[other] = (place < wake_at[other] -> place : wake_at[other]);
#ifndef LOOK_ONCE
            if
            :: mark[other] >= place -> look_at_waits(other)
            :: else
            fi
#endif
        :: else
        fi;
        other++
    od;
#ifdef FIRST_WAKES
    if :: missing[me] > 0 -> missing[me]-- :: else fi;
#else
    missing[me]--;
#endif
    locked = false
}

inline enter_order(place)
{
    d_step {
#ifdef ENTER_AHEAD
        mark[me] = (place) + 1;     /* the mistake: the next packet is not done */
#else
        mark[me] = place;
#endif
        in_order[me] = true
    }
}

inline leave_order()
{
    in_order[me] = false;
#ifdef LEAVE_SILENT
    mark[me] = END      /* the mistake: who waits is not woken */
#else
    publish(END)
#endif
}

/* Before a batch. */
inline reload()
{
    if
    :: me == 0 && !has_entered -> enter_order(PLACE(at * BATCH)); has_entered = true
    :: me == 0 && in_order[me] -> leave_order()
    :: true
    fi
}

inline touch(place)
{
#ifdef RELOAD
    d_step {
        assert(passed[me] < place);
        n = 0;
        do
        :: n == THREADS -> break
        :: n < THREADS ->
            if
            :: n != me && met[me * THREADS + n] && in_order[n] ->
                passed[n] = (place > passed[n] -> place : passed[n])
            :: else
            fi;
            n++
        od
    }
#else
    d_step { assert(touched[HOST(i)] < place); touched[HOST(i)] = place }
#endif
}

inline take_turn(place)
{
#ifdef RELOAD
    d_step {
        n = 0;
        do
        :: n == THREADS -> break
        :: n < THREADS -> met[me * THREADS + n] = in_order[n]; n++
        od
    }
#endif
#ifndef SILENT
    publish(place);
#endif
    begin_wait(place);
    missing[me] == 0
}

/* --- a thread --- */

inline inspect(i)
{
    /* seq_passes() */
    if :: PLACE(i) >= wake_at[me] -> publish(PLACE(i)) :: else fi;
    if
    :: shares[i] ->
#ifdef HOSTS
        alone = has_host[host[i]] == me;
        if :: alone :: else -> take_turn(PLACE(i)) fi;
#else
        take_turn(PLACE(i));
#endif
        touch(PLACE(i))
    :: else
    fi
}

proctype thread(byte me)
{
    byte at, i, n, other, least;
    bool made, may_go, last_one, must_look;
#ifdef HOSTS
    byte noted;
    bool alone;
#endif
#ifdef RELOAD
    bool has_entered;
#endif

    do
    :: at == BATCHES -> break
    :: else ->
        next_batch();
#ifdef RELOAD
        reload();
#endif
        i = at * BATCH;
        do
        :: i == (at + 1) * BATCH -> break
        :: i < (at + 1) * BATCH ->
            if :: owner[i] == me && IN_ORDER(me) -> inspect(i) :: else fi;
            i++
        od;
        leave_batch();
        if :: IN_ORDER(me) -> publish(PLACE(at * BATCH)) :: else fi
    od
}

init
{
    byte k;

    do
    :: k < PACKETS ->
        if
        :: owner[k] = 0
        :: owner[k] = 1
#if THREADS > 2
        :: owner[k] = 2
#endif
        fi;
        if :: shares[k] = true :: shares[k] = false fi;
#ifdef HOSTS
        if :: host[k] = 0 :: host[k] = 1 fi;
#endif
        k++
    :: k == PACKETS -> break
    od;
    atomic {
        k = 0;
        do :: k < THREADS -> wake_at[k] = NEVER; k++ :: else -> break od;
#ifdef HOSTS
        has_host[0] = NOBODY;
        has_host[1] = NOBODY;
#endif
#ifdef RELOAD
        mark[0] = END;
        in_order[1] = true;
#if THREADS > 2
        in_order[2] = true;
#endif
#endif
        run thread(0);
        run thread(1);
#if THREADS > 2
        run thread(2)
#endif
    }
}
