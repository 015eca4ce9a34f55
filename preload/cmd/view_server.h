/* SPDX-License-Identifier: MIT */
/*
 * view_server.h - shows files that are in memory to browsers on this machine, over HTTP.
 *
 * Listens on 127.0.0.1 only, on a port that the kernel chooses. An address holds a random token,
 * without which nothing is told; and a request must name 127.0.0.1 or localhost with the port as
 * its Host, so that a page elsewhere whose name is made to lead here (DNS rebinding) gets nothing.
 * GET and HEAD only; a page of one other origin may read a file if the file says so (CORS).
 *
 * libmicrohttpd serves: what parses requests of anybody on the machine should not be written twice,
 * nor by us. It bounds a request's size and time and the number of connections, and it costs 1.1 ms
 * at the start of the command (its TLS library is loaded, and never used).
 *
 * Threads: one of libmicrohttpd's, between start and stop; it takes no signals.
 */
#ifndef PRELOAD_CMD_VIEW_SERVER_H
#define PRELOAD_CMD_VIEW_SERVER_H

#include "symtab/base.h"

enum { VIEW_SERVER_FILES_MAX = 4 };

struct view_file {
	const char *name;   /* last part of its address */
	const char *type;   /* Content-Type */
	const char *origin; /* whose pages may read it: "https://..."; NULL: none */
	const void *bytes;  /* until view_server_stop() */
	size_t size;
};

struct view_server;

/* COUNT FILES, 1 to VIEW_SERVER_FILES_MAX; borrowed until the stop. NULL with errno set. */
struct view_server *view_server_start(const struct view_file *files, size_t count);

/* http://127.0.0.1:PORT/TOKEN/NAME of FILES[INDEX] (caller frees); NULL without memory. */
char *view_server_address(const struct view_server *server, size_t index);

/* A descriptor that can be read when a file was fetched whole; it is the server's. */
int view_server_fd(const struct view_server *server);

/* Was every file fetched whole? Makes view_server_fd() wait for the next. */
bool view_server_is_done(struct view_server *server);

/* Ends all connections. NULL is allowed. */
void view_server_stop(struct view_server *server);

#endif /* PRELOAD_CMD_VIEW_SERVER_H */
