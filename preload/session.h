/* SPDX-License-Identifier: MIT */
/*
 * session.h - when samples are taken: from the first guest on, or from a `start` to a `stop`.
 *
 *   no guest yet --first guest, if wanted--> runs --stop, or its time is over--> rests --start-->
 * ...
 *        \-------first guest, not wanted (GUESTPROF_START=0)------------------>/
 *
 * Each session is a recording of its own.
 */
#ifndef PRELOAD_SESSION_H
#define PRELOAD_SESSION_H

#include "preload/base/config.h"
#include "symtab/base.h"

enum { SESSION_BY_SIZE = 80 };

struct session {
	bool is_wanted; /* runs, or will with the first guest */
	bool runs;	/* samples are being taken */
	bool has_guest; /* a module was seen */
	uint32_t hz;
	enum stacks stacks;
	uint64_t duration_ns;	  /* then it stops by itself; 0: never */
	uint64_t since_unix_ns;	  /* of the wish */
	char by[SESSION_BY_SIZE]; /* who started it: "GUESTPROF_START", or a name, pid and user */
};

/* In the constructor. */
void session_configure(const struct config *config);

/* The first guest module was seen, on whatever thread: to be called once. Keeps errno. */
void session_first_guest(void);

/*
 * Our thread: starts a session as WISH says (hz, stacks, duration_ns, by). 0; -EALREADY when one is
 * wanted or runs, -ESHUTDOWN when the process ends, or what sampler_start() says.
 */
int session_start(const struct session *wish);

/* Our thread: ends it; the recording is finished. 0, or -EALREADY when there is none. */
int session_stop(void);

/* Our thread, at each turn: stops a session whose time is over. */
void session_work(uint64_t now_ns);

/* Our thread: when session_work() wants to be called (CLOCK_MONOTONIC ns), UINT64_MAX: never. */
uint64_t session_next_ns(void);

/* Any thread; a copy. */
struct session session_now(void);

/* The process ends: no more samples, and no other session. Any thread. Does not wait for a lock. */
void session_end(void);

void session_fork_child(void);

#endif /* PRELOAD_SESSION_H */
