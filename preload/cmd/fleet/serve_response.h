/* SPDX-License-Identifier: MIT */
/*
 * serve_response.h - answers of `guestprof serve`: none is kept by a cache, or taken for another
 * type than it says.
 */
#ifndef PRELOAD_CMD_FLEET_SERVE_RESPONSE_H
#define PRELOAD_CMD_FLEET_SERVE_RESPONSE_H

#include <microhttpd.h>

#include "symtab/base.h"

/* Of SIZE BYTES: taken over if IS_OURS, else they stay. NULL without memory. */
struct MHD_Response *serve_response_new(const void *bytes, size_t size, bool is_ours,
					const char *type);

/*
 * Answers with RESPONSE, which is taken over (NULL: there was no memory), and the headers that
 * STATUS asks for. What libmicrohttpd's access handler returns, as of the two below.
 */
int serve_response_send(struct MHD_Connection *connection, unsigned int status,
			struct MHD_Response *response);

/* TEXT stays; it ends in a newline. */
int serve_response_text(struct MHD_Connection *connection, unsigned int status, const char *text);

/* LINE does not stay, and has no newline. */
int serve_response_line(struct MHD_Connection *connection, unsigned int status, const char *line);

#endif /* PRELOAD_CMD_FLEET_SERVE_RESPONSE_H */
