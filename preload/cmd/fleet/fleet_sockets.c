/* SPDX-License-Identifier: MIT */
/* fleet_sockets.c - asks processes for what they recorded. Threads: one at a time. */
#include "preload/cmd/fleet/fleet_sockets.h"

#include "preload/cmd/fleet/askers.h"
#include "preload/cmd/fleet/fleet.h"
#include "preload/cmd/live/counting.h"
#include "preload/cmd/live/dialogue.h"
#include "preload/cmd/live/processes.h"
#include "preload/read/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SECOND_NS ((uint64_t)1000 * 1000 * 1000)
#define PATIENCE_NS (FLEET_PATIENCE_S * SECOND_NS)

struct fleet_socket {
	char *path, *key; /* key: NULL: not known yet */
	uint64_t pid;	  /* that the key is of */
	bool stays, has_file;
	uint64_t next_ns; /* when to ask again */
	uint64_t rest_s;  /* until then, as it did not answer; 0: it did */
	uint64_t chunk;	  /* the first one that was not told; 0: none was */
	struct counting counting;
};

static void free_socket(struct fleet_socket *row)
{
	free(row->path);
	free(row->key);
	counting_free(&row->counting);
}

void fleet_sockets_free(struct fleet_sockets *sockets)
{
	for (size_t i = 0; i < sockets->count; i++)
		free_socket(&sockets->rows[i]);
	free(sockets->rows);
	*sockets = (struct fleet_sockets){ 0 };
}

int fleet_sockets_add(struct fleet_sockets *sockets, const char *path, bool stays)
{
	struct fleet_socket row = { .stays = stays };

	for (size_t i = 0; i < sockets->count; i++) {
		if (strcmp(sockets->rows[i].path, path) == 0)
			return 0;
	}
	if (sockets->count == FLEET_SOCKETS_MAX)
		return -E2BIG;
	row.path = strdup(path);
	if (row.path == NULL ||
	    rows_reserve(&sockets->rows, &sockets->room, sockets->count, sizeof(row)) != 0) {
		free(row.path);
		return -ENOMEM;
	}
	sockets->rows[sockets->count++] = row;
	return 0;
}

static void forget_gone(struct fleet_sockets *sockets)
{
	size_t kept = 0;
	struct stat about;

	for (size_t i = 0; i < sockets->count; i++) {
		if (!sockets->rows[i].stays && lstat(sockets->rows[i].path, &about) != 0)
			free_socket(&sockets->rows[i]);
		else
			sockets->rows[kept++] = sockets->rows[i];
	}
	sockets->count = kept;
}

int fleet_sockets_scan(struct fleet_sockets *sockets, const char *directory)
{
	struct processes found = { 0 };
	int error = processes_add_directory(&found, directory);

	forget_gone(sockets);
	for (size_t i = 0; i < found.count && error == 0; i++)
		error = fleet_sockets_add(sockets, found.rows[i].socket, false);
	processes_free(&found);
	return error == -E2BIG ? 0 : error;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static int say_request(struct dialogue *dialogue, const char *word, const char *key, uint64_t value)
{
	struct protocol_text request;
	int error;

	protocol_begin(&request, word);
	if (value != 0)
		protocol_add_number(&request, key, value);
	error = dialogue_ask(dialogue, &request);
	if (error != 0)
		return error;
	if (dialogue_is_error(dialogue, PROTOCOL_NOTHING))
		return -ENODATA;
	return dialogue_is_ok(dialogue) ? 0 : -EPROTO;
}

/* Who answers: another process may have come to where one has ended, and counts from its start. */
static int note_process(struct fleet_socket *row, const struct dialogue *dialogue)
{
	uint64_t pid = dialogue_number(dialogue, "pid");

	if (row->key != NULL && pid == row->pid)
		return 0;
	free(row->key);
	row->chunk = 0;
	row->pid = pid;
	if (asprintf(&row->key, "%s.%" PRIu64, dialogue_text(dialogue, "program"), pid) >= 0)
		return 0;
	row->key = NULL;
	return -ENOMEM;
}

static int reach(struct fleet_socket *row, struct dialogue *dialogue)
{
	int error = dialogue_open_for(dialogue, row->path, FLEET_PATIENCE_S);

	if (error != 0)
		return error;
	error = say_request(dialogue, "status", "", 0);
	if (error == 0)
		error = note_process(row, dialogue);
	if (error != 0)
		dialogue_close(dialogue);
	return error;
}

/* What WORD is answered with, as a feed (feed_free()); NULL with *ERROR. */
static struct feed *ask_feed(struct dialogue *dialogue, const char *word, const char *key,
			     uint64_t value, int *error)
{
	struct feed *feed = NULL;
	uint8_t *bytes = NULL;
	size_t size = 0, taken;

	*error = say_request(dialogue, word, key, value);
	if (*error == 0)
		*error = dialogue_read_all(dialogue, &bytes, &size);
	if (*error == 0) {
		feed = feed_new();
		*error = feed != NULL ? feed_take(feed, bytes, size, &taken) : -ENOMEM;
	}
	free(bytes);
	if (*error == 0)
		return feed;
	feed_free(feed);
	return NULL;
}

/* ---- counting -------------------------------------------------------------------------------- */

/* An answer counts from the chunk that it begins with, but for instances, which are all there were.
 */
static void tell(struct fleet_socket *row, struct feed *feed, struct census *census,
		 pthread_mutex_t *lock, uint64_t now_ns)
{
	for (size_t i = 0; i < feed_group_count(feed); i++) {
		struct feed_group *group = feed_group(feed, i);

		if (row->chunk != 0)
			group->told.instances_created = group->counters.instances_created;
	}
	pthread_mutex_lock(lock);
	counting_tell(&row->counting, feed, row->key, census, now_ns);
	pthread_mutex_unlock(lock);
	counting_free(&row->counting);
}

static int ask_one(struct fleet_socket *row, const struct fleet_files *files, struct census *census,
		   pthread_mutex_t *lock, uint64_t now_ns)
{
	struct dialogue *dialogue = malloc(sizeof(*dialogue));
	const char *output, *slash;
	struct feed *feed = NULL;
	int error = dialogue != NULL ? reach(row, dialogue) : -ENOMEM;

	if (error != 0) {
		free(dialogue);
		return error;
	}
	output = dialogue_text(dialogue, "output");
	slash = strrchr(output, '/');
	row->has_file =
		output[0] != '\0' && fleet_files_has(files, slash != NULL ? slash + 1 : output);
	if (!row->has_file)
		feed = ask_feed(dialogue, "top", "chunk", row->chunk, &error);
	/* The same number: nothing is new, and the answer is what we had. */
	if (feed != NULL && dialogue_number(dialogue, "chunk") != row->chunk) {
		tell(row, feed, census, lock, now_ns);
		row->chunk = dialogue_number(dialogue, "chunk");
	}
	feed_free(feed);
	dialogue_close(dialogue);
	free(dialogue);
	return error == -ENODATA ? 0 : error;
}

/* Nobody is there (yet, or again), or has just gone: to find that out takes no time. */
static bool is_quick(int error)
{
	return error == -ECONNREFUSED || error == -ENOENT || error == -ECONNRESET ||
	       error == -EPIPE;
}

/* When to ask again, after ERROR or 0. */
static void plan(struct fleet_socket *row, int error, uint64_t now_ns)
{
	uint64_t longer = row->rest_s != 0 ? 2 * row->rest_s : 2 * FLEET_ASKED_S;

	if (error == 0 || is_quick(error))
		row->rest_s = 0;
	else
		row->rest_s = longer < FLEET_REST_S ? longer : FLEET_REST_S;
	row->next_ns = now_ns + (row->rest_s != 0 ? row->rest_s : FLEET_ASKED_S) * SECOND_NS;
}

struct asking {
	struct fleet_socket **rows; /* whose turn it is; each is touched by who asks it */
	size_t count;
	const struct fleet_files *files;
	struct census *census;
	pthread_mutex_t *lock;
	uint64_t now_ns;
};

static void ask_number(void *context, size_t number)
{
	const struct asking *asking = context;
	struct fleet_socket *row = asking->rows[number];

	plan(row, ask_one(row, asking->files, asking->census, asking->lock, asking->now_ns),
	     asking->now_ns);
}

void fleet_sockets_ask(struct fleet_sockets *sockets, const struct fleet_files *files,
		       struct census *census, pthread_mutex_t *lock, uint64_t now_ns)
{
	struct asking asking = { .files = files, .census = census, .lock = lock, .now_ns = now_ns };

	asking.rows = calloc(sockets->count, sizeof(struct fleet_socket *));
	for (size_t i = 0; asking.rows != NULL && i < sockets->count; i++) {
		struct fleet_socket *row = &sockets->rows[i];

		if (now_ns < row->next_ns && row->next_ns - now_ns <= FLEET_REST_S * SECOND_NS)
			continue;
		asking.rows[asking.count++] = row;
	}
	/* Whoever is not reached this time is one of the first the next time. */
	askers_run(asking.count, PATIENCE_NS, ask_number, &asking);
	free(asking.rows);
}

/* ---- windows --------------------------------------------------------------------------------- */

static int window_of(struct fleet_socket *row, uint64_t from_ns, uint64_t to_ns, uint64_t now_ns,
		     struct pb_writer *bytes)
{
	struct dialogue *dialogue = malloc(sizeof(*dialogue));
	uint64_t last_ns = now_ns - from_ns + SECOND_NS;
	struct feed *feed = NULL;
	int error = dialogue != NULL ? reach(row, dialogue) : -ENOMEM;

	bytes->size = 0;
	if (error == 0) {
		feed = ask_feed(dialogue, "dump", "last_ns", last_ns, &error);
		dialogue_close(dialogue);
	} else {
		plan(row, error, now_ns);
	}
	if (feed != NULL && feed_window(feed, from_ns, to_ns, bytes))
		error = bytes->error;
	feed_free(feed);
	free(dialogue);
	return error;
}

struct windows {
	struct fleet_sockets *sockets;
	uint64_t from_ns, to_ns, now_ns;
	struct pb_writer *answers; /* by row */
};

static void ask_window(void *context, size_t number)
{
	const struct windows *windows = context;
	struct fleet_socket *row = &windows->sockets->rows[number];
	struct pb_writer *bytes = &windows->answers[number];

	/* Never asked, tells by a file, or did not answer: then it is not waited for. */
	if (row->key == NULL || row->has_file || row->rest_s != 0)
		return;
	if (window_of(row, windows->from_ns, windows->to_ns, windows->now_ns, bytes) != 0)
		bytes->size = 0;
}

int fleet_sockets_window(
	struct fleet_sockets *sockets, uint64_t from_ns, uint64_t to_ns, uint64_t now_ns,
	int (*visit)(void *context, const char *key, const struct pb_writer *bytes), void *context)
{
	struct windows windows = { sockets, from_ns, to_ns, now_ns, NULL };
	int error = 0;

	windows.answers = calloc(sockets->count + 1, sizeof(struct pb_writer));
	if (windows.answers == NULL)
		return -ENOMEM;
	askers_run(sockets->count, UINT64_MAX / 2, ask_window, &windows);
	for (size_t i = 0; i < sockets->count; i++) {
		if (error == 0 && windows.answers[i].size > 0)
			error = visit(context, sockets->rows[i].key, &windows.answers[i]);
		pb_free(&windows.answers[i]);
	}
	free(windows.answers);
	return error;
}
