/* SPDX-License-Identifier: MIT */
/* serve_server.c - decides what a request gets, and keeps those who wait. Threads: answer() and
 * on_completed() run on libmicrohttpd's thread; the lock guards census, counts and the list. */
#include "preload/cmd/fleet/serve_server.h"

#include "preload/cmd/fleet/serve_response.h"
#include "preload/export/inmemory.h"
#include "preload/export/metrics.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS ((uint64_t)1000 * 1000 * 1000)

enum { TIMEOUT_S = 30, REQUEST_MEMORY = 32 * 1024, LATE_MS = 250 };

struct serve_private {
	struct MHD_Connection *connection;
	struct MHD_Response *response; /* the answer, once there is one */
	unsigned int status;
};

struct serve_server {
	struct MHD_Daemon *daemon;
	struct census *census;
	pthread_mutex_t *lock;
	const char *token;
	struct serve_waiter *waiters; /* under the lock, as the rest */
	struct metrics_server counts;
	bool is_ending;
};

static uint64_t clock_now(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* ---- pages that are there at once ------------------------------------------------------------ */

static const char index_page[] =
	"guestprof serve: CPU profiles of the WebAssembly guests on this machine\n\n"
	"/debug/pprof/profile?seconds=N  pprof of the next N seconds; also process=, group=,\n"
	"                                module=, instance=, label=KEY=VALUE\n"
	"/sd                             targets for Prometheus' http_sd\n"
	"/metrics                        counters for Prometheus\n"
	"/healthz                        is this alive?\n";

/* Where whoever asks has reached us: what it may be told to come back to. */
static void write_address(struct MHD_Connection *connection, char *out, size_t size)
{
	const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");

	if (host == NULL || host[0] == '\0' || strlen(host) >= size ||
	    strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]_") !=
		    strlen(host))
		host = "localhost";
	snprintf(out, size, "%s", host);
}

static int send_census(struct serve_server *server, struct MHD_Connection *connection,
		       enum serve_page page)
{
	uint64_t now_ns = clock_now(CLOCK_REALTIME);
	struct inmemory memory;
	uint8_t *bytes = NULL;
	size_t size = 0;
	char address[256];
	int error = inmemory_open(&memory, false), end_error;

	if (error == 0) {
		write_address(connection, address, sizeof(address));
		pthread_mutex_lock(server->lock);
		error = page == SERVE_METRICS ? metrics_write(server->census, &server->counts,
							      now_ns, memory.output)
					      : metrics_write_targets(server->census, address,
								      now_ns, memory.output);
		pthread_mutex_unlock(server->lock);
		end_error = inmemory_close(&memory, error == 0, &bytes, &size);
		error = error != 0 ? error : end_error;
	}
	if (error != 0)
		return serve_response_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
					   "out of memory\n");
	return serve_response_send(
		connection, MHD_HTTP_OK,
		serve_response_new(bytes, size, true,
				   page == SERVE_METRICS ? METRICS_TYPE : "application/json"));
}

/* ---- profiles, which wait -------------------------------------------------------------------- */

struct query {
	struct serve_request *request;
	int error;
	char why[SERVE_WHY_SIZE];
};

static enum MHD_Result take_pair(void *context, enum MHD_ValueKind kind, const char *key,
				 size_t key_size, const char *value, size_t value_size)
{
	struct query *query = context;

	(void)kind, (void)key_size;
	query->error = serve_request_take(query->request, key, value, value_size, query->why);
	return query->error == 0 ? MHD_YES : MHD_NO;
}

static void free_waiter(struct serve_waiter *waiter)
{
	if (waiter->own != NULL && waiter->own->response != NULL)
		MHD_destroy_response(waiter->own->response);
	serve_request_free(&waiter->request);
	free(waiter->own);
	free(waiter);
}

static struct serve_waiter *new_waiter(struct MHD_Connection *connection)
{
	struct serve_waiter *waiter = calloc(1, sizeof(*waiter));

	if (waiter == NULL)
		return NULL;
	waiter->own = calloc(1, sizeof(*waiter->own));
	if (waiter->own == NULL) {
		free(waiter);
		return NULL;
	}
	waiter->own->connection = connection;
	return waiter;
}

static void set_window(struct serve_waiter *waiter)
{
	uint64_t now_ns = clock_now(CLOCK_REALTIME), end_ns;
	unsigned int seconds = waiter->request.seconds;

	if (seconds == 0)
		seconds = SERVE_SECONDS_DEFAULT;
	waiter->from_ns = (now_ns / SECOND_NS - 1) * SECOND_NS;
	waiter->to_ns = waiter->from_ns + seconds * SECOND_NS;
	/* The last rows come up to a second after their time, and a moment for the writing. */
	end_ns = waiter->to_ns + SECOND_NS + LATE_MS * (SECOND_NS / 1000);
	if (end_ns < now_ns + seconds * SECOND_NS)
		end_ns = now_ns + seconds * SECOND_NS;
	waiter->due_ns = clock_now(CLOCK_MONOTONIC) + (end_ns - now_ns);
}

/* False: there are too many. */
static bool let_wait(struct serve_server *server, struct serve_waiter *waiter)
{
	bool has_room;

	pthread_mutex_lock(server->lock);
	has_room = server->counts.waiting < SERVE_WAITING_MAX && !server->is_ending;
	if (has_room) {
		/* Before anybody can wake it. */
		MHD_suspend_connection(waiter->own->connection);
		server->counts.waiting++;
		waiter->next = server->waiters;
		server->waiters = waiter;
	} else {
		server->counts.refused++;
	}
	pthread_mutex_unlock(server->lock);
	return has_room;
}

static int begin_profile(struct serve_server *server, struct MHD_Connection *connection,
			 void **state)
{
	struct serve_waiter *waiter = new_waiter(connection);
	struct query query = { .request = waiter != NULL ? &waiter->request : NULL };
	int result;

	if (waiter == NULL)
		return MHD_NO;
	MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, take_pair, &query);
	if (query.error == 0) {
		set_window(waiter);
		if (let_wait(server, waiter)) {
			*state = waiter;
			return MHD_YES;
		}
		result =
			serve_response_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
					    "as many wait for a profile as may; try again later\n");
	} else {
		result = query.error == -EINVAL
				 ? serve_response_line(connection, MHD_HTTP_BAD_REQUEST, query.why)
				 : MHD_NO;
	}
	free_waiter(waiter);
	return result;
}

static int finish_profile(struct serve_waiter *waiter)
{
	struct serve_private *own = waiter->own;

	if (own->response == NULL)
		return serve_response_text(own->connection, MHD_HTTP_SERVICE_UNAVAILABLE,
					   "the server ends, or is out of memory\n");
	return MHD_queue_response(own->connection, MHD_HTTP_OK, own->response);
}

struct serve_waiter *serve_server_take(struct serve_server *server, uint64_t now_ns)
{
	struct serve_waiter *taken = NULL, **at;

	pthread_mutex_lock(server->lock);
	for (at = &server->waiters; *at != NULL;) {
		struct serve_waiter *waiter = *at;

		if (waiter->due_ns > now_ns) {
			at = &waiter->next;
			continue;
		}
		*at = waiter->next;
		waiter->next = taken;
		taken = waiter;
	}
	pthread_mutex_unlock(server->lock);
	return taken;
}

void serve_server_answer(struct serve_server *server, struct serve_waiter **waiters, size_t count,
			 uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < count && bytes != NULL; i++) {
		/* A response each: it is freed on another thread. The last takes BYTES itself. */
		uint8_t *copy = i + 1 < count ? malloc(size + 1) : bytes;

		if (copy == NULL)
			continue;
		if (copy != bytes)
			memcpy(copy, bytes, size);
		waiters[i]->own->response =
			serve_response_new(copy, size, true, "application/octet-stream");
		if (waiters[i]->own->response != NULL)
			MHD_add_response_header(waiters[i]->own->response, "Content-Disposition",
						"attachment; filename=\"profile\"");
	}
	pthread_mutex_lock(server->lock);
	server->counts.waiting -= count;
	server->counts.answered += count;
	pthread_mutex_unlock(server->lock);
	/* From here on they are libmicrohttpd's thread's. */
	for (size_t i = 0; i < count; i++)
		MHD_resume_connection(waiters[i]->own->connection);
}

void serve_server_set_dropped(struct serve_server *server, uint64_t dropped)
{
	pthread_mutex_lock(server->lock);
	server->counts.dropped = dropped;
	pthread_mutex_unlock(server->lock);
}

/* ---- requests -------------------------------------------------------------------------------- */

static int answer_page(struct serve_server *server, struct MHD_Connection *connection,
		       const char *path, void **state)
{
	enum serve_page page = serve_request_page(path);

	switch (page) {
	case SERVE_INDEX:
		return serve_response_text(connection, MHD_HTTP_OK, index_page);
	case SERVE_PROFILE:
		return begin_profile(server, connection, state);
	case SERVE_METRICS:
	case SERVE_TARGETS:
		return send_census(server, connection, page);
	case SERVE_HEALTH:
		return serve_response_text(connection, MHD_HTTP_OK, "ok\n");
	case SERVE_OTHER_PROFILE:
		return serve_response_text(
			connection, MHD_HTTP_NOT_FOUND,
			"guests have no such profile; there is /debug/pprof/profile\n");
	default:
		return serve_response_text(connection, MHD_HTTP_NOT_FOUND,
					   "nothing here; /debug/pprof/ says what there is\n");
	}
}

/* NULL: it may be answered. */
static const char *refusal(const struct serve_server *server, struct MHD_Connection *connection,
			   unsigned int *status)
{
	if (server->token == NULL) {
		*status = MHD_HTTP_FORBIDDEN;
		return serve_request_is_local(
			       MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host"))
			       ? NULL
			       : "the Host must be 127.0.0.1 or localhost, or use --token-file\n";
	}
	*status = MHD_HTTP_UNAUTHORIZED;
	return serve_request_is_allowed(
		       MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization"),
		       server->token)
		       ? NULL
		       : "the token is missing, or wrong (Authorization: Bearer ...)\n";
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *path,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **state)
{
	struct serve_server *server = context;
	const char *why;
	unsigned int status;

	(void)version, (void)upload, (void)upload_size;
	if (*state != NULL)
		return finish_profile(*state);
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return serve_response_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
					   "GET or HEAD only\n");
	why = serve_request_page(path) == SERVE_HEALTH ? NULL
						       : refusal(server, connection, &status);
	if (why != NULL)
		return serve_response_text(connection, status, why);
	return answer_page(server, connection, path, state);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **state,
			 enum MHD_RequestTerminationCode code)
{
	(void)context, (void)connection, (void)code;
	if (*state != NULL)
		free_waiter(*state);
	*state = NULL;
}

struct serve_server *serve_server_start(int listen_fd, struct census *census, pthread_mutex_t *lock,
					const char *token)
{
	struct serve_server *server = calloc(1, sizeof(*server));

	if (server != NULL) {
		*server = (struct serve_server){ .census = census, .lock = lock, .token = token };
		errno = 0;
		server->daemon = MHD_start_daemon(
			MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME,
			0, NULL, NULL, answer, server, MHD_OPTION_LISTEN_SOCKET, listen_fd,
			MHD_OPTION_CONNECTION_LIMIT, (unsigned int)SERVE_CONNECTIONS_MAX,
			MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)TIMEOUT_S,
			MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_MEMORY,
			MHD_OPTION_NOTIFY_COMPLETED, on_completed, server, MHD_OPTION_END);
	}
	if (server != NULL && server->daemon != NULL)
		return server;
	close(listen_fd);
	free(server);
	errno = errno != 0 ? errno : ENOMEM;
	return NULL;
}

void serve_server_stop(struct serve_server *server)
{
	struct serve_waiter *waiter;

	if (server == NULL)
		return;
	pthread_mutex_lock(server->lock);
	server->is_ending = true;
	pthread_mutex_unlock(server->lock);
	waiter = serve_server_take(server, UINT64_MAX);
	while (waiter != NULL) {
		struct serve_waiter *next = waiter->next;

		serve_server_answer(server, &waiter, 1, NULL, 0);
		waiter = next;
	}
	MHD_stop_daemon(server->daemon);
	free(server);
}
