/* SPDX-License-Identifier: MIT */
/*
 * serve_request.h - what a request to `guestprof serve` asks for. Its words are anybody's.
 */
#ifndef PRELOAD_CMD_FLEET_SERVE_REQUEST_H
#define PRELOAD_CMD_FLEET_SERVE_REQUEST_H

#include "preload/read/subset.h"

enum serve_page {
	SERVE_NOTHING, /* there is no such page */
	SERVE_INDEX,
	SERVE_PROFILE,
	SERVE_OTHER_PROFILE, /* one that Go programs have and guests have not */
	SERVE_METRICS,
	SERVE_TARGETS,
	SERVE_HEALTH,
};

enum {
	SERVE_SECONDS_DEFAULT = 30, /* as of Go's own handler */
	SERVE_SECONDS_MAX = 300,
	SERVE_VALUE_MAX = 1024,
	SERVE_WHY_SIZE = 160,
};

/* A profile that is asked for. Zeroed memory is: everything, for the default time. */
struct serve_request {
	unsigned int seconds;
	struct subset_wish wish; /* texts are owned: serve_request_free() */
	size_t label_count;
};

enum serve_page serve_request_page(const char *path);

/*
 * Takes the pair KEY=VALUE of a query, decoded, VALUE being SIZE bytes and terminated; NULL: there
 * was no =. 0; -EINVAL with one line for people in WHY; -ENOMEM.
 */
int serve_request_take(struct serve_request *request, const char *key, const char *value,
		       size_t size, char why[SERVE_WHY_SIZE]);

/* Do both ask for the same samples? */
bool serve_request_is_same(const struct serve_request *a, const struct serve_request *b);
void serve_request_free(struct serve_request *request);

/* Is HEADER, of Authorization, `Bearer TOKEN`? In a time that does not tell where they differ. */
bool serve_request_is_allowed(const char *header, const char *token);

/* Does HOST, of the header, name this machine from within: localhost, 127.x.x.x, [::1]? */
bool serve_request_is_local(const char *host);

#endif /* PRELOAD_CMD_FLEET_SERVE_REQUEST_H */
