/* SPDX-License-Identifier: MIT */
/* dialogue.c - one connection: a line there, a line and bytes back. Threads: one at a time. */
#include "preload/cmd/live/dialogue.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* PATH as an address; a long one by way of its directory (*DIRECTORY: to be closed, or -1). */
static int make_address(const char *path, struct sockaddr_un *address, int *directory)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];
	int length;

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	*directory = -1;
	length = snprintf(address->sun_path, sizeof(address->sun_path), "%s", path);
	if ((size_t)length < sizeof(address->sun_path))
		return 0;
	if (slash == NULL || (size_t)(slash - path) >= sizeof(folder))
		return -ENAMETOOLONG;
	snprintf(folder, sizeof(folder), "%.*s/", (int)(slash - path), path);
	*directory = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*directory < 0)
		return -errno;
	length = snprintf(address->sun_path, sizeof(address->sun_path), "/proc/self/fd/%d/%s",
			  *directory, slash + 1);
	return (size_t)length < sizeof(address->sun_path) ? 0 : -ENAMETOOLONG;
}

int dialogue_open(struct dialogue *dialogue, const char *path)
{
	return dialogue_open_for(dialogue, path, DIALOGUE_PATIENCE_S);
}

int dialogue_open_for(struct dialogue *dialogue, const char *path, unsigned int patience_s)
{
	const struct timeval patience = { .tv_sec = patience_s };
	struct sockaddr_un address;
	int directory;
	int error = make_address(path, &address, &directory);

	*dialogue = (struct dialogue){ .fd = -1 };
	if (error == 0)
		dialogue->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (error == 0 && dialogue->fd < 0)
		error = -errno;
	if (error == 0) {
		setsockopt(dialogue->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		setsockopt(dialogue->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
		if (connect(dialogue->fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
			error = -errno;
	}
	if (directory >= 0)
		close(directory);
	if (error != 0)
		dialogue_close(dialogue);
	return error;
}

void dialogue_close(struct dialogue *dialogue)
{
	if (dialogue->fd >= 0)
		close(dialogue->fd);
	dialogue->fd = -1;
}

pid_t dialogue_listener(const struct dialogue *dialogue)
{
	struct ucred credentials = { 0 };
	socklen_t size = sizeof(credentials);

	/* Of who called listen() (unix(7)). */
	if (getsockopt(dialogue->fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
		return 0;
	return credentials.pid;
}

static int send_all(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		bytes += sent;
		size -= (size_t)sent;
	}
	return 0;
}

/* Bytes; 0 when the other side has closed. */
static ssize_t receive(int fd, void *out, size_t size)
{
	ssize_t got;

	do
		got = recv(fd, out, size, 0);
	while (got < 0 && errno == EINTR);
	if (got >= 0)
		return got;
	return errno == EAGAIN ? -ETIMEDOUT : -errno;
}

/* The line, and what came behind it. */
static int read_reply(struct dialogue *dialogue)
{
	char bytes[PROTOCOL_REPLY_MAX];
	size_t size = 0, line;
	const char *newline = NULL;
	int error;

	while (newline == NULL) {
		ssize_t got;

		if (size == sizeof(bytes))
			return -EPROTO;
		got = receive(dialogue->fd, bytes + size, sizeof(bytes) - size);
		if (got <= 0)
			return got < 0 ? (int)got : -ECONNRESET;
		newline = memchr(bytes + size, '\n', (size_t)got);
		size += (size_t)got;
	}
	line = (size_t)(newline - bytes);
	error = protocol_parse(&dialogue->reply, bytes, line);
	dialogue->early_size = size - line - 1;
	dialogue->early_taken = 0;
	memcpy(dialogue->early, newline + 1, dialogue->early_size);
	return error == 0 ? 0 : -EPROTO;
}

int dialogue_ask(struct dialogue *dialogue, struct protocol_text *request)
{
	int error;

	protocol_end(request);
	if (request->is_full || request->size > PROTOCOL_REQUEST_MAX)
		return -EMSGSIZE;
	error = send_all(dialogue->fd, request->bytes, request->size);
	/* Who is turned away is told so, and may find the connection closed already. */
	if (error == 0 || error == -EPIPE)
		error = read_reply(dialogue);
	dialogue->bytes_left = error == 0 ? dialogue_number(dialogue, "bytes") : 0;
	return error;
}

bool dialogue_is_ok(const struct dialogue *dialogue)
{
	return strcmp(dialogue->reply.word, "ok") == 0;
}

bool dialogue_is_error(const struct dialogue *dialogue, enum protocol_error what)
{
	return !dialogue_is_ok(dialogue) &&
	       strcmp(dialogue_text(dialogue, "what"), protocol_error_names[what]) == 0;
}

const char *dialogue_text(const struct dialogue *dialogue, const char *key)
{
	const char *value = protocol_value(&dialogue->reply, key);

	return value != NULL ? value : "";
}

uint64_t dialogue_number(const struct dialogue *dialogue, const char *key)
{
	uint64_t number = 0;

	protocol_number(&dialogue->reply, key, UINT64_MAX, &number);
	return number;
}

int dialogue_read(struct dialogue *dialogue, void *out, size_t size)
{
	size_t early = dialogue->early_size - dialogue->early_taken;
	ssize_t got;

	if (size > INT_MAX)
		size = INT_MAX;
	if (size > dialogue->bytes_left)
		size = (size_t)dialogue->bytes_left;
	if (size == 0)
		return 0;
	if (early > 0) {
		got = (ssize_t)(size < early ? size : early);
		memcpy(out, dialogue->early + dialogue->early_taken, (size_t)got);
		dialogue->early_taken += (size_t)got;
	} else {
		got = receive(dialogue->fd, out, size);
	}
	if (got > 0)
		dialogue->bytes_left -= (uint64_t)got;
	return got == 0 ? -ECONNRESET : (int)got;
}

int dialogue_read_all(struct dialogue *dialogue, uint8_t **bytes, size_t *size)
{
	int got;

	*size = 0;
	*bytes = NULL;
	if (dialogue->bytes_left > DIALOGUE_MOST_BYTES)
		return -EFBIG;
	*bytes = malloc((size_t)dialogue->bytes_left + 1);
	if (*bytes == NULL)
		return -ENOMEM;
	while ((got = dialogue_read(dialogue, *bytes + *size, (size_t)dialogue->bytes_left)) > 0)
		*size += (size_t)got;
	if (got == 0)
		return 0;
	free(*bytes);
	*bytes = NULL;
	return got;
}
