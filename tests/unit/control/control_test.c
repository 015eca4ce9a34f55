/* SPDX-License-Identifier: MIT */
/*
 * control_test.c - the socket and its clients: replies whole, bounds kept, nobody waited for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "preload/control/control.h"

enum { BODY = 3 << 20 };

#define SECOND_NS UINT64_C(1000000000)

static char folder[] = "/tmp/control_test.XXXXXX";
static char path[64];
static uint64_t now_ns = SECOND_NS;
static unsigned int answered;

static void answer(const struct protocol_line *request, const struct control_peer *peer,
		   struct control_reply *reply)
{
	answered++;
	assert_int_equal(peer->pid, getpid());
	assert_int_equal(peer->uid, getuid());
	if (strcmp(request->word, "bytes") == 0) {
		reply->bytes = malloc(BODY);
		memset(reply->bytes, 'b', BODY);
		reply->size = BODY;
	} else if (strcmp(request->word, "file") == 0) {
		reply->fd = open("/proc/self/exe", O_RDONLY);
		reply->size = 1 << 20; /* more than there may be */
	} else if (strcmp(request->word, "refuse") == 0) {
		reply->bytes = malloc(1);
		control_refuse(reply, PROTOCOL_NOTHING, "not \"now\"");
		return;
	}
	protocol_begin(&reply->text, "ok");
	protocol_add_number(&reply->text, "bytes", reply->size);
}

static int connect_there(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	strcpy(address.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void say(int fd, const char *line)
{
	assert_int_equal(send(fd, line, strlen(line), 0), strlen(line));
}

static void work(int turns)
{
	for (int i = 0; i < turns; i++)
		control_work(now_ns);
}

/* What has come by now, terminated; its size, 0 at the end, -1 nothing. */
static ssize_t hear(int fd, char *out, size_t size)
{
	ssize_t got = recv(fd, out, size - 1, 0);

	out[got > 0 ? got : 0] = '\0';
	return got;
}

static void lines_in_pieces(void **unused)
{
	int fd = connect_there();
	char heard[256];

	(void)unused;
	say(fd, "guestprof/1 st");
	work(2);
	assert_int_equal(hear(fd, heard, sizeof(heard)), -1);
	say(fd, "atus\nguestprof/1 refuse\nguestprof/1 x");
	work(2);
	hear(fd, heard, sizeof(heard));
	assert_string_equal(heard, "guestprof/1 ok bytes=0\n"
				   "guestprof/1 error what=nothing text=not%20\"now\"\n");
	say(fd, "\n");
	work(1);
	assert_true(hear(fd, heard, sizeof(heard)) > 0);
	close(fd);
	work(1);
}

static void long_bodies(void **unused)
{
	static char heard[1 << 16];
	int fd = connect_there();
	size_t total = 0;
	ssize_t got;

	(void)unused;
	say(fd, "guestprof/1 bytes\nguestprof/1 status\n");
	work(1);
	assert_true(control_is_busy());
	/* The other side does not read: one turn more changes nothing, and does not wait. */
	work(3);
	for (int i = 0; i < 100000 && total < BODY + 40; i++) {
		got = hear(fd, heard, sizeof(heard));
		total += got > 0 ? (size_t)got : 0;
		work(1);
	}
	total -= strlen("guestprof/1 ok bytes=3145728\n") + strlen("guestprof/1 ok bytes=0\n");
	assert_int_equal(total, BODY);
	assert_false(control_is_busy());
	/* A file that is shorter than was said: the connection ends. */
	say(fd, "guestprof/1 file\n");
	for (got = 1; got != 0;) {
		work(1);
		got = hear(fd, heard, sizeof(heard));
	}
	close(fd);
}

static void strange_clients(void **unused)
{
	static char junk[4096];
	int fds[12];
	char heard[256];

	(void)unused;
	memset(junk, 'x', sizeof(junk));
	for (int i = 0; i < 12; i++) {
		fds[i] = connect_there();
		work(1);
	}
	/* Eight are served. */
	hear(fds[8], heard, sizeof(heard));
	assert_non_null(strstr(heard, "what=busy"));
	send(fds[0], junk, sizeof(junk), 0);
	say(fds[1], "guestprof/2 status\n");
	work(2);
	hear(fds[0], heard, sizeof(heard));
	assert_non_null(strstr(heard, "too%20long"));
	hear(fds[1], heard, sizeof(heard));
	assert_non_null(strstr(heard, "version=1"));
	assert_int_equal(hear(fds[1], heard, sizeof(heard)), 0);
	/* The others are silent for too long. */
	assert_true(control_next_ns() == now_ns + PROTOCOL_IDLE_S * SECOND_NS);
	now_ns = control_next_ns();
	work(1);
	assert_true(control_next_ns() == UINT64_MAX);
	for (int i = 0; i < 12; i++)
		close(fds[i]);
}

static void the_socket_is_ours(void **unused)
{
	struct stat facts;
	struct pollfd descriptors[16];

	(void)unused;
	assert_int_equal(stat(path, &facts), 0);
	assert_int_equal(facts.st_mode & 07777, 0600);
	assert_int_equal(control_descriptors(descriptors, 16), 1);
	/* A child leaves it alone. */
	control_fork_child();
	control_close();
	assert_int_equal(stat(path, &facts), 0);
}

static int open_control(void **unused)
{
	static struct config config = { .control_gid = -1 };

	(void)unused;
	signal(SIGPIPE, SIG_DFL); /* the host's: it must not be sent */
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/%d.sock", folder, getpid());
	config.control = folder;
	umask(0177);
	control_configure(&config);
	control_open(answer);
	return 0;
}

static int clean_up(void **unused)
{
	(void)unused;
	unlink(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_in_pieces),
		cmocka_unit_test(long_bodies),
		cmocka_unit_test(strange_clients),
		cmocka_unit_test(the_socket_is_ours),
	};

	return cmocka_run_group_tests(tests, open_control, clean_up);
}
