/* SPDX-License-Identifier: MIT */
/* client.c - reads a line, has it answered, sends the answer. Threads: ours. */
#include "preload/control/client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	REQUESTS_A_TURN = 4,
	PIECE = 64 * 1024,
	BYTES_A_TURN = 16 * PIECE, /* then the samples are looked after first */
	GROUPS_MAX = 256,
};

#define IDLE_NS (PROTOCOL_IDLE_S * UINT64_C(1000000000))

/* ---- the peer -------------------------------------------------------------------------------- */

/* What /proc says of it now: for people only. */
static void read_name(struct control_peer *peer)
{
	char path[32];
	ssize_t size;
	int fd;

	if (peer->pid <= 0)
		return;
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)peer->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	size = read(fd, peer->name, sizeof(peer->name) - 1);
	close(fd);
	if (size > 0 && peer->name[size - 1] == '\n')
		peer->name[size - 1] = '\0';
}

struct client *client_new(int fd, uint64_t now_ns)
{
	struct client *client = calloc(1, sizeof(*client));
	struct ucred credentials = { .uid = (uid_t)-1 };
	socklen_t size = sizeof(credentials);

	if (client == NULL) {
		close(fd);
		return NULL;
	}
	client->fd = fd;
	client->last_ns = now_ns;
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size);
	client->peer.pid = credentials.pid;
	client->peer.uid = credentials.uid;
	read_name(&client->peer);
	return client;
}

static bool is_in_group(int fd, gid_t gid)
{
	struct ucred credentials = { .gid = (gid_t)-1 };
	gid_t groups[GROUPS_MAX];
	socklen_t size = sizeof(credentials);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 &&
	    credentials.gid == gid)
		return true;
	size = sizeof(groups);
	/* SO_PEERGROUPS (59) since Linux 4.13. */
	if (getsockopt(fd, SOL_SOCKET, 59, groups, &size) != 0)
		return false;
	for (size_t i = 0; i < size / sizeof(*groups); i++) {
		if (groups[i] == gid)
			return true;
	}
	return false;
}

bool client_is_allowed(const struct client *client, int64_t gid)
{
	uid_t uid = client->peer.uid;

	if (uid == (uid_t)-1)
		return false;
	return uid == geteuid() || uid == 0 || (gid >= 0 && is_in_group(client->fd, (gid_t)gid));
}

/* ---- the reply ------------------------------------------------------------------------------- */

static void drop_reply(struct client *client, bool forked)
{
	free(client->reply.bytes);
	if (client->reply.fd > 0 && !forked)
		close(client->reply.fd);
	client->reply.bytes = NULL;
	client->reply.fd = 0;
	client->has_reply = false;
}

void client_free(struct client *client, bool forked)
{
	if (client == NULL)
		return;
	drop_reply(client, forked);
	if (!forked)
		close(client->fd);
	free(client);
}

/* Bytes that went; 0: not now; negative: never. */
static ssize_t send_some(struct client *client, const void *bytes, size_t size, uint64_t now_ns)
{
	ssize_t sent = send(client->fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (sent < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	client->last_ns = now_ns;
	return sent;
}

/* The next piece of the reply's bytes, in *BYTES (BUFFER, if they must be read). 0: they are gone.
 */
static size_t next_piece(const struct client *client, uint8_t buffer[PIECE], const uint8_t **bytes)
{
	uint64_t left = client->reply.size - client->bytes_sent;
	size_t size = left < PIECE ? (size_t)left : PIECE;
	ssize_t got;

	*bytes = buffer;
	if (client->reply.bytes != NULL) {
		*bytes = client->reply.bytes + client->bytes_sent;
		return size;
	}
	do
		got = pread(client->reply.fd, buffer, size, (off_t)client->bytes_sent);
	while (got < 0 && errno == EINTR);
	return got > 0 ? (size_t)got : 0;
}

/* Sends what can be sent now. False: the connection is over. */
static bool send_reply(struct client *client, uint64_t now_ns)
{
	const struct protocol_text *text = &client->reply.text;
	static uint8_t buffer[PIECE];
	const uint8_t *bytes;
	uint64_t until = client->bytes_sent + BYTES_A_TURN;
	ssize_t sent = 1;

	while (client->line_sent < text->size && sent > 0) {
		sent = send_some(client, text->bytes + client->line_sent,
				 text->size - client->line_sent, now_ns);
		client->line_sent += sent > 0 ? (uint64_t)sent : 0;
	}
	while (sent > 0 && client->bytes_sent < client->reply.size && client->bytes_sent < until) {
		size_t size = next_piece(client, buffer, &bytes);

		/* A file that was cut short: the line has promised more. */
		sent = size > 0 ? send_some(client, bytes, size, now_ns) : -1;
		client->bytes_sent += sent > 0 ? (uint64_t)sent : 0;
	}
	if (client->line_sent == text->size && client->bytes_sent == client->reply.size)
		drop_reply(client, false);
	return sent >= 0;
}

/* ---- the request ----------------------------------------------------------------------------- */

static void begin_reply(struct client *client)
{
	if (client->reply.text.is_full)
		control_refuse(&client->reply, PROTOCOL_FAILED, "the answer is too long");
	protocol_end(&client->reply.text);
	client->has_reply = true;
	client->line_sent = client->bytes_sent = 0;
}

static void answer_line(struct client *client, size_t size, control_answer *answer)
{
	static struct protocol_line line;
	int error = protocol_parse(&line, client->in, size);

	client->reply = (struct control_reply){ 0 };
	if (error == 0) {
		answer(&line, &client->peer, &client->reply);
	} else {
		control_refuse(&client->reply, PROTOCOL_BAD_REQUEST,
			       error == -EPROTONOSUPPORT ? "another version of the protocol"
							 : "no request of this protocol");
		protocol_add_number(&client->reply.text, "version", PROTOCOL_VERSION);
		client->is_last = true;
	}
	begin_reply(client);
}

static void refuse_long_line(struct client *client)
{
	client->reply = (struct control_reply){ 0 };
	control_refuse(&client->reply, PROTOCOL_BAD_REQUEST, "the line is too long");
	client->is_last = true;
	begin_reply(client);
}

/* Answers one line, if it is there. False: there is none. */
static bool answer_next(struct client *client, control_answer *answer)
{
	const char *newline = memchr(client->in, '\n', client->in_size);
	size_t size;

	if (newline == NULL && client->in_size == sizeof(client->in)) {
		refuse_long_line(client);
		return true;
	}
	if (newline == NULL)
		return false;
	size = (size_t)(newline - client->in);
	answer_line(client, size, answer);
	client->in_size -= size + 1;
	memmove(client->in, newline + 1, client->in_size);
	return true;
}

/* False: the peer has closed, or never sends a whole line. */
static bool receive(struct client *client, uint64_t now_ns)
{
	ssize_t got;

	if (client->in_size == sizeof(client->in))
		return true;
	got = recv(client->fd, client->in + client->in_size, sizeof(client->in) - client->in_size,
		   MSG_DONTWAIT);
	if (got > 0) {
		client->in_size += (size_t)got;
		client->last_ns = now_ns;
		return true;
	}
	return got < 0 && (errno == EAGAIN || errno == EINTR);
}

bool client_work(struct client *client, control_answer *answer, uint64_t now_ns)
{
	for (int i = 0; i < REQUESTS_A_TURN; i++) {
		if (client->has_reply && !send_reply(client, now_ns))
			return false;
		if (client->has_reply)
			break;
		if (client->is_last || !receive(client, now_ns))
			return false;
		if (!answer_next(client, answer))
			break;
	}
	return now_ns - client->last_ns < IDLE_NS;
}
