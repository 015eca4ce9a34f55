/* SPDX-License-Identifier: MIT */
/*
 * push_queue.h - profiles that wait to be sent: in order, within bounds, tried again while that may
 * help.
 */
#ifndef PRELOAD_CMD_FLEET_PUSH_QUEUE_H
#define PRELOAD_CMD_FLEET_PUSH_QUEUE_H

#include "preload/cmd/fleet/http_client.h"

enum {
	PUSH_QUEUE_MAX = 256,	     /* profiles; then the oldest goes */
	PUSH_QUEUE_BYTES = 64 << 20, /* the same */
	PUSH_QUEUE_TRIES = 6,	     /* of one, with pauses of 1, 2, 4, ... s */
	PUSH_QUEUE_PAUSE_MAX_S = 30,
};

struct push_queue {
	struct http_client *client; /* borrowed */
	const char *url;	    /* borrowed */
	struct push_item {
		uint8_t *body;
		size_t size, samples;
	} items[PUSH_QUEUE_MAX];
	size_t first, count, bytes;	   /* items is a ring */
	unsigned int tries;		   /* of the first */
	uint64_t next_ns;		   /* CLOCK_MONOTONIC: not before */
	uint64_t sent, sent_samples, lost; /* profiles */
};

/* Takes BODY. Makes room by dropping the oldest, which is counted and said. */
void push_queue_add(struct push_queue *queue, uint8_t *body, size_t size, size_t samples);

/*
 * Sends the first ones at NOW_NS, as long as that works. What will never be taken is dropped,
 * counted and said.
 */
void push_queue_send(struct push_queue *queue, uint64_t now_ns);

/* Drops what is left, and counts it. */
void push_queue_free(struct push_queue *queue);

#endif /* PRELOAD_CMD_FLEET_PUSH_QUEUE_H */
