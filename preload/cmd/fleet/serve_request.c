/* SPDX-License-Identifier: MIT */
/* serve_request.c - reads paths, queries and headers. Threads: any. */
#include "preload/cmd/fleet/serve_request.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum serve_page serve_request_page(const char *path)
{
	static const struct {
		const char *path;
		enum serve_page page;
	} pages[] = {
		{ "/", SERVE_INDEX },
		{ "/debug/pprof", SERVE_INDEX },
		{ "/debug/pprof/", SERVE_INDEX },
		{ "/debug/pprof/profile", SERVE_PROFILE },
		{ "/metrics", SERVE_METRICS },
		{ "/sd", SERVE_TARGETS },
		{ "/healthz", SERVE_HEALTH },
	};
	static const char others[] = "/debug/pprof/";

	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		if (strcmp(pages[i].path, path) == 0)
			return pages[i].page;
	}
	return strncmp(path, others, strlen(others)) == 0 ? SERVE_OTHER_PROFILE : SERVE_NOTHING;
}

static int complain(char why[SERVE_WHY_SIZE], const char *text)
{
	snprintf(why, SERVE_WHY_SIZE, "%s", text);
	return -EINVAL;
}

static int take_seconds(struct serve_request *request, const char *value, char why[SERVE_WHY_SIZE])
{
	size_t length = strlen(value);
	unsigned long seconds = length > 0 && length <= 4 ? strtoul(value, NULL, 10) : 0;

	if (strspn(value, "0123456789") != length || seconds < 1 || seconds > SERVE_SECONDS_MAX) {
		snprintf(why, SERVE_WHY_SIZE, "seconds takes a whole number from 1 to %d",
			 SERVE_SECONDS_MAX);
		return -EINVAL;
	}
	/* The same again is no contradiction: Alloy adds it for each target to the parameters that
	 * they share (pyroscope.scrape with params). */
	if (request->seconds != 0 && request->seconds != seconds)
		return complain(why, "seconds is there twice");
	request->seconds = (unsigned int)seconds;
	return 0;
}

static int take_text(const char **to, const char *key, const char *value, char why[SERVE_WHY_SIZE])
{
	if (*to != NULL) {
		snprintf(why, SERVE_WHY_SIZE, "%s is there twice", key);
		return -EINVAL;
	}
	*to = strdup(value);
	return *to != NULL ? 0 : -ENOMEM;
}

static int take_label(struct serve_request *request, const char *value, char why[SERVE_WHY_SIZE])
{
	if (request->label_count == SUBSET_LABELS_MAX) {
		snprintf(why, SERVE_WHY_SIZE, "label at most %d times", SUBSET_LABELS_MAX);
		return -EINVAL;
	}
	if (value[0] == '\0' || value[0] == '=')
		return complain(why, "label takes KEY=VALUE, or KEY");
	return take_text(&request->wish.labels[request->label_count++], "label", value, why);
}

int serve_request_take(struct serve_request *request, const char *key, const char *value,
		       size_t size, char why[SERVE_WHY_SIZE])
{
	struct subset_wish *wish = &request->wish;

	if (value == NULL)
		return complain(why, "each word of the query is KEY=VALUE");
	if (size > SERVE_VALUE_MAX || strlen(value) != size)
		return complain(why, "a value of the query is too long, or has a zero byte");
	if (strcmp(key, "seconds") == 0)
		return take_seconds(request, value, why);
	if (strcmp(key, "label") == 0)
		return take_label(request, value, why);
	if (strcmp(key, "process") == 0)
		return take_text(&wish->process, "process", value, why);
	if (strcmp(key, "group") == 0)
		return take_text(&wish->group, "group", value, why);
	if (strcmp(key, "module") == 0)
		return take_text(&wish->module, "module", value, why);
	if (strcmp(key, "instance") == 0)
		return take_text(&wish->instance, "instance", value, why);
	return complain(why, "the query takes seconds, process, group, module, instance and label");
}

static bool is_same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool serve_request_is_same(const struct serve_request *a, const struct serve_request *b)
{
	for (size_t i = 0; i < SUBSET_LABELS_MAX; i++) {
		if (!is_same_text(a->wish.labels[i], b->wish.labels[i]))
			return false;
	}
	return is_same_text(a->wish.process, b->wish.process) &&
	       is_same_text(a->wish.group, b->wish.group) &&
	       is_same_text(a->wish.module, b->wish.module) &&
	       is_same_text(a->wish.instance, b->wish.instance);
}

static void free_text(const char *text)
{
	free((char *)(uintptr_t)text);
}

void serve_request_free(struct serve_request *request)
{
	for (size_t i = 0; i < SUBSET_LABELS_MAX; i++)
		free_text(request->wish.labels[i]);
	free_text(request->wish.process);
	free_text(request->wish.group);
	free_text(request->wish.module);
	free_text(request->wish.instance);
	*request = (struct serve_request){ 0 };
}

bool serve_request_is_allowed(const char *header, const char *token)
{
	static const char scheme[] = "Bearer ";
	size_t length = strlen(token), given;
	unsigned int difference;

	if (header == NULL || strncasecmp(header, scheme, strlen(scheme)) != 0)
		return false;
	header += strlen(scheme);
	given = strlen(header);
	difference = given != length;
	/* As long as what was given, whatever ours is. */
	for (size_t i = 0; i < given; i++)
		difference |= (unsigned char)(header[i] ^ token[length != 0 ? i % length : 0]);
	return difference == 0 && length != 0;
}

bool serve_request_is_local(const char *host)
{
	char name[64];
	size_t length;
	struct in_addr address;

	if (host == NULL)
		return false;
	if (strncmp(host, "[::1]", 5) == 0)
		return host[5] == '\0' || host[5] == ':';
	length = strcspn(host, ":");
	if (length >= sizeof(name))
		return false;
	memcpy(name, host, length);
	name[length] = '\0';
	return strcasecmp(name, "localhost") == 0 ||
	       (inet_pton(AF_INET, name, &address) == 1 && (ntohl(address.s_addr) >> 24) == 127);
}
