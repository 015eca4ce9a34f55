/* SPDX-License-Identifier: MIT */
/*
 * http_client.h - sends a body to a server of HTTP or HTTPS, by libcurl.
 *
 * libcurl (its ABI of libcurl.so.4, unchanged since 2006) is opened when it is used: TLS, proxies
 * and certificates are its business, every other subcommand starts without it, and guestprof runs
 * where it is not there.
 */
#ifndef PRELOAD_CMD_FLEET_HTTP_CLIENT_H
#define PRELOAD_CMD_FLEET_HTTP_CLIENT_H

#include "symtab/base.h"

struct http_client;

enum { HTTP_CLIENT_HEADERS_MAX = 16, HTTP_CLIENT_WHY_SIZE = 256 };

/* NULL after having said that there is no libcurl, or no memory. */
struct http_client *http_client_new(void);
void http_client_free(struct http_client *client);

/* "Name: value", sent with every request. 0, -ENOMEM, -EINVAL: no header, or too many. */
int http_client_add_header(struct http_client *client, const char *line);

struct http_answer {
	long status;			/* of HTTP; 0: there was none */
	unsigned int retry_after_s;	/* 0: it did not say */
	char why[HTTP_CLIENT_WHY_SIZE]; /* what went wrong, or how the answer begins */
};

/* POST, 30 s at most. True: the server took it (2xx). */
bool http_client_post(struct http_client *client, const char *url, const void *body, size_t size,
		      struct http_answer *answer);

/* May the same succeed later: no connection, 408, 429, 5xx? */
bool http_client_may_retry(const struct http_answer *answer);

#endif /* PRELOAD_CMD_FLEET_HTTP_CLIENT_H */
