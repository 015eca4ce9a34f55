/* SPDX-License-Identifier: MIT */
/* serve_response.c - what goes back over HTTP. Threads: any. */
#include "preload/cmd/fleet/serve_response.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct MHD_Response *serve_response_new(const void *bytes, size_t size, bool is_ours,
					const char *type)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		size, (void *)(uintptr_t)bytes,
		is_ours ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);

	if (response == NULL) {
		if (is_ours)
			free((void *)(uintptr_t)bytes);
		return NULL;
	}
	MHD_add_response_header(response, "Content-Type", type);
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "Cache-Control", "no-store");
	return response;
}

int serve_response_send(struct MHD_Connection *connection, unsigned int status,
			struct MHD_Response *response)
{
	int result;

	if (response == NULL)
		return MHD_NO;
	if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
		MHD_add_response_header(response, "Retry-After", "5");
	if (status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow", "GET, HEAD");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

int serve_response_text(struct MHD_Connection *connection, unsigned int status, const char *text)
{
	return serve_response_send(
		connection, status,
		serve_response_new(text, strlen(text), false, "text/plain; charset=utf-8"));
}

int serve_response_line(struct MHD_Connection *connection, unsigned int status, const char *line)
{
	char *text;
	int length = asprintf(&text, "%s\n", line);

	if (length < 0)
		return MHD_NO;
	return serve_response_send(
		connection, status,
		serve_response_new(text, (size_t)length, true, "text/plain; charset=utf-8"));
}
