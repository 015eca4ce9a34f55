/* SPDX-License-Identifier: MIT */
/*
 * fleet_sockets.h - processes that write no file that is watched, by their control sockets.
 *
 * They are asked several at a time. A process that does not answer within FLEET_PATIENCE_S, or
 * makes no sense, is left alone for a while, FLEET_REST_S in the end. Where one has ended another
 * may begin: it is told of under its own name.
 */
#ifndef PRELOAD_CMD_FLEET_FLEET_SOCKETS_H
#define PRELOAD_CMD_FLEET_FLEET_SOCKETS_H

#include "preload/cmd/fleet/fleet_files.h"

enum { FLEET_PATIENCE_S = 2, FLEET_REST_S = 60, FLEET_ASKED_S = 2 };

struct fleet_socket;

struct fleet_sockets {
	struct fleet_socket *rows; /* owned */
	size_t count, room;
};

void fleet_sockets_free(struct fleet_sockets *sockets);

/* 0, -ENOMEM, -E2BIG; one that is there already is no error. STAYS: it was named by the user. */
int fleet_sockets_add(struct fleet_sockets *sockets, const char *path, bool stays);

/* Adds those in DIRECTORY. 0 or negative errno. */
int fleet_sockets_scan(struct fleet_sockets *sockets, const char *directory);

/* Asks those whose turn it is what they counted, for CENSUS under LOCK, unless FILES have it. */
void fleet_sockets_ask(struct fleet_sockets *sockets, const struct fleet_files *files,
		       struct census *census, pthread_mutex_t *lock, uint64_t now_ns);

/* As fleet_files_window(), of those that no file tells of. NOW_NS is after TO_NS. */
int fleet_sockets_window(
	struct fleet_sockets *sockets, uint64_t from_ns, uint64_t to_ns, uint64_t now_ns,
	int (*visit)(void *context, const char *key, const struct pb_writer *bytes), void *context);

#endif /* PRELOAD_CMD_FLEET_FLEET_SOCKETS_H */
