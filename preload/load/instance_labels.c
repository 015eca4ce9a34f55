/* SPDX-License-Identifier: MIT */
/*
 * instance_labels.c - versions of one instance's labels, newest first.
 *
 * A version is immutable, and holds its texts one behind the other: key, value, key, value, each
 * terminated.
 */
#include "preload/load/instance_labels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 16 << 20 };

struct label_version {
	struct label_version *older;
	uint64_t since_ns, number;
	size_t count, size;
	char texts[];
};

static struct {
	uint64_t last_number;
	size_t bytes; /* of all versions there are */
} self;

static void unpack(const struct label_version *version, struct instance_labels *labels)
{
	const char *at = version->texts;

	labels->number = version->number;
	labels->count = version->count;
	for (size_t i = 0; i < version->count; i++) {
		snprintf(labels->rows[i].key, sizeof(labels->rows[i].key), "%s", at);
		at += strlen(at) + 1;
		snprintf(labels->rows[i].value, sizeof(labels->rows[i].value), "%s", at);
		at += strlen(at) + 1;
	}
}

static struct label_version *pack(const struct instance_labels *labels, uint64_t since_ns)
{
	struct label_version *version;
	size_t size = 0;
	char *at;

	for (size_t i = 0; i < labels->count; i++)
		size += strlen(labels->rows[i].key) + strlen(labels->rows[i].value) + 2;
	version = self.bytes + sizeof(*version) + size <= MOST_BYTES
			  ? malloc(sizeof(*version) + size)
			  : NULL;
	if (version == NULL)
		return NULL;
	*version = (struct label_version){
		.since_ns = since_ns,
		.number = ++self.last_number,
		.count = labels->count,
		.size = sizeof(*version) + size,
	};
	at = version->texts;
	for (size_t i = 0; i < labels->count; i++) {
		at = stpcpy(at, labels->rows[i].key) + 1;
		at = stpcpy(at, labels->rows[i].value) + 1;
	}
	self.bytes += version->size;
	return version;
}

void label_versions_free(struct label_version **newest)
{
	struct label_version *version;

	while ((version = *newest) != NULL) {
		*newest = version->older;
		self.bytes -= version->size;
		free(version);
	}
}

/* The one that held at DRAINED_NS is still asked for; those before it are not. */
static void trim(struct label_version *newest, uint64_t drained_ns)
{
	struct label_version *version = newest;

	for (size_t kept = 1; version != NULL; kept++, version = version->older)
		if (version->since_ns <= drained_ns || kept >= INSTANCE_LABEL_VERSIONS_MAX)
			break;
	if (version != NULL)
		label_versions_free(&version->older);
}

/* Puts KEY in its place, or VALUE in its; takes it away when VALUE is "". False: no room. */
static bool change(struct instance_labels *labels, const char *key, const char *value)
{
	size_t at = 0, behind;
	bool is_there;

	while (at < labels->count && strcmp(labels->rows[at].key, key) < 0)
		at++;
	is_there = at < labels->count && strcmp(labels->rows[at].key, key) == 0;
	behind = (labels->count - at) * sizeof(labels->rows[0]);
	if (is_there && *value == '\0') {
		labels->count--;
		memmove(&labels->rows[at], &labels->rows[at + 1], behind - sizeof(labels->rows[0]));
		return true;
	}
	if (*value == '\0')
		return true;
	if (!is_there) {
		if (labels->count == INSTANCE_LABELS_MAX)
			return false;
		labels->count++;
		memmove(&labels->rows[at + 1], &labels->rows[at], behind);
	}
	snprintf(labels->rows[at].key, sizeof(labels->rows[at].key), "%s", key);
	snprintf(labels->rows[at].value, sizeof(labels->rows[at].value), "%s", value);
	return true;
}

/* A host that says the same at every request makes no versions. */
static bool says_already(const struct instance_labels *labels, const char *key, const char *value)
{
	for (size_t i = 0; i < labels->count; i++)
		if (strcmp(labels->rows[i].key, key) == 0)
			return strcmp(labels->rows[i].value, value) == 0;
	return *value == '\0';
}

int label_versions_set(struct label_version **newest, const char *key, const char *value,
		       uint64_t now_ns, uint64_t drained_ns)
{
	struct instance_labels labels = { .number = 0 };
	struct label_version *version;

	if (strlen(key) >= INSTANCE_LABEL_KEY_SIZE || strlen(value) >= INSTANCE_LABEL_VALUE_SIZE)
		return -ENAMETOOLONG;
	if (*newest != NULL)
		unpack(*newest, &labels);
	if (says_already(&labels, key, value))
		return 0;
	if (!change(&labels, key, value))
		return -E2BIG;
	version = pack(&labels, now_ns);
	if (version == NULL)
		return -ENOMEM;
	version->older = *newest;
	*newest = version;
	trim(version, drained_ns);
	return 0;
}

void label_versions_at(const struct label_version *newest, uint64_t time_ns,
		       struct instance_labels *labels)
{
	labels->number = 0;
	labels->count = 0;
	while (newest != NULL && newest->since_ns > time_ns)
		newest = newest->older;
	if (newest != NULL)
		unpack(newest, labels);
}

struct label_version *label_versions_inherit(const struct label_version *from, uint64_t now_ns)
{
	struct instance_labels labels;

	if (from == NULL)
		return NULL;
	unpack(from, &labels);
	return pack(&labels, now_ns);
}
