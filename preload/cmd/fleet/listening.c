/* SPDX-License-Identifier: MIT */
/* listening.c - addresses and tokens. Threads: any. */
#include "preload/cmd/fleet/listening.h"

#include "preload/cmd/say.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HOST_SIZE = 256, BACKLOG = 512, TOKEN_MAX = 4096 };

/* Errors of getaddrinfo() are given on below these. */
enum { ADDRESS_ERRORS = -100000 };

static bool is_loopback_address(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

static int listen_at(const struct addrinfo *info)
{
	int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, error;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	error = -errno;
	close(fd);
	return error;
}

static void write_text(int fd, char text[LISTENING_TEXT_SIZE])
{
	struct sockaddr_storage address = { 0 };
	socklen_t size = sizeof(address);
	char host[INET6_ADDRSTRLEN] = "", port[8] = "";

	getsockname(fd, (struct sockaddr *)&address, &size);
	getnameinfo((const struct sockaddr *)&address, size, host, sizeof(host), port, sizeof(port),
		    NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(text, LISTENING_TEXT_SIZE, strchr(host, ':') != NULL ? "[%s]:%s" : "%s:%s", host,
		 port);
}

/* HOST without brackets; the port is what follows the last colon. */
static const char *split(const char *address, char host[HOST_SIZE])
{
	const char *colon = strrchr(address, ':');
	size_t length = colon != NULL ? (size_t)(colon - address) : 0;

	if (colon == NULL || colon[1] == '\0' || length >= HOST_SIZE)
		return NULL;
	if (length >= 2 && address[0] == '[' && address[length - 1] == ']') {
		address++;
		length -= 2;
	}
	memcpy(host, address, length);
	host[length] = '\0';
	return colon + 1;
}

int listening_open(const char *address, bool *is_loopback, char text[LISTENING_TEXT_SIZE])
{
	const struct addrinfo wish = {
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
		.ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *found;
	char host[HOST_SIZE];
	const char *port = split(address, host);
	int error, fd;

	if (port == NULL)
		return -EINVAL;
	error = getaddrinfo(host[0] != '\0' ? host : NULL, port, &wish, &found);
	if (error != 0)
		return ADDRESS_ERRORS - (error < 0 ? -error : error);
	fd = listen_at(found);
	*is_loopback = is_loopback_address(found->ai_addr);
	freeaddrinfo(found);
	if (fd >= 0)
		write_text(fd, text);
	return fd;
}

const char *listening_reason(int error)
{
	if (error == -EINVAL)
		return "not HOST:PORT";
	return error < ADDRESS_ERRORS ? gai_strerror(error - ADDRESS_ERRORS) : strerror(-error);
}

char *listening_token(const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = malloc(TOKEN_MAX);
	size_t length = 0;

	if (file == NULL || line == NULL) {
		say_line("%s: %s", path, strerror(errno));
	} else if (fgets(line, TOKEN_MAX, file) != NULL) {
		length = strcspn(line, "\r\n");
		line[length] = '\0';
	}
	if (file != NULL)
		fclose(file);
	for (size_t i = 0; i < length; i++) {
		if (line[i] <= ' ' || line[i] > '~')
			length = 0;
	}
	if (length >= LISTENING_TOKEN_LEAST)
		return line;
	if (file != NULL && line != NULL)
		say_line("%s: its first line is no token: %d characters at least, no spaces", path,
			 LISTENING_TOKEN_LEAST);
	free(line);
	return NULL;
}
