/* SPDX-License-Identifier: MIT */
/*
 * control.h - the control socket: who may ask, and that nobody keeps our thread from its work.
 *
 * Only when GUESTPROF_CONTROL or GUESTPROF_START=0 asks for it. Served by our thread between its
 * other tasks, in its own descriptor table: nothing blocks, lines and clients are bounded, a silent
 * client is dropped. What a request means is the caller's (control_answer).
 */
#ifndef PRELOAD_CONTROL_CONTROL_H
#define PRELOAD_CONTROL_CONTROL_H

#include <poll.h>
#include <sys/types.h>

#include "preload/base/config.h"
#include "preload/control/protocol.h"
#include "symtab/base.h"

/* Who asks. */
struct control_peer {
	pid_t pid; /* 0: of another pid namespace */
	uid_t uid;
	char name[16]; /* as it calls itself; "" unknown */
};

/* The answer: a line that has been begun and not ended, and what follows it. */
struct control_reply {
	struct protocol_text text;
	uint8_t *bytes; /* free()d after; NULL: FD has them */
	int fd;		/* closed after; 0: none */
	uint64_t size;	/* of either; the line must say so */
};

/* Fills in REPLY, zeroed before. */
typedef void control_answer(const struct protocol_line *request, const struct control_peer *peer,
			    struct control_reply *reply);

/* In the constructor: where the socket will be, by the environment of now. */
void control_configure(const struct config *config);

/* Our thread, once: the socket, if one is asked for. ANSWER is called by control_work(). */
void control_open(control_answer *answer);

/* Takes what clients sent, answers, sends. Never blocks. */
void control_work(uint64_t now_ns);

/* What to wait for; at most MAX. Their number, 0: there is no socket. */
size_t control_descriptors(struct pollfd *descriptors, size_t max);

/* A client waits for bytes that can be sent at once. */
bool control_is_busy(void);

/* When control_work() has to be called even if nothing comes (CLOCK_MONOTONIC ns); UINT64_MAX. */
uint64_t control_next_ns(void);

/* Drops all clients, removes the socket. */
void control_close(void);

/* In the child of a fork: the parent's socket is the parent's. */
void control_fork_child(void);

/* Makes an error of what REPLY holds: its line anew, no bytes. The caller may add pairs. */
void control_refuse(struct control_reply *reply, enum protocol_error what, const char *text);

#endif /* PRELOAD_CONTROL_CONTROL_H */
