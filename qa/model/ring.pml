/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ring.pml - the ring's wait and wake protocol (src/base/containers/ring.c), for the model checker spin.
 *
 * Two producers with a bounded ring each, one consumer that sleeps on one eventcount for both;
 * producers sleep on eventcounts of their own when their ring is full. Each statement is one atomic
 * step, which is what sequentially consistent operations on index, `sleeping` and epoch give.
 *
 * Checked over every interleaving: nobody sleeps for ever (an invalid end state is a lost
 * wake-up), items arrive complete and in order, a ring never holds more than its size.
 *
 * With -DLOOK_BEFORE or -DCLEAR_ON_WAKE a mistake that is easy to make is built in; the run
 * script expects spin to find both. */
#ifndef ITEMS
#define ITEMS 2         /* per producer; 3 takes ten times the memory and finds no more */
#endif
#define SIZE 1
#define PRODUCERS 2

byte tail[PRODUCERS], head[PRODUCERS];          /* items pushed and popped so far */
bool closed[PRODUCERS];

/* Waiters: one per producer, the last is the consumer's. A futex is the number of its eventcount. */
#define CONSUMER PRODUCERS
byte epoch[PRODUCERS + 1];
bool sleeping[PRODUCERS + 1];
bool in_futex[PRODUCERS + 1];                   /* really asleep, in the kernel */

/* eventcount_wake(): bump the epoch, then wake who announced to sleep. */
inline wake(w)
{
#ifdef CLEAR_ON_WAKE
    /* The mistake: the waker takes the announcement back, to spare the next one a system call.
     * It may take back one that was made after its own epoch. */
    epoch[w] = epoch[w] + 1;
    if
    :: atomic { sleeping[w] -> sleeping[w] = false }; in_futex[w] = false
    :: else
    fi
#else
    epoch[w] = epoch[w] + 1;
    if
    :: sleeping[w] -> in_futex[w] = false
    :: else
    fi
#endif
}

/* publish(): after the index was stored, wake the other side if it may sleep. */
inline wake_if_sleeping(w)
{
    if
    :: sleeping[w] -> wake(w)
    :: else
    fi
}

/* futex(FUTEX_WAIT): the kernel compares and goes to sleep in one step. */
inline futex_wait(w, key)
{
    atomic {
        if
        :: epoch[w] == key -> in_futex[w] = true
        :: else
        fi
    };
    !in_futex[w]
}

/* One round of waiting for `ready`, as in the example at the head of ring.h. */
#ifdef LOOK_BEFORE
/* The mistake: what is waited for is looked at before the announcement, not after. */
#define WAIT(w, key, ready)                                     \
    if                                                          \
    :: ready                                                    \
    :: else ->                                                  \
        sleeping[w] = true;                                     \
        key = epoch[w];                                         \
        futex_wait(w, key);                                     \
        sleeping[w] = false                                     \
    fi
#else
#define WAIT(w, key, ready)                                     \
    sleeping[w] = true;                                         \
    key = epoch[w];                                             \
    if                                                          \
    :: ready -> sleeping[w] = false                             \
    :: else ->                                                  \
        futex_wait(w, key);                                     \
        sleeping[w] = false                                     \
    fi
#endif

proctype producer(byte me)
{
    byte key, sent;

    do
    :: sent == ITEMS -> break
    :: else ->
        if
        :: tail[me] - head[me] < SIZE ->
            sent++;
            tail[me] = sent;
            wake_if_sleeping(CONSUMER)
        :: else ->
            WAIT(me, key, tail[me] - head[me] < SIZE)
        fi
    od;
    closed[me] = true;
    wake(CONSUMER)
}

#define THERE(i) (tail[i] != head[i])
#define DONE(i)  (closed[i] && !THERE(i))

proctype consumer()
{
    byte key, i;

    do
    :: DONE(0) && DONE(1) -> break
    :: else ->
        i = 0;
        do
        :: i == PRODUCERS -> break
        :: else ->
            if
            :: THERE(i) ->
                assert(tail[i] - head[i] <= SIZE);
                head[i] = head[i] + 1;
                wake_if_sleeping(i)
            :: else
            fi;
            i++
        od;
        if
        :: DONE(0) && DONE(1) -> break
        :: else
        fi;
        WAIT(CONSUMER, key, THERE(0) || THERE(1) || (closed[0] && closed[1]))
    od;
    assert(head[0] == ITEMS && head[1] == ITEMS)
}

init
{
    atomic {
        run producer(0);
        run producer(1);
        run consumer()
    }
}
