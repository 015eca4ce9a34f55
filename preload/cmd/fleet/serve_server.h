/* SPDX-License-Identifier: MIT */
/*
 * serve_server.h - the HTTP side of `guestprof serve`: libmicrohttpd, for the reasons in
 * view_server.h.
 *
 * What is cheap is answered at once, from the census. A profile waits until its window is over: its
 * connection sleeps, and whoever calls serve_server_take() answers it, at best many at a time.
 *
 * A window is of whole seconds and ends a second before it is answered, because processes write
 * once a second: who asks within one second for as many seconds gets the same one.
 *
 * Threads: one of libmicrohttpd's, between start and stop, which takes no signals, and the
 * caller's.
 */
#ifndef PRELOAD_CMD_FLEET_SERVE_SERVER_H
#define PRELOAD_CMD_FLEET_SERVE_SERVER_H

#include <pthread.h>

#include "preload/cmd/fleet/serve_request.h"
#include "preload/read/census.h"

enum { SERVE_WAITING_MAX = 256, SERVE_CONNECTIONS_MAX = 600 };

struct serve_waiter {
	struct serve_request request;
	uint64_t from_ns, to_ns; /* the window, CLOCK_REALTIME */
	uint64_t due_ns;	 /* CLOCK_MONOTONIC */
	struct serve_waiter *next;
	struct serve_private *own;
};

struct serve_server;

/*
 * Listens at LISTEN_FD, which it owns from here on. Tells of CENSUS under LOCK. TOKEN: what every
 * request but /healthz must bring; NULL: requests must have a Host of this machine instead, so that
 * a page elsewhere whose name is made to lead here gets nothing. NULL with errno set.
 */
struct serve_server *serve_server_start(int listen_fd, struct census *census, pthread_mutex_t *lock,
					const char *token);

/* Those whose time has come at NOW_NS (CLOCK_MONOTONIC), as a list; each must be answered. */
struct serve_waiter *serve_server_take(struct serve_server *server, uint64_t now_ns);

/* BYTES, which are taken over, or NULL: out of memory. COUNT waiters get the same ones. */
void serve_server_answer(struct serve_server *server, struct serve_waiter **waiters, size_t count,
			 uint8_t *bytes, size_t size);

/* For /metrics. */
void serve_server_set_dropped(struct serve_server *server, uint64_t dropped);

/* Turns those away who wait, ends all connections. NULL is allowed. */
void serve_server_stop(struct serve_server *server);

#endif /* PRELOAD_CMD_FLEET_SERVE_SERVER_H */
