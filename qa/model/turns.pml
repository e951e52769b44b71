/* SPDX-License-Identifier: GPL-2.0-or-later */
/* turns.pml - who waits for whom before he touches what flows share (src/sequencer.h), for the
 * model checker spin.
 *
 * One dealer, THREADS that inspect, each with room for one packet. Every way is tried to give
 * PACKETS packets hosts and threads, and to let one flow of one or two packets time out between
 * them. A packet touches what belongs to its hosts, or to all, or nothing. How far a thread is it
 * says when somebody waits for anybody, with each packet done, and when it is nudged while idle.
 * The repeated nudge is one that stays until the wait is over. Sleeping and waking is ring.pml's.
 *
 * Checked over every interleaving: what belongs to a host, or to all, is touched in the order of
 * the places; nobody waits for ever (that would be an invalid end state).
 *
 * Each of the defines tried by the run script builds in a mistake, which must be found. */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef PACKETS
#define PACKETS 4
#endif
#define HOSTS 2
#ifndef HOST_SETS
#define HOST_SETS 3                         /* one host, the other, both */
#endif
#define PLACE(i) (2 * (i) + 2)              /* of packets; flows time out at odd places */
#define END 250
#define NONE 99
/* So far ahead a thread tells where flows will end: what times out sooner is told at once. */
#ifndef LEAD
#define LEAD 3
#endif

/* The capture, chosen at the start. */
byte thread_of[PACKETS];
byte hosts_of[PACKETS];                     /* bits */
#define SHARES_HOSTS 0
#define SHARES_ALL 1
#define SHARES_NOTHING 2
byte odd_one = NONE, odd_kind;              /* all but this packet touch what is their hosts' */
#define KIND(i) ((i) == odd_one -> odd_kind : SHARES_HOSTS)
byte flow_first = NONE, flow_second = NONE; /* packets of the flow that times out */
byte flow_lasts;                            /* behind its last packet */

/* The dealer's. */
byte newest[HOSTS], elsewhere[HOSTS], met_by[HOSTS];
byte after[PACKETS];                        /* packet.hosts_after */
byte dealt;
byte slot[THREADS];                         /* packet + 1; 0: empty */
bool all_dealt;

/* A thread's. */
byte mark[THREADS], told[THREADS], last[THREADS * HOSTS];
byte nudges[THREADS];                       /* by who waits for it now */
byte waiting;

/* What is shared: the place of who touched it last. */
byte host_touched[HOSTS], all_touched;

inline touch_hosts(bits, place)
{
    d_step {
        assert(!(bits & 1) || host_touched[0] <= place);
        assert(!(bits & 2) || host_touched[1] <= place);
        if :: bits & 1 -> host_touched[0] = place :: else fi;
        if :: bits & 2 -> host_touched[1] = place :: else fi
    }
}

inline touch_all(place)
{
    d_step { assert(all_touched <= place); all_touched = place }
}

/* --- src/packet/turn.c --- */

inline reached(place)
{
    d_step {
        if
        :: mark[me] < place -> mark[me] = place
        :: else
        fi
    }
}

/* One step but where it waits: marks only grow, so that it is the same when each is looked at. */
inline wait_for_all(place)
{
    atomic {
        other = 0;
        do
        :: other == THREADS -> break
        :: other < THREADS ->
            if
            :: other != me && mark[other] < place ->
                waiting++;
                nudges[other]++;
                mark[other] >= place;
                waiting--;
                nudges[other]--
            :: else
            fi;
            other++
        od
    }
}

inline take(place)
{
#ifndef SILENT
    reached(place);
#endif
    wait_for_all(place)
}

#define LATER(a, b) ((a) > (b) -> (a) : (b))

/* To `behind`: the place behind all that others have told of these hosts. */
inline behind_others(i)
{
    d_step { behind = after[i]; other = 0 };
    do
    :: other == THREADS -> break
    :: other == me -> other++
    :: other != me && other < THREADS ->
        if
        :: told[other] <= PLACE(i) -> behind = PLACE(i); break
        :: else
        fi;
        d_step {
            ends = 0;
            if :: hosts_of[i] & 1 -> ends = last[other * HOSTS] + 1 :: else fi;
            if :: hosts_of[i] & 2 -> ends = LATER(ends, last[other * HOSTS + 1] + 1) :: else fi
        };
        behind = LATER(behind, ends);
        other++
    od
}

inline take_hosts(i)
{
    before = 0;
#ifndef SILENT
    reached(PLACE(i));
#endif
    do
    :: true ->
        behind_others(i);
        if
        :: behind >= PLACE(i) -> wait_for_all(PLACE(i)); break
        :: behind == before -> break
        :: else
        fi;
        wait_for_all(behind);
#ifdef ASK_ONCE
        break;      /* the mistake: what was waited for may have put off the end of a flow */
#endif
        before = behind
    od
}

/* --- a thread that follows and inspects flows --- */

inline tell_end()
{
    d_step {
        if
        :: hosts_of[flow_first] & 1 -> last[me * HOSTS] = LATER(last[me * HOSTS], flow_end)
        :: else
        fi;
        if
        :: hosts_of[flow_first] & 2 -> last[me * HOSTS + 1] = LATER(last[me * HOSTS + 1], flow_end)
        :: else
        fi
    }
}

/* The stream's half has come to this place. */
inline foretell(place)
{
#ifdef TOLD_FIRST
    told[me] = place + LEAD;    /* the mistake: said before it is true */
#endif
    if
    :: flow_end != 0 && flow_end < place + LEAD -> tell_end()
    :: else
    fi;
#ifndef TOLD_FIRST
    told[me] = place + LEAD
#endif
}

/* What times out before this place. */
inline pass(place)
{
    if
    :: flow_end != 0 && flow_end < place ->
        take(flow_end);
        touch_hosts(hosts_of[flow_first], flow_end);
        flow_end = 0
    :: else
    fi
}

inline see_flow(i)
{
    d_step {
        if
        :: i == flow_first || i == flow_second -> flow_end = PLACE(i) + flow_lasts
        :: else
        fi
    }
}

inline inspect(i)
{
    pass(PLACE(i));
    see_flow(i);
    foretell(PLACE(i));
    if
    :: waiting > 0 -> reached(PLACE(i))
    :: else
    fi;
    if
    :: KIND(i) == SHARES_HOSTS -> take_hosts(i); touch_hosts(hosts_of[i], PLACE(i))
    :: KIND(i) == SHARES_ALL -> take(PLACE(i)); touch_all(PLACE(i))
    :: else
    fi;
    reached(PLACE(i));
    at = PLACE(i)
}

/* What has been dealt is looked at before the ring: when nothing is left there, nothing that was
 * dealt by then is. */
inline answer_nudge()
{
#ifdef RING_FIRST
    is_idle = slot[me] == 0;        /* the mistake: the other way round */
    upto = dealt;
#else
    upto = dealt;
    is_idle = slot[me] == 0;
#endif
    if
    :: is_idle && upto > at ->
        pass(upto);
        foretell(upto);
        reached(upto);
        at = upto
    :: else
    fi;
    d_step { forget() }
}

/* Or states would differ that do not. */
inline forget()
{
    is_idle = false;
    packet = 0; upto = 0; other = 0; before = 0; behind = 0; ends = 0
}

proctype thread(byte me)
{
    byte at, flow_end, upto, other, before, behind, ends, packet;
    bool is_idle;

    do
    :: slot[me] != 0 ->
        packet = slot[me] - 1;
        inspect(packet);
        d_step { slot[me] = 0; forget() }
#ifndef NO_NUDGE
    :: slot[me] == 0 && nudges[me] > 0 && dealt > at -> answer_nudge()
#endif
    :: all_dealt && slot[me] == 0 -> break
    od;
    pass(PLACE(PACKETS));
    mark[me] = END
}

/* --- the dealer: src/engine/handoff.c --- */

/* The newest before, on another thread. */
inline meet(host, i)
{
    if
    :: hosts_of[i] & (1 << host) ->
#ifndef FORGETS
        if
        :: met_by[host] != thread_of[i] ->
            elsewhere[host] = newest[host];
            met_by[host] = thread_of[i]
        :: else
        fi;
        newest[host] = PLACE(i);
#else
        /* The mistake: only the newest is known, whosever it is. */
        elsewhere[host] = (met_by[host] != thread_of[i] -> newest[host] : 0);
        met_by[host] = thread_of[i];
        newest[host] = PLACE(i);
#endif
        after[i] = LATER(after[i], elsewhere[host] + 1)
    :: else
    fi
}

proctype dealer()
{
    byte i;

    do
    :: i == PACKETS -> break
    :: i < PACKETS ->
        d_step { meet(0, i); meet(1, i) };
        dealt = PLACE(i);           /* this far, should it have to wait for room */
        slot[thread_of[i]] == 0;
        slot[thread_of[i]] = i + 1;
        i++
    od;
    all_dealt = true
}

/* --- every capture --- */

inline choose_packets()
{
    i = 0;
    do
    :: i == PACKETS -> break
    :: i < PACKETS ->
        /* threads by the order in which they come up: the others are the same but for names */
        select(t : 0 .. seen);
        thread_of[i] = t;
        if
        :: t == seen && seen < THREADS - 1 -> seen++
        :: else
        fi;
        select(t : 1 .. HOST_SETS);
        hosts_of[i] = t;
        i++;
        if
        :: hosts_of[0] == 2 -> goto nothing_new     /* as if it were the first host's */
        :: else
        fi
    od;
#ifdef ODD
    select(odd_one : 0 .. PACKETS - 1);
    select(odd_kind : SHARES_ALL .. SHARES_NOTHING)
#endif
}

/* A second packet is one of the same flow, before that has timed out. */
inline choose_flow()
{
#ifdef ENDS
    select(flow_first : 0 .. PACKETS - 2);
    t = flow_first + 1;
    if
    :: flow_lasts = 1
    :: flow_lasts = 5
    :: thread_of[t] == thread_of[flow_first] && hosts_of[t] == hosts_of[flow_first] ->
        flow_lasts = 5;
        flow_second = t
    fi
#else
    skip
#endif
}

init {
    byte i, t, seen;

    atomic {
        choose_packets();
        choose_flow();
        run dealer();
        i = 0;
        do
        :: i == THREADS -> break
        :: i < THREADS -> run thread(i); i++
        od;
    nothing_new:
        i = 0; t = 0; seen = 0
    }
}
