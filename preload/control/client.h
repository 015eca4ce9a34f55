/* SPDX-License-Identifier: MIT */
/*
 * client.h - one connection to the control socket: a line in, a line and bytes out.
 *
 * Our thread only. Nothing blocks.
 */
#ifndef PRELOAD_CONTROL_CLIENT_H
#define PRELOAD_CONTROL_CLIENT_H

#include "preload/control/control.h"

struct client {
	int fd;
	struct control_peer peer;
	uint64_t last_ns; /* when something came or went, CLOCK_MONOTONIC */
	char in[PROTOCOL_REQUEST_MAX];
	size_t in_size;
	struct control_reply reply; /* being sent, if has_reply */
	bool has_reply;
	bool is_last; /* closed behind this reply */
	uint64_t line_sent, bytes_sent;
};

/* Takes FD over. NULL without memory: FD is closed. */
struct client *client_new(int fd, uint64_t now_ns);

/* FORKED: its descriptors are not in the table of the calling thread. */
void client_free(struct client *client, bool forked);

/* The peer may ask: the host's own user, root, or a member of GID (-1: none). */
bool client_is_allowed(const struct client *client, int64_t gid);

/*
 * Reads, answers and sends as far as it goes. False: the connection is over.
 */
bool client_work(struct client *client, control_answer *answer, uint64_t now_ns);

#endif /* PRELOAD_CONTROL_CLIENT_H */
