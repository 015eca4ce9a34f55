/* SPDX-License-Identifier: MIT */
/* control.c - the listening socket and its clients. Threads: ours; configured in the constructor.
 */
#include "preload/control/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "preload/base/log.h"
#include "preload/control/client.h"
#include "preload/control/place.h"

enum { CLIENTS_MAX = 8 };

#define IDLE_NS (PROTOCOL_IDLE_S * UINT64_C(1000000000))

static struct {
	bool is_wanted;
	struct place place;
	control_answer *answer;
	int listener; /* 0: none */
	struct client *clients[CLIENTS_MAX];
	size_t count;
} self;

void control_configure(const struct config *config)
{
	if (config->control == NULL)
		return;
	if (config->control_gid >= 0 && config->control[0] != '/')
		log_line(LOG_ERROR,
			 "GUESTPROF_CONTROL_GID: the usual place of the socket is for its "
			 "user alone; GUESTPROF_CONTROL must name a directory");
	self.is_wanted = place_configure(&self.place, config->control, config->control_gid,
					 getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR")) == 0;
	if (!self.is_wanted)
		log_line(LOG_ERROR, "GUESTPROF_CONTROL: %s", strerror(ENAMETOOLONG));
}

void control_open(control_answer *answer)
{
	int fd;

	if (!self.is_wanted || self.listener > 0)
		return;
	fd = place_listen(&self.place);
	if (fd == -EADDRINUSE)
		log_line(LOG_INFO,
			 "control socket: another process listens there: none for this one");
	else if (fd < 0)
		log_line(LOG_ERROR, "no control socket: %s", strerror(-fd));
	if (fd < 0)
		return;
	self.answer = answer;
	self.listener = fd;
}

/* ---- clients --------------------------------------------------------------------------------- */

void control_refuse(struct control_reply *reply, enum protocol_error what, const char *text)
{
	free(reply->bytes);
	if (reply->fd > 0)
		close(reply->fd);
	*reply = (struct control_reply){ 0 };
	protocol_begin(&reply->text, "error");
	protocol_add(&reply->text, "what", protocol_error_names[what]);
	protocol_add(&reply->text, "text", text);
}

/* One line, as far as it goes without waiting, and the end. */
static void turn_away(struct client *client, enum protocol_error what, const char *text)
{
	control_refuse(&client->reply, what, text);
	protocol_end(&client->reply.text);
	if (send(client->fd, client->reply.text.bytes, client->reply.text.size,
		 MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		log_line(LOG_DEBUG, "control socket: a client was turned away");
	client_free(client, false);
}

static void welcome(int fd, uint64_t now_ns)
{
	struct client *client = client_new(fd, now_ns);

	if (client == NULL)
		return;
	if (!client_is_allowed(client, self.place.gid))
		turn_away(client, PROTOCOL_DENIED, "only for the process's own user and root");
	else if (self.count == CLIENTS_MAX)
		turn_away(client, PROTOCOL_BUSY, "too many clients");
	else
		self.clients[self.count++] = client;
}

static void accept_some(uint64_t now_ns)
{
	int fd;

	/* One that nobody may use could go on for ever: so many a turn. */
	for (int i = 0; i < CLIENTS_MAX; i++) {
		fd = accept4(self.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0)
			return;
		welcome(fd, now_ns);
	}
}

void control_work(uint64_t now_ns)
{
	size_t kept = 0, count;

	if (self.listener <= 0)
		return;
	accept_some(now_ns);
	count = self.count;
	for (size_t i = 0; i < count; i++) {
		if (client_work(self.clients[i], self.answer, now_ns))
			self.clients[kept++] = self.clients[i];
		else
			client_free(self.clients[i], false);
	}
	self.count = kept;
}

size_t control_descriptors(struct pollfd *descriptors, size_t max)
{
	size_t count = 0;

	if (self.listener <= 0 || max < self.count + 1)
		return 0;
	descriptors[count++] = (struct pollfd){ .fd = self.listener, .events = POLLIN };
	for (size_t i = 0; i < self.count; i++)
		descriptors[count++] = (struct pollfd){
			.fd = self.clients[i]->fd,
			.events = self.clients[i]->has_reply ? POLLOUT : POLLIN,
		};
	return count;
}

bool control_is_busy(void)
{
	for (size_t i = 0; i < self.count; i++) {
		if (self.clients[i]->has_reply)
			return true;
	}
	return false;
}

uint64_t control_next_ns(void)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < self.count; i++) {
		uint64_t end = self.clients[i]->last_ns + IDLE_NS;

		next = end < next ? end : next;
	}
	return next;
}

static void drop_all(bool forked)
{
	for (size_t i = 0; i < self.count; i++)
		client_free(self.clients[i], forked);
	self.count = 0;
}

void control_close(void)
{
	drop_all(false);
	if (self.listener > 0)
		close(self.listener);
	self.listener = 0;
	place_remove(&self.place);
}

void control_fork_child(void)
{
	drop_all(true);
	self.listener = 0;
	/* The child's name has another pid in it; the file of this one is the parent's. */
	self.place.directory_fd = 0;
	self.place.inode = 0;
}
