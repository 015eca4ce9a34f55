/* SPDX-License-Identifier: MIT */
/* fleet.c - directories and sockets together. Threads: one at a time, see fleet.h. */
#include "preload/cmd/fleet/fleet.h"

#include "preload/cmd/fleet/fleet_files.h"
#include "preload/cmd/fleet/fleet_sockets.h"
#include "preload/cmd/say.h"
#include "preload/read/merge.h"
#include "preload/read/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define SECOND_NS ((uint64_t)1000 * 1000 * 1000)

struct fleet {
	struct census *census;
	pthread_mutex_t *lock;
	const char *directories[FLEET_DIRECTORIES_MAX];
	bool has_failed[FLEET_DIRECTORIES_MAX]; /* and it was said */
	size_t directory_count;
	struct fleet_files files;
	struct fleet_sockets sockets;
	uint64_t scanned_ns;
};

static uint64_t now_unix_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

struct fleet *fleet_new(struct census *census, pthread_mutex_t *lock)
{
	struct fleet *fleet = calloc(1, sizeof(*fleet));

	if (fleet == NULL)
		return NULL;
	fleet->census = census;
	fleet->lock = lock;
	fleet->files.start_ns = now_unix_ns();
	return fleet;
}

void fleet_free(struct fleet *fleet)
{
	if (fleet == NULL)
		return;
	fleet_files_free(&fleet->files);
	fleet_sockets_free(&fleet->sockets);
	free(fleet);
}

int fleet_add_directory(struct fleet *fleet, const char *path)
{
	struct stat about;

	if (fleet->directory_count == FLEET_DIRECTORIES_MAX)
		return -E2BIG;
	if (stat(path, &about) != 0)
		return -errno;
	if (!S_ISDIR(about.st_mode))
		return -ENOTDIR;
	fleet->directories[fleet->directory_count++] = path;
	return 0;
}

int fleet_add_socket(struct fleet *fleet, const char *path)
{
	return fleet_sockets_add(&fleet->sockets, path, true);
}

static void scan(struct fleet *fleet, uint64_t now_ns)
{
	for (size_t i = 0; i < fleet->directory_count; i++) {
		const char *directory = fleet->directories[i];
		int error = fleet_files_scan(&fleet->files, directory);

		if (error == 0)
			error = fleet_sockets_scan(&fleet->sockets, directory);
		if (error != 0 && !fleet->has_failed[i])
			say_line("%s: %s", directory, strerror(-error));
		fleet->has_failed[i] = error != 0;
	}
	fleet_files_forget(&fleet->files, now_ns);
}

void fleet_poll(struct fleet *fleet, uint64_t now_ns)
{
	/* Also when the clock was set back. */
	bool is_turn = now_ns - fleet->scanned_ns >= SECOND_NS || now_ns < fleet->scanned_ns;

	if (is_turn)
		scan(fleet, now_ns);
	fleet_files_read(&fleet->files, fleet->census, fleet->lock, now_ns);
	if (!is_turn)
		return;
	fleet_sockets_ask(&fleet->sockets, &fleet->files, fleet->census, fleet->lock, now_ns);
	pthread_mutex_lock(fleet->lock);
	census_turn(fleet->census, now_ns);
	pthread_mutex_unlock(fleet->lock);
	fleet->scanned_ns = now_ns;
}

uint64_t fleet_dropped(const struct fleet *fleet)
{
	return fleet->files.dropped;
}

/* ---- windows --------------------------------------------------------------------------------- */

struct parts {
	struct recording **list;
	size_t count, room;
};

/* What cannot be read is told, and left out: one process's damage is not another's. */
static int add_part(void *context, const char *key, const struct pb_writer *bytes)
{
	struct parts *parts = context;
	struct recording *recording;
	char *why = NULL;

	if (rows_reserve(&parts->list, &parts->room, parts->count, sizeof(struct recording *)) != 0)
		return -ENOMEM;
	recording = recording_parse(key, bytes->bytes, bytes->size, &why);
	if (recording == NULL)
		say_line("%s", why != NULL ? why : strerror(ENOMEM));
	else
		parts->list[parts->count++] = recording;
	free(why);
	return 0;
}

/* As a profile of nobody: types, and no samples. */
static struct recording *make_empty(void)
{
	static const char *const strings[] = { "", "samples", "count", "cpu", "nanoseconds" };
	struct pb_writer bytes = { 0 };
	struct recording *recording = NULL;
	char *why = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
		pb_string(&bytes, 6, strings[i]);
	for (uint64_t type = 1; type <= 3; type += 2) {
		size_t mark = pb_begin(&bytes, 1);

		pb_varint(&bytes, 1, type);
		pb_varint(&bytes, 2, type + 1);
		pb_end(&bytes, mark);
	}
	if (bytes.error == 0)
		recording = recording_parse("", bytes.bytes, bytes.size, &why);
	free(why);
	pb_free(&bytes);
	return recording;
}

static struct recording *join(struct parts *parts)
{
	struct recording *joined;

	if (parts->count == 0)
		return make_empty();
	if (parts->count == 1)
		return parts->list[--parts->count];
	joined = recording_merge(parts->list, parts->count);
	if (joined == NULL)
		say_line("%zu processes: %s", parts->count, strerror(errno));
	return joined;
}

struct recording *fleet_window(struct fleet *fleet, uint64_t from_ns, uint64_t to_ns)
{
	struct parts parts = { 0 };
	struct recording *recording = NULL;
	int error = fleet_files_window(&fleet->files, from_ns, to_ns, add_part, &parts);

	if (error == 0)
		error = fleet_sockets_window(&fleet->sockets, from_ns, to_ns, now_unix_ns(),
					     add_part, &parts);
	if (error == 0)
		recording = join(&parts);
	if (recording != NULL) {
		recording->time_unix_ns = from_ns;
		recording->duration_ns = to_ns - from_ns;
	}
	for (size_t i = 0; i < parts.count; i++)
		recording_free(parts.list[i]);
	free(parts.list);
	return recording;
}
