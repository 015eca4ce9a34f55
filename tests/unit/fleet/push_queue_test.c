/* SPDX-License-Identifier: MIT */
/* push_queue_test.c - order, patience and bounds of what waits to be sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "preload/cmd/fleet/push_queue.h"

#define SECOND_NS UINT64_C(1000000000)

/* The server: what it answers next, and the first bytes of what it took or refused. */
static struct {
	long status;
	unsigned int retry_after_s;
	char asked[1024];
	size_t count;
} server;

static struct push_queue queue;

bool http_client_post(struct http_client *client, const char *url, const void *body, size_t size,
		      struct http_answer *answer)
{
	(void)client, (void)url, (void)size;
	assert_true(server.count < sizeof(server.asked));
	server.asked[server.count++] = *(const char *)body;
	*answer = (struct http_answer){ .status = server.status,
					.retry_after_s = server.retry_after_s,
					.why = "so it says\r\nand more" };
	return server.status == 200;
}

bool http_client_may_retry(const struct http_answer *answer)
{
	return answer->status != 400;
}

static int start(void **unused)
{
	(void)unused;
	memset(&server, 0, sizeof(server));
	queue = (struct push_queue){ .url = "http://there" };
	return 0;
}

static int end(void **unused)
{
	(void)unused;
	push_queue_free(&queue);
	return 0;
}

/* Of one byte, whatever SIZE says. */
static void add(char name, size_t size)
{
	uint8_t *body = malloc(1);

	assert_non_null(body);
	*body = (uint8_t)name;
	push_queue_add(&queue, body, size, 10);
}

static void asked(const char *names)
{
	assert_int_equal(server.count, strlen(names));
	assert_memory_equal(server.asked, names, server.count);
	server.count = 0;
}

static void in_order(void **unused)
{
	(void)unused;
	server.status = 200;
	for (char name = 'a'; name <= 'e'; name++)
		add(name, 1);
	push_queue_send(&queue, 0);
	asked("abcde");
	assert_int_equal(queue.sent, 5);
	assert_int_equal(queue.sent_samples, 50);
	assert_int_equal(queue.lost, 0);
	assert_int_equal(queue.bytes, 0);
}

/* Each pause is twice the one before; nothing overtakes; after so many it is given up. */
static void patience(void **unused)
{
	uint64_t now_ns = 5 * SECOND_NS, pause_ns = SECOND_NS;

	(void)unused;
	server.status = 503;
	add('a', 1);
	add('b', 1);
	push_queue_send(&queue, now_ns);
	asked("a");
	for (int i = 1; i < PUSH_QUEUE_TRIES; i++) {
		assert_int_equal(queue.count, 2);
		push_queue_send(&queue, now_ns + pause_ns - 1);
		asked("");
		now_ns += pause_ns;
		if (i + 1 == PUSH_QUEUE_TRIES)
			server.status = 0; /* no connection at all is the same */
		push_queue_send(&queue, now_ns);
		assert_int_equal(server.asked[0], 'a');
		server.count = 0;
		pause_ns *= 2;
	}
	assert_int_equal(queue.lost, 1);
	assert_int_equal(queue.count, 1);
	server.status = 200;
	push_queue_send(&queue, now_ns + PUSH_QUEUE_PAUSE_MAX_S * SECOND_NS);
	asked("b");
	assert_int_equal(queue.sent, 1);
}

/* As long as the server asks for, within reason. */
static void as_told(void **unused)
{
	(void)unused;
	server.status = 429;
	server.retry_after_s = 7;
	add('a', 1);
	push_queue_send(&queue, 0);
	push_queue_send(&queue, 7 * SECOND_NS - 1);
	asked("a");
	server.retry_after_s = 86400;
	push_queue_send(&queue, 7 * SECOND_NS);
	asked("a");
	server.status = 200;
	push_queue_send(&queue, (7 + PUSH_QUEUE_PAUSE_MAX_S) * SECOND_NS);
	asked("a");
	assert_int_equal(queue.sent, 1);
}

static void refused_for_good(void **unused)
{
	(void)unused;
	server.status = 400;
	add('a', 1);
	add('b', 1);
	push_queue_send(&queue, 0);
	asked("ab");
	assert_int_equal(queue.lost, 2);
	assert_int_equal(queue.count, 0);
}

/* The oldest go, and are counted. */
static void bounds(void **unused)
{
	(void)unused;
	server.status = 200;
	for (int i = 0; i < PUSH_QUEUE_MAX + 3; i++)
		add(i < 3 ? 'x' : 'a', 1);
	assert_int_equal(queue.lost, 3);
	assert_int_equal(queue.count, PUSH_QUEUE_MAX);
	push_queue_send(&queue, 0);
	assert_int_equal(server.count, PUSH_QUEUE_MAX);
	assert_null(memchr(server.asked, 'x', server.count));
	server.count = 0;
	for (char name = 'a'; name <= 'e'; name++)
		add(name, PUSH_QUEUE_BYTES / 4);
	assert_int_equal(queue.count, 4);
	assert_int_equal(queue.bytes, PUSH_QUEUE_BYTES);
	/* One that is larger than all has room when it is alone. */
	add('f', PUSH_QUEUE_BYTES + 1);
	push_queue_send(&queue, 0);
	asked("f");
	assert_int_equal(queue.lost, 3 + 1 + 4);
}

static void what_is_left(void **unused)
{
	(void)unused;
	add('a', 1);
	add('b', 1);
	push_queue_free(&queue);
	assert_int_equal(queue.lost, 2);
	assert_int_equal(queue.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(in_order, start, end),
		cmocka_unit_test_setup_teardown(patience, start, end),
		cmocka_unit_test_setup_teardown(as_told, start, end),
		cmocka_unit_test_setup_teardown(refused_for_good, start, end),
		cmocka_unit_test_setup_teardown(bounds, start, end),
		cmocka_unit_test_setup_teardown(what_is_left, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
