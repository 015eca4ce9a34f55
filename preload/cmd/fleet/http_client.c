/* SPDX-License-Identifier: MIT */
/* http_client.c - libcurl's easy interface. Threads: one at a time. */
#include "preload/cmd/fleet/http_client.h"

#include "preload/cmd/say.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_MS = 30000, CONNECT_MS = 5000, PROTOCOLS_HTTP = 1 | 2 };

/* curl/curl.h of 7.19.4 and later: the numbers are its ABI. */
enum {
	CURLOPT_PROTOCOLS = 181,
	CURLOPT_TIMEOUT_MS = 155,
	CURLOPT_CONNECTTIMEOUT_MS = 156,
	CURLOPT_NOSIGNAL = 99,
	CURLOPT_WRITEDATA = 10001,
	CURLOPT_URL = 10002,
	CURLOPT_ERRORBUFFER = 10010,
	CURLOPT_POSTFIELDS = 10015,
	CURLOPT_USERAGENT = 10018,
	CURLOPT_HTTPHEADER = 10023,
	CURLOPT_WRITEFUNCTION = 20011,
	CURLOPT_POSTFIELDSIZE_LARGE = 30120,
	CURLINFO_RESPONSE_CODE = 0x200002,
	CURLINFO_RETRY_AFTER = 0x600039, /* since 7.66 */
	CURL_ERROR_SIZE = 256,
};

struct http_client {
	void *library;
	void *easy;
	void *headers; /* struct curl_slist */
	size_t header_count;
	int (*global_init)(long flags);
	void *(*easy_init)(void);
	int (*setopt)(void *easy, int option, ...);
	int (*perform)(void *easy);
	int (*getinfo)(void *easy, int info, ...);
	void (*cleanup)(void *easy);
	const char *(*text)(int error);
	void *(*append)(void *list, const char *text);
	void (*free_list)(void *list);
};

static void *open_library(void)
{
	static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4",
					     "libcurl-nss.so.4" };
	void *library = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(names) && library == NULL; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return library;
}

static bool find_functions(struct http_client *client)
{
	const struct {
		const char *name;
		void *to;
	} functions[] = {
		{ "curl_global_init", &client->global_init },
		{ "curl_easy_init", &client->easy_init },
		{ "curl_easy_setopt", &client->setopt },
		{ "curl_easy_perform", &client->perform },
		{ "curl_easy_getinfo", &client->getinfo },
		{ "curl_easy_cleanup", &client->cleanup },
		{ "curl_easy_strerror", &client->text },
		{ "curl_slist_append", &client->append },
		{ "curl_slist_free_all", &client->free_list },
	};

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		void *found = dlsym(client->library, functions[i].name);

		if (found == NULL)
			return false;
		memcpy(functions[i].to, &found, sizeof(found));
	}
	return client->global_init(3) == 0;
}

struct http_client *http_client_new(void)
{
	struct http_client *client = calloc(1, sizeof(*client));

	if (client == NULL)
		return NULL;
	client->library = open_library();
	if (client->library != NULL && find_functions(client))
		client->easy = client->easy_init();
	if (client->easy != NULL) {
		/* Nothing of ours is sent with "Expect: 100-continue", which some servers do not
		 * answer. */
		http_client_add_header(client, "Expect:");
		return client;
	}
	say_line("push needs libcurl (libcurl.so.4): apt-get install libcurl4");
	http_client_free(client);
	return NULL;
}

void http_client_free(struct http_client *client)
{
	if (client == NULL)
		return;
	if (client->headers != NULL)
		client->free_list(client->headers);
	if (client->easy != NULL)
		client->cleanup(client->easy);
	/* The library stays: TLS libraries have threads and exit handlers of their own. */
	free(client);
}

int http_client_add_header(struct http_client *client, const char *line)
{
	void *headers;

	if (strchr(line, ':') == NULL || strpbrk(line, "\r\n") != NULL ||
	    client->header_count == HTTP_CLIENT_HEADERS_MAX)
		return -EINVAL;
	headers = client->append(client->headers, line);
	if (headers == NULL)
		return -ENOMEM;
	client->headers = headers;
	client->header_count++;
	return 0;
}

/* Keeps the beginning of the answer. */
static size_t take_answer(char *bytes, size_t size, size_t count, void *context)
{
	struct http_answer *answer = context;
	size_t used = strlen(answer->why), room = sizeof(answer->why) - 1 - used;
	size_t taken = size * count < room ? size * count : room;

	for (size_t i = 0; i < taken; i++)
		answer->why[used + i] = bytes[i] == '\0' ? ' ' : bytes[i];
	answer->why[used + taken] = '\0';
	return size * count;
}

bool http_client_post(struct http_client *client, const char *url, const void *body, size_t size,
		      struct http_answer *answer)
{
	char why[CURL_ERROR_SIZE] = "";
	long long retry_after = 0;
	int error;

	*answer = (struct http_answer){ 0 };
	client->setopt(client->easy, CURLOPT_URL, url);
	client->setopt(client->easy, CURLOPT_PROTOCOLS, (long)PROTOCOLS_HTTP);
	client->setopt(client->easy, CURLOPT_NOSIGNAL, 1L);
	client->setopt(client->easy, CURLOPT_TIMEOUT_MS, (long)TIMEOUT_MS);
	client->setopt(client->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	client->setopt(client->easy, CURLOPT_USERAGENT, "guestprof");
	client->setopt(client->easy, CURLOPT_HTTPHEADER, client->headers);
	client->setopt(client->easy, CURLOPT_POSTFIELDSIZE_LARGE, (long long)size);
	client->setopt(client->easy, CURLOPT_POSTFIELDS, body);
	client->setopt(client->easy, CURLOPT_WRITEFUNCTION, take_answer);
	client->setopt(client->easy, CURLOPT_WRITEDATA, answer);
	client->setopt(client->easy, CURLOPT_ERRORBUFFER, why);
	error = client->perform(client->easy);
	if (error != 0) {
		snprintf(answer->why, sizeof(answer->why), "%s",
			 why[0] != '\0' ? why : client->text(error));
		return false;
	}
	client->getinfo(client->easy, CURLINFO_RESPONSE_CODE, &answer->status);
	client->getinfo(client->easy, CURLINFO_RETRY_AFTER, &retry_after);
	answer->retry_after_s =
		retry_after > 0 && retry_after < 3600 ? (unsigned int)retry_after : 0;
	return answer->status >= 200 && answer->status < 300;
}

bool http_client_may_retry(const struct http_answer *answer)
{
	return answer->status == 0 || answer->status == 408 || answer->status == 429 ||
	       answer->status >= 500;
}
