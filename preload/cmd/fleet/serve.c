/* SPDX-License-Identifier: MIT */
/*
 * serve.c - `guestprof serve`: profiles of processes that run, over HTTP.
 *
 * Threads: this one watches the processes and makes the profiles; libmicrohttpd's talks.
 */
#include "preload/cmd/command.h"
#include "preload/cmd/ending.h"
#include "preload/cmd/fleet/fleet.h"
#include "preload/cmd/fleet/listening.h"
#include "preload/cmd/fleet/serve_server.h"
#include "preload/cmd/live/targets.h"
#include "preload/cmd/say.h"
#include "preload/export/inmemory.h"
#include "preload/export/pprof.h"
#include "preload/read/subset.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS ((uint64_t)1000 * 1000 * 1000)

enum { TURN_MS = 100 };

struct options {
	const char *directories[FLEET_DIRECTORIES_MAX];
	size_t directory_count;
	const char *listen, *token_file;
};

struct serving {
	pthread_mutex_t lock; /* guards the census, and what the server says it does */
	struct census *census;
	struct fleet *fleet;
	struct serve_server *server;
	char *token;
};

static uint64_t clock_now(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* ---- profiles -------------------------------------------------------------------------------- */

/* What REQUEST asks for of RECORDING, as pprof; NULL without memory. */
static uint8_t *make_profile(const struct recording *recording, const struct serve_request *request,
			     size_t *size)
{
	struct recording_sample *samples = NULL;
	struct pprof_options options = { .by_instance = request->wish.instance != NULL };
	struct recording part;
	struct inmemory memory;
	uint8_t *bytes = NULL;
	int error = subset_take(recording, &request->wish, &part, &samples);

	if (error == 0)
		error = inmemory_open(&memory, true);
	if (error == 0) {
		error = pprof_write(&part, &options, memory.output);
		inmemory_close(&memory, error == 0, &bytes, size);
	}
	free(samples);
	return bytes;
}

/* Moves those of LIST that want the same window, or with SAME the same samples, to TAKEN. */
static size_t take_same(struct serve_waiter **list, bool same, struct serve_waiter **taken)
{
	const struct serve_waiter *first = *list;
	struct serve_waiter **at = list;
	size_t count = 0;

	while (*at != NULL) {
		struct serve_waiter *waiter = *at;

		if (count == SERVE_WAITING_MAX || waiter->from_ns != first->from_ns ||
		    waiter->to_ns != first->to_ns ||
		    (same && !serve_request_is_same(&waiter->request, &first->request))) {
			at = &waiter->next;
			continue;
		}
		*at = waiter->next;
		taken[count++] = waiter;
	}
	return count;
}

/* All of one window: it is decoded once, and each wish is encoded once. */
static void answer_window(struct serving *serving, struct serve_waiter *list)
{
	struct serve_waiter *same[SERVE_WAITING_MAX];
	struct recording *recording = fleet_window(serving->fleet, list->from_ns, list->to_ns);

	while (list != NULL) {
		size_t count = take_same(&list, true, same), size = 0;
		uint8_t *bytes = recording != NULL
					 ? make_profile(recording, &same[0]->request, &size)
					 : NULL;

		serve_server_answer(serving->server, same, count, bytes, size);
	}
	recording_free(recording);
}

static void answer_due(struct serving *serving)
{
	struct serve_waiter *due = serve_server_take(serving->server, clock_now(CLOCK_MONOTONIC));
	struct serve_waiter *window[SERVE_WAITING_MAX];

	while (due != NULL) {
		size_t count = take_same(&due, false, window);
		struct serve_waiter *list = NULL;

		for (size_t i = 0; i < count; i++) {
			window[i]->next = list;
			list = window[i];
		}
		answer_window(serving, list);
	}
}

/* ---- until it is over ------------------------------------------------------------------------ */

static void serve(struct serving *serving, int signals)
{
	while (!ending_came(signals, TURN_MS)) {
		fleet_poll(serving->fleet, clock_now(CLOCK_REALTIME));
		serve_server_set_dropped(serving->server, fleet_dropped(serving->fleet));
		answer_due(serving);
	}
}

/* ---- the start ------------------------------------------------------------------------------- */

/* Each file that grows, and each connection, is a descriptor. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max < 65536 ? limit.rlim_max : 65536;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Processes by pid or socket. False after having said what is wrong. */
static bool add_processes(struct fleet *fleet, char **words, size_t count)
{
	struct processes processes = { 0 };
	bool is_good = count == 0 || targets_find(&processes, NULL, words, count) == COMMAND_OK;

	for (size_t i = 0; is_good && i < processes.count; i++) {
		const char *path = processes.rows[i].socket;

		if (path == NULL)
			say_line("process %d has no control socket: %s", (int)processes.rows[i].pid,
				 targets_how_to_preload);
		is_good = path != NULL && fleet_add_socket(fleet, path) == 0;
	}
	processes_free(&processes);
	return is_good;
}

static bool add_directories(struct fleet *fleet, const struct options *options)
{
	for (size_t i = 0; i < options->directory_count; i++) {
		int error = fleet_add_directory(fleet, options->directories[i]);

		if (error != 0) {
			say_line("serve: %s: %s", options->directories[i], strerror(-error));
			return false;
		}
	}
	return true;
}

/* Listens, or says why not. */
static int open_listening(struct serving *serving, const struct options *options,
			  char text[LISTENING_TEXT_SIZE])
{
	bool is_loopback;
	int fd = listening_open(options->listen, &is_loopback, text);

	if (fd < 0) {
		say_line("serve: --listen %s: %s", options->listen, listening_reason(fd));
		return -1;
	}
	if (options->token_file != NULL) {
		serving->token = listening_token(options->token_file);
		if (serving->token == NULL) {
			close(fd);
			return -1;
		}
	} else if (!is_loopback) {
		say_line("serve: --listen %s is for other machines too: that takes --token-file",
			 options->listen);
		close(fd);
		return -1;
	}
	return fd;
}

static int run(struct serving *serving, const struct options *options, char **words, size_t count)
{
	char text[LISTENING_TEXT_SIZE];
	int signals, fd;

	if (serving->fleet == NULL) {
		say_line("serve: %s", strerror(ENOMEM));
		return COMMAND_BAD;
	}
	if (!add_directories(serving->fleet, options) ||
	    !add_processes(serving->fleet, words, count))
		return COMMAND_BAD;
	raise_limit();
	signals = ending_open();
	fd = signals >= 0 ? open_listening(serving, options, text) : -1;
	if (fd < 0)
		return COMMAND_BAD;
	fleet_poll(serving->fleet, clock_now(CLOCK_REALTIME));
	serving->server = serve_server_start(fd, serving->census, &serving->lock, serving->token);
	if (serving->server == NULL) {
		say_line("serve: %s", strerror(errno));
		return COMMAND_BAD;
	}
	say_line("serving http://%s/debug/pprof/", text);
	serve(serving, signals);
	serve_server_stop(serving->server);
	return COMMAND_OK;
}

/* False after having said what is wrong. */
static bool read_options(struct options *options, int argc, char **argv)
{
	static const struct option names[] = {
		{ "dir", required_argument, NULL, 'd' },
		{ "listen", required_argument, NULL, 'l' },
		{ "token-file", required_argument, NULL, 't' },
		{ 0 },
	};
	int option;

	optind = 1;
	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (option == 'd' && options->directory_count < FLEET_DIRECTORIES_MAX)
			options->directories[options->directory_count++] = optarg;
		else if (option == 'l')
			options->listen = optarg;
		else if (option == 't')
			options->token_file = optarg;
		else
			return false;
	}
	if (options->directory_count == 0 && optind == argc)
		options->directories[options->directory_count++] = ".";
	return true;
}

int serve_command(int argc, char **argv)
{
	struct options options = { .listen = "127.0.0.1:6060" };
	struct serving serving = { .lock = PTHREAD_MUTEX_INITIALIZER };
	int status = COMMAND_BAD;

	if (!read_options(&options, argc, argv))
		return status;
	serving.census = census_new();
	if (serving.census != NULL)
		serving.fleet = fleet_new(serving.census, &serving.lock);
	status = run(&serving, &options, argv + optind, (size_t)(argc - optind));
	fleet_free(serving.fleet);
	census_free(serving.census);
	free(serving.token);
	return status;
}
