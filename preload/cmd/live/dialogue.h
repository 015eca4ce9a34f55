/* SPDX-License-Identifier: MIT */
/*
 * dialogue.h - a process's control socket, asked and answered (control/protocol.h).
 */
#ifndef PRELOAD_CMD_LIVE_DIALOGUE_H
#define PRELOAD_CMD_LIVE_DIALOGUE_H

#include <sys/types.h>

#include "preload/control/protocol.h"
#include "symtab/base.h"

#define DIALOGUE_MOST_BYTES (UINT64_C(256) << 20)

struct dialogue {
	int fd;
	struct protocol_line reply;	   /* the last one */
	uint64_t bytes_left;		   /* behind it */
	uint8_t early[PROTOCOL_REPLY_MAX]; /* of those, what came with the line */
	size_t early_size, early_taken;
};

enum { DIALOGUE_PATIENCE_S = 20 }; /* for a process that is busy, or stopped */

/* Connects to PATH. 0 or negative errno: -ECONNREFUSED: nobody listens (any more). */
int dialogue_open(struct dialogue *dialogue, const char *path);
/* The same, where nothing of it may take longer than PATIENCE_S: -ETIMEDOUT or -EAGAIN then. */
int dialogue_open_for(struct dialogue *dialogue, const char *path, unsigned int patience_s);
void dialogue_close(struct dialogue *dialogue);

/* The process that listens there, as it is numbered here; 0: one of another pid namespace. */
pid_t dialogue_listener(const struct dialogue *dialogue);

/* Sends REQUEST, begun and not ended, and waits for the reply. 0, negative errno, -EPROTO. */
int dialogue_ask(struct dialogue *dialogue, struct protocol_text *request);

/* The reply is `ok`. */
bool dialogue_is_ok(const struct dialogue *dialogue);

/* The reply is this error. */
bool dialogue_is_error(const struct dialogue *dialogue, enum protocol_error what);

/* The value of KEY in the reply, "" when it has none; its number, 0. */
const char *dialogue_text(const struct dialogue *dialogue, const char *key);
uint64_t dialogue_number(const struct dialogue *dialogue, const char *key);

/* The next of the bytes behind the reply: how many were put to OUT, 0 at their end; negative errno.
 */
int dialogue_read(struct dialogue *dialogue, void *out, size_t size);

/*
 * All of them, as *BYTES (caller frees; NULL on failure) of *SIZE. 0 or negative errno: -EFBIG for
 * more than DIALOGUE_MOST_BYTES, -ENOMEM, or as dialogue_read().
 */
int dialogue_read_all(struct dialogue *dialogue, uint8_t **bytes, size_t *size);

#endif /* PRELOAD_CMD_LIVE_DIALOGUE_H */
