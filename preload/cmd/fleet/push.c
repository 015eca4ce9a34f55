/* SPDX-License-Identifier: MIT */
/* push.c - `guestprof push`: recordings, or what running processes write, to a server of profiles.
 * Threads: one. */
#include "preload/export/push.h"

#include "preload/cmd/command.h"
#include "preload/cmd/ending.h"
#include "preload/cmd/fleet/fleet.h"
#include "preload/cmd/fleet/listening.h"
#include "preload/cmd/fleet/push_queue.h"
#include "preload/cmd/inputs.h"
#include "preload/cmd/live/live.h"
#include "preload/cmd/say.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS ((uint64_t)1000 * 1000 * 1000)

enum { TURN_MS = 200, HEADER_MAX = 8192 };

struct options {
	const char *to, *token_file, *header_file, *follow;
	bool has_api;
	uint64_t every_ns;
	struct push_options push;
	char *keys[PUSH_LABELS_MAX]; /* owned, of the labels */
};

struct pushing {
	struct options *options;
	struct push_queue queue;
	char *url;
	int signals; /* signalfd */
};

static uint64_t clock_now(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* ---- options --------------------------------------------------------------------------------- */

/* What servers take as the name of a label. */
static bool is_label_name(const char *text, size_t length)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";

	return length > 0 && strchr(letters, text[0]) != NULL &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") >=
		       length;
}

static bool add_label(struct options *options, const char *text)
{
	struct push_options *push = &options->push;
	const char *equals = strchr(text, '=');
	char *key;

	if (equals == NULL || !is_label_name(text, (size_t)(equals - text)) ||
	    push->label_count == PUSH_LABELS_MAX) {
		say_line("push: --label takes KEY=VALUE, a KEY of letters, digits and _, %d times "
			 "at most",
			 PUSH_LABELS_MAX);
		return false;
	}
	key = strndup(text, (size_t)(equals - text));
	if (key == NULL)
		return false;
	options->keys[push->label_count] = key;
	if (strcmp(key, "service_name") == 0)
		push->service = equals + 1;
	else
		push->labels[push->label_count] = (struct recording_label){ key, equals + 1 };
	push->label_count += strcmp(key, "service_name") != 0;
	if (strcmp(key, "service_name") == 0)
		free(key);
	return true;
}

static bool set_api(struct options *options, const char *text)
{
	options->has_api = true;
	options->push.api = strcmp(text, "parca") == 0 ? PUSH_PARCA : PUSH_PYROSCOPE;
	if (strcmp(text, "parca") == 0 || strcmp(text, "pyroscope") == 0)
		return true;
	say_line("push: --api takes pyroscope or parca, not %s", text);
	return false;
}

static bool take_option(struct options *options, int option)
{
	switch (option) {
	case 'u':
		options->to = optarg;
		return true;
	case 'a':
		return set_api(options, optarg);
	case 'l':
		return add_label(options, optarg);
	case 'b':
		options->push.by_instance = strcmp(optarg, "instance") == 0;
		if (!options->push.by_instance)
			say_line("push: --by takes instance, not %s", optarg);
		return options->push.by_instance;
	case 't':
		options->token_file = optarg;
		return true;
	case 'h':
		options->header_file = optarg;
		return true;
	case 'f':
		options->follow = optarg;
		return true;
	case 'e':
		return live_duration("push", "--every", optarg, &options->every_ns);
	default:
		return false;
	}
}

static bool read_options(struct options *options, int argc, char **argv)
{
	static const struct option names[] = {
		{ "to", required_argument, NULL, 'u' },
		{ "api", required_argument, NULL, 'a' },
		{ "label", required_argument, NULL, 'l' },
		{ "by", required_argument, NULL, 'b' },
		{ "token-file", required_argument, NULL, 't' },
		{ "header-file", required_argument, NULL, 'h' },
		{ "follow", required_argument, NULL, 'f' },
		{ "every", required_argument, NULL, 'e' },
		{ 0 },
	};
	int option;

	optind = 1;
	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (!take_option(options, option))
			return false;
	}
	if (options->to == NULL ||
	    (strncmp(options->to, "http://", 7) != 0 && strncmp(options->to, "https://", 8) != 0)) {
		say_line("push: --to takes the server's address, http://... or https://...");
		return false;
	}
	options->every_ns -= options->every_ns % SECOND_NS;
	if (options->every_ns < SECOND_NS || options->every_ns > 300 * SECOND_NS) {
		say_line("push: --every takes 1s to 5m");
		return false;
	}
	return true;
}

/* The whole address (caller frees): what is given may have the path already. */
static char *make_url(struct options *options)
{
	size_t length = strlen(options->to);
	const char *path;
	char *url;

	if (!options->has_api && strstr(options->to, push_path(PUSH_PARCA)) != NULL)
		options->push.api = PUSH_PARCA;
	path = push_path(options->push.api);
	if (length >= strlen(path) && strcmp(options->to + length - strlen(path), path) == 0)
		return strdup(options->to);
	while (length > 0 && options->to[length - 1] == '/')
		length--;
	return asprintf(&url, "%.*s%s", (int)length, options->to, path) < 0 ? NULL : url;
}

/* Lines of FILE. False after having said what is wrong. */
static bool add_headers(struct http_client *client, const char *path)
{
	FILE *file = fopen(path, "re");
	char line[HEADER_MAX];
	bool is_good = file != NULL;

	if (file == NULL)
		say_line("%s: %s", path, strerror(errno));
	while (is_good && fgets(line, sizeof(line), file) != NULL) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[0] == '\0')
			continue;
		is_good = http_client_add_header(client, line) == 0;
		if (!is_good)
			say_line("%s: lines are `Name: value`, %d at most", path,
				 HTTP_CLIENT_HEADERS_MAX - 4);
	}
	if (file != NULL)
		fclose(file);
	return is_good;
}

static bool set_headers(struct http_client *client, const struct options *options)
{
	char *token, *line = NULL;
	bool is_good = http_client_add_header(client, "Content-Type: application/json") == 0 &&
		       http_client_add_header(client, "Connect-Protocol-Version: 1") == 0;

	if (is_good && options->token_file != NULL) {
		token = listening_token(options->token_file);
		is_good = token != NULL && asprintf(&line, "Authorization: Bearer %s", token) >= 0;
		is_good = is_good && http_client_add_header(client, line) == 0;
		free(line);
		free(token);
	}
	return is_good &&
	       (options->header_file == NULL || add_headers(client, options->header_file));
}

/* ---- sending --------------------------------------------------------------------------------- */

static int enqueue(void *context, uint8_t *body, size_t size, size_t samples)
{
	struct pushing *pushing = context;

	push_queue_add(&pushing->queue, body, size, samples);
	push_queue_send(&pushing->queue, clock_now(CLOCK_MONOTONIC));
	return 0;
}

static bool push_recording(struct pushing *pushing, const struct recording *recording)
{
	struct push_options options = pushing->options->push;
	int error;

	if (options.service == NULL)
		options.service = recording->program[0] != '\0' ? recording->program : "guestprof";
	error = push_make(recording, &options, enqueue, pushing);
	if (error == -E2BIG)
		say_line("%s: a sample is too large for the server; it is left out",
			 recording->path);
	else if (error != 0)
		say_line("%s: %s", recording->path, strerror(-error));
	return error == 0;
}

/* Until all is sent, or dropped. */
static void drain(struct pushing *pushing)
{
	push_queue_send(&pushing->queue, clock_now(CLOCK_MONOTONIC));
	while (pushing->queue.count != 0 && !ending_came(pushing->signals, TURN_MS))
		push_queue_send(&pushing->queue, clock_now(CLOCK_MONOTONIC));
}

/* Waits for room while the server is away: files can be read later. */
static bool push_file(struct pushing *pushing, const char *path)
{
	char *why = NULL;
	struct recording *recording = recording_read(path, &why);
	bool is_good = recording != NULL;

	if (!is_good)
		say_line("%s", why != NULL ? why : strerror(ENOMEM));
	free(why);
	is_good = is_good && push_recording(pushing, recording);
	recording_free(recording);
	drain(pushing);
	return is_good;
}

static int push_files(struct pushing *pushing, char **words, size_t count)
{
	struct inputs inputs = { 0 };
	bool is_good = true;

	for (size_t i = 0; i < count && is_good; i++)
		is_good = inputs_add(&inputs, words[i]) == 0;
	if (count == 0)
		is_good = inputs_add_newest(&inputs) == 0;
	if (inputs.count == 0)
		say_line("push: no recording to send");
	is_good = is_good && inputs.missing == 0 && inputs.count != 0;
	for (size_t i = 0; i < inputs.count; i++)
		is_good = push_file(pushing, inputs.paths[i]) && is_good;
	inputs_free(&inputs);
	return is_good ? COMMAND_OK : COMMAND_BAD;
}

/* ---- following ------------------------------------------------------------------------------- */

/* Windows follow each other; one ends a second before it is sent, because files grow once a second.
 */
static void follow(struct pushing *pushing, struct fleet *fleet)
{
	uint64_t now_ns = clock_now(CLOCK_REALTIME), every_ns = pushing->options->every_ns;
	uint64_t from_ns = now_ns / SECOND_NS * SECOND_NS;

	while (!ending_came(pushing->signals, TURN_MS)) {
		now_ns = clock_now(CLOCK_REALTIME);
		fleet_poll(fleet, now_ns);
		if (now_ns >= from_ns + every_ns + SECOND_NS + SECOND_NS / 4) {
			struct recording *recording =
				fleet_window(fleet, from_ns, from_ns + every_ns);

			from_ns += every_ns;
			/* Stopped for longer than is kept, or the clock was set. */
			if (now_ns - from_ns > FEED_KEPT_NS)
				from_ns = now_ns / SECOND_NS * SECOND_NS;
			if (recording != NULL && recording->sample_count != 0)
				push_recording(pushing, recording);
			recording_free(recording);
		}
		push_queue_send(&pushing->queue, clock_now(CLOCK_MONOTONIC));
	}
}

static int follow_directory(struct pushing *pushing)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct census *census = census_new();
	struct fleet *fleet = census != NULL ? fleet_new(census, &lock) : NULL;
	int error = fleet != NULL ? fleet_add_directory(fleet, pushing->options->follow) : -ENOMEM;

	if (error != 0)
		say_line("push: %s: %s", pushing->options->follow, strerror(-error));
	else
		follow(pushing, fleet);
	fleet_free(fleet);
	census_free(census);
	return error == 0 ? COMMAND_OK : COMMAND_BAD;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int push_all(struct pushing *pushing, char **words, size_t count)
{
	const struct push_queue *queue = &pushing->queue;
	int status = pushing->options->follow != NULL ? follow_directory(pushing)
						      : push_files(pushing, words, count);

	push_queue_free(&pushing->queue);
	say_line("push: %" PRIu64 " profile%s, %" PRIu64 " samples -> %s%s", queue->sent,
		 queue->sent == 1 ? "" : "s", queue->sent_samples, pushing->url,
		 queue->lost != 0 ? "; some were not taken" : "");
	return queue->lost != 0 ? COMMAND_BAD : status;
}

int push_command(int argc, char **argv)
{
	struct options options = { .every_ns = 15 * SECOND_NS };
	static struct pushing pushing;
	int status = COMMAND_BAD;

	pushing = (struct pushing){ .options = &options, .signals = -1 };
	if (read_options(&options, argc, argv)) {
		pushing.url = make_url(&options);
		pushing.queue.url = pushing.url;
		pushing.queue.client = pushing.url != NULL ? http_client_new() : NULL;
		pushing.signals = ending_open();
	}
	if (pushing.queue.client != NULL && set_headers(pushing.queue.client, &options))
		status = push_all(&pushing, argv + optind, (size_t)(argc - optind));
	http_client_free(pushing.queue.client);
	if (pushing.signals >= 0)
		close(pushing.signals);
	free(pushing.url);
	for (size_t i = 0; i < options.push.label_count; i++)
		free(options.keys[i]);
	return status;
}
