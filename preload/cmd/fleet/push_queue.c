/* SPDX-License-Identifier: MIT */
/* push_queue.c - a ring of bodies, and when the first is tried again. Threads: one at a time. */
#include "preload/cmd/fleet/push_queue.h"

#include "preload/cmd/say.h"

#include <stdlib.h>
#include <string.h>

#define SECOND_NS ((uint64_t)1000 * 1000 * 1000)

/* The first one is done with. */
static void remove_first(struct push_queue *queue)
{
	struct push_item *item = &queue->items[queue->first];

	queue->bytes -= item->size;
	free(item->body);
	*item = (struct push_item){ 0 };
	queue->first = (queue->first + 1) % PUSH_QUEUE_MAX;
	queue->count--;
	queue->tries = 0;
}

void push_queue_add(struct push_queue *queue, uint8_t *body, size_t size, size_t samples)
{
	while (queue->count == PUSH_QUEUE_MAX ||
	       (queue->count != 0 && queue->bytes + size > PUSH_QUEUE_BYTES)) {
		if (queue->lost++ == 0)
			say_line("push: more waits to be sent than there is room for; the oldest "
				 "profiles are dropped");
		remove_first(queue);
	}
	queue->items[(queue->first + queue->count++) % PUSH_QUEUE_MAX] =
		(struct push_item){ .body = body, .size = size, .samples = samples };
	queue->bytes += size;
}

/* The answer in one line. */
static void say_failure(const struct push_queue *queue, struct http_answer *answer,
			const char *what)
{
	answer->why[strcspn(answer->why, "\r\n")] = '\0';
	if (answer->status != 0)
		say_line("push: %s: status %ld: %.160s%s", queue->url, answer->status, answer->why,
			 what);
	else
		say_line("push: %s: %.160s%s", queue->url, answer->why, what);
}

static void fail(struct push_queue *queue, struct http_answer *answer, uint64_t now_ns)
{
	uint64_t pause_s = UINT64_C(1) << queue->tries;

	queue->tries++;
	if (!http_client_may_retry(answer) || queue->tries == PUSH_QUEUE_TRIES) {
		say_failure(queue, answer, "; the profile is dropped");
		queue->lost++;
		remove_first(queue);
		return;
	}
	if (queue->tries == 1)
		say_failure(queue, answer, "; it is tried again");
	if (pause_s < answer->retry_after_s)
		pause_s = answer->retry_after_s;
	if (pause_s > PUSH_QUEUE_PAUSE_MAX_S)
		pause_s = PUSH_QUEUE_PAUSE_MAX_S;
	queue->next_ns = now_ns + pause_s * SECOND_NS;
}

void push_queue_send(struct push_queue *queue, uint64_t now_ns)
{
	while (queue->count != 0 && now_ns >= queue->next_ns) {
		const struct push_item *item = &queue->items[queue->first];
		struct http_answer answer;

		if (!http_client_post(queue->client, queue->url, item->body, item->size, &answer)) {
			fail(queue, &answer, now_ns);
			continue;
		}
		queue->sent++;
		queue->sent_samples += item->samples;
		remove_first(queue);
	}
}

void push_queue_free(struct push_queue *queue)
{
	while (queue->count != 0) {
		queue->lost++;
		remove_first(queue);
	}
}
