/* SPDX-License-Identifier: MIT */
/* view_server.c - decides what a request gets. Threads: answers come from libmicrohttpd's thread,
 * which only reads, but for what was fetched. */
#include "preload/cmd/view_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TOKEN_BYTES = 16, CONNECTIONS_MAX = 32, TIMEOUT_S = 20, REQUEST_MEMORY = 32 * 1024 };

struct view_server {
	struct MHD_Daemon *daemon;
	const struct view_file *files;
	struct MHD_Response *responses[VIEW_SERVER_FILES_MAX];
	size_t count;
	char token[2 * TOKEN_BYTES + 1];
	_Atomic uint16_t port;	       /* 0 until the start is over: no Host fits */
	int fetched_fd;		       /* eventfd */
	_Atomic unsigned fetched_mask; /* by index in files */
};

static int send_text(struct MHD_Connection *connection, unsigned status, const char *text)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
	int result = MHD_NO;

	if (response == NULL)
		return MHD_NO;
	MHD_add_response_header(response, "Content-Type", "text/plain");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow", "GET, HEAD");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static bool has_our_host(const struct view_server *server, struct MHD_Connection *connection)
{
	static const char *const names[] = { "127.0.0.1", "localhost" };
	const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
	char ours[32];

	for (size_t i = 0; host != NULL && i < ARRAY_SIZE(names); i++) {
		snprintf(ours, sizeof(ours), "%s:%u", names[i], atomic_load(&server->port));
		if (strcmp(host, ours) == 0)
			return true;
	}
	return false;
}

/* In a time that does not depend on where they differ. */
static bool is_token(const struct view_server *server, const char *text)
{
	unsigned difference = 0;

	for (size_t i = 0; i < 2 * TOKEN_BYTES; i++) {
		if (text[i] == '\0')
			return false;
		difference |= (unsigned char)(text[i] ^ server->token[i]);
	}
	return difference == 0;
}

/* The file at PATH, /TOKEN/NAME; NULL. */
static const struct view_file *find_file(const struct view_server *server, const char *path)
{
	if (path[0] != '/' || !is_token(server, path + 1) || path[1 + 2 * TOKEN_BYTES] != '/')
		return NULL;
	for (size_t i = 0; i < server->count; i++) {
		if (strcmp(path + 2 + 2 * TOKEN_BYTES, server->files[i].name) == 0)
			return &server->files[i];
	}
	return NULL;
}

/*
 * Chromium asks before a public page may read from the loopback network (Private Network Access),
 * and reads what is answered from these headers.
 */
static int send_permission(struct MHD_Connection *connection, const struct view_file *file)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	int result;

	if (response == NULL)
		return MHD_NO;
	MHD_add_response_header(response, "Access-Control-Allow-Origin", file->origin);
	MHD_add_response_header(response, "Access-Control-Allow-Methods", "GET");
	MHD_add_response_header(response, "Access-Control-Allow-Private-Network", "true");
	result = MHD_queue_response(connection, MHD_HTTP_NO_CONTENT, response);
	MHD_destroy_response(response);
	return result;
}

/* At the first call for a request; a body, which none of ours has, is not read. */
static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *path,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **request)
{
	struct view_server *server = context;
	const struct view_file *file;
	bool is_get = strcmp(method, "GET") == 0;

	(void)version, (void)upload, (void)upload_size;
	if (!has_our_host(server, connection))
		return send_text(connection, MHD_HTTP_FORBIDDEN, "not this host\n");
	file = find_file(server, path);
	if (file == NULL)
		return send_text(connection, MHD_HTTP_NOT_FOUND, "nothing here\n");
	if (strcmp(method, "OPTIONS") == 0 && file->origin != NULL)
		return send_permission(connection, file);
	if (!is_get && strcmp(method, "HEAD") != 0)
		return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET or HEAD only\n");
	if (is_get)
		*request = (void *)(uintptr_t)file;
	return MHD_queue_response(connection, MHD_HTTP_OK, server->responses[file - server->files]);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **request,
			 enum MHD_RequestTerminationCode code)
{
	struct view_server *server = context;
	const struct view_file *file = *request;
	uint64_t one = 1;

	(void)connection;
	if (file == NULL || code != MHD_REQUEST_TERMINATED_COMPLETED_OK)
		return;
	atomic_fetch_or(&server->fetched_mask, 1u << (file - server->files));
	if (write(server->fetched_fd, &one, sizeof(one)) < 0)
		return; /* the counter is full: it can be read already */
}

/* The page is its own security; these headers are for what it cannot say itself. */
static struct MHD_Response *make_response(const struct view_file *file)
{
	static const char *const headers[][2] = {
		{ "Cache-Control", "no-store" },
		{ "X-Content-Type-Options", "nosniff" },
		{ "X-Frame-Options", "DENY" },
		{ "Referrer-Policy", "no-referrer" },
		{ "Cross-Origin-Opener-Policy", "same-origin" },
	};
	struct MHD_Response *response = MHD_create_response_from_buffer(
		file->size, (void *)(uintptr_t)file->bytes, MHD_RESPMEM_PERSISTENT);

	if (response == NULL)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		MHD_add_response_header(response, headers[i][0], headers[i][1]);
	MHD_add_response_header(response, "Content-Type", file->type);
	if (file->origin != NULL)
		MHD_add_response_header(response, "Access-Control-Allow-Origin", file->origin);
	return response;
}

static int make_token(char token[2 * TOKEN_BYTES + 1])
{
	uint8_t bytes[TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	for (size_t i = 0; i < TOKEN_BYTES; i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static int start_daemon(struct view_server *server)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const union MHD_DaemonInfo *info;

	errno = 0;
	server->daemon = MHD_start_daemon(
		MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, answer, server,
		MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_MEMORY,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, server, MHD_OPTION_END);
	if (server->daemon == NULL)
		return errno != 0 ? -errno : -EIO;
	info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
	if (info == NULL)
		return -EIO;
	atomic_store(&server->port, info->port);
	return 0;
}

struct view_server *view_server_start(const struct view_file *files, size_t count)
{
	struct view_server *server = calloc(1, sizeof(*server));
	int error = 0;

	if (server == NULL)
		return NULL;
	server->files = files;
	server->count = count;
	server->fetched_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	error = server->fetched_fd < 0 ? -errno : make_token(server->token);
	for (size_t i = 0; error == 0 && i < count; i++) {
		server->responses[i] = make_response(&files[i]);
		error = server->responses[i] != NULL ? 0 : -ENOMEM;
	}
	if (error == 0)
		error = start_daemon(server);
	if (error != 0) {
		view_server_stop(server);
		errno = -error;
		return NULL;
	}
	return server;
}

char *view_server_address(const struct view_server *server, size_t index)
{
	char *text;

	return asprintf(&text, "http://127.0.0.1:%u/%s/%s", atomic_load(&server->port),
			server->token, server->files[index].name) < 0
		       ? NULL
		       : text;
}

int view_server_fd(const struct view_server *server)
{
	return server->fetched_fd;
}

bool view_server_is_done(struct view_server *server)
{
	uint64_t fetched;

	if (read(server->fetched_fd, &fetched, sizeof(fetched)) < 0)
		return false; /* nothing more was fetched since */
	return atomic_load(&server->fetched_mask) == (1u << server->count) - 1;
}

void view_server_stop(struct view_server *server)
{
	if (server == NULL)
		return;
	if (server->daemon != NULL)
		MHD_stop_daemon(server->daemon);
	for (size_t i = 0; i < server->count; i++) {
		if (server->responses[i] != NULL)
			MHD_destroy_response(server->responses[i]);
	}
	if (server->fetched_fd >= 0)
		close(server->fetched_fd);
	free(server);
}
