/* SPDX-License-Identifier: MIT */
/*
 * server_client.c - requests at a fixed rate, whatever the server does.
 *
 * usage: server_client PORT CONNECTIONS RATE SECONDS. Request number i is due at i / RATE seconds;
 * it waits here when all connections are busy, and that counts: its latency runs from when it was
 * due. Prints the 50th, 99th and 99.9th percentile in microseconds, and requests answered a second.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/times.h"

enum { MAX_CONNECTIONS = 64 };

static struct pollfd connections[MAX_CONNECTIONS];
static size_t request_of[MAX_CONNECTIONS]; /* the one that is under way, from 1; 0: free */

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int connect_to(int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		fail("server_client: connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

/* Sends request NUMBER on a free connection, if one is. */
static int send_request(int count, size_t number)
{
	for (int i = 0; i < count; i++) {
		if (request_of[i] != 0)
			continue;
		if (write(connections[i].fd, "r", 1) != 1)
			fail("server_client: write");
		request_of[i] = number;
		return 1;
	}
	return 0;
}

/* Takes what has come within WAIT_US; LATENCIES by request. Returns how many have. */
static size_t receive(int count, double wait_us, double start, double rate, double *latencies)
{
	struct timespec wait = { .tv_nsec = wait_us > 0 ? (long)wait_us * 1000 : 0 };
	size_t done = 0;
	char byte;

	if (ppoll(connections, (nfds_t)count, &wait, NULL) <= 0)
		return 0;
	for (int i = 0; i < count; i++) {
		if (connections[i].revents == 0)
			continue;
		if (read(connections[i].fd, &byte, 1) != 1)
			fail("server_client: read");
		latencies[request_of[i] - 1] =
			monotonic_us() - (start + (double)(request_of[i] - 1) * 1e6 / rate);
		request_of[i] = 0;
		done++;
	}
	return done;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	int count = argc == 5 ? atoi(argv[2]) : 0;
	double rate = argc == 5 ? atof(argv[3]) : 0, start;
	size_t total = argc == 5 ? (size_t)(rate * atof(argv[4])) : 0, sent = 0, done = 0;
	double *latencies = calloc(total + 1, sizeof(*latencies));

	if (count < 1 || count > MAX_CONNECTIONS || total < 1000 || latencies == NULL)
		return 2;
	for (int i = 0; i < count; i++)
		connections[i] =
			(struct pollfd){ .fd = connect_to(atoi(argv[1])), .events = POLLIN };
	start = monotonic_us();
	while (done < total) {
		double due = start + (double)sent * 1e6 / rate, wait = due - monotonic_us();

		if (sent < total && wait <= 0 && send_request(count, sent + 1)) {
			sent++;
			continue;
		}
		done += receive(count, sent < total && wait > 0 ? wait : 100000, start, rate,
				latencies);
	}
	printf("%.0f\n", (double)total * 1e6 / (monotonic_us() - start));
	qsort(latencies, total, sizeof(*latencies), compare);
	printf("%.1f\n%.1f\n%.1f\n", latencies[total / 2], latencies[total * 99 / 100],
	       latencies[total * 999 / 1000]);
	return 0;
}
