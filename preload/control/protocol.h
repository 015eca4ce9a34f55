/* SPDX-License-Identifier: MIT */
/*
 * protocol.h - what is said over the control socket, by the host and by the command.
 *
 * A Unix stream socket. The client sends lines, and for each gets one line, and after it as many
 * bytes as the line's `bytes` says:
 *
 *	guestprof/1 WORD KEY=VALUE KEY=VALUE ...\n
 *
 * Everything is ASCII from ! to ~, parted by single spaces. In a value each other byte, and each of
 * % and =, is %XX. Unknown keys are ignored, keys are only ever added. A line of another version is
 * answered by an error with `version`, the one that is spoken here.
 *
 * | request | keys | reply, besides those of status |
 * | --- | --- | --- |
 * | status | | pid, program, state (runs, rests, waits: no guest yet), has_guest, hz, stacks,
 *clock, since_unix_ns and by (of the session; by alone if it rests: empty), duration_ns, samples,
 *lost, modules, instances, output, kept_ns (how far back a dump reaches), library (its version) |
 * | start | hz, stacks, duration_ns | |
 * | stop | | |
 * | dump | last_ns: of the last so long; none: the whole recording | bytes, covered_ns, samples |
 * | top | chunk: from the one with this number on | bytes, covered_ns, samples, chunk (the next) |
 *
 * The first word of a reply is `ok`, or `error` with `what` (one of enum protocol_error by name)
 *and `text` for people. The bytes are a recording (encode/recording.h), gzip or not. The host
 *closes a connection that is silent for PROTOCOL_IDLE_S.
 */
#ifndef PRELOAD_CONTROL_PROTOCOL_H
#define PRELOAD_CONTROL_PROTOCOL_H

#include "symtab/base.h"

enum {
	PROTOCOL_VERSION = 1,
	PROTOCOL_REQUEST_MAX = 512, /* bytes of a line, its end included */
	PROTOCOL_REPLY_MAX = 8192,
	PROTOCOL_PAIRS_MAX = 32,
	PROTOCOL_IDLE_S = 30,
};

enum protocol_error {
	PROTOCOL_BAD_REQUEST, /* not a line of this protocol, an unknown word or a bad value */
	PROTOCOL_DENIED,      /* the peer is not who may ask */
	PROTOCOL_ALREADY,     /* start: a session runs; the reply says whose */
	PROTOCOL_NOT_RUNNING, /* stop */
	PROTOCOL_NOTHING,     /* dump: nothing was recorded */
	PROTOCOL_BUSY,	      /* too many clients */
	PROTOCOL_FAILED,      /* memory, a clock, ... : text says */
	PROTOCOL_ERROR_COUNT
};
extern const char *const protocol_error_names[PROTOCOL_ERROR_COUNT];

/* ---- reading --------------------------------------------------------------------------------- */

/* A line in parts. The texts point into it. */
struct protocol_line {
	char text[PROTOCOL_REPLY_MAX];
	const char *word;
	struct protocol_pair {
		const char *key, *value; /* value: with its %XX undone, no NUL in it */
	} pairs[PROTOCOL_PAIRS_MAX];
	size_t count;
};

/*
 * Takes SIZE BYTES, without their newline, apart. 0; -EPROTONOSUPPORT: another version of this
 * protocol; -EINVAL: anything else. More than PROTOCOL_PAIRS_MAX pairs: -EINVAL.
 */
int protocol_parse(struct protocol_line *line, const char *bytes, size_t size);

/* The value of the first pair with KEY, or NULL. */
const char *protocol_value(const struct protocol_line *line, const char *key);

/* The decimal number that KEY has, LIMIT at most. 0, -ENOENT: no such key; -EINVAL: no number. */
int protocol_number(const struct protocol_line *line, const char *key, uint64_t limit,
		    uint64_t *number);

/* ---- writing --------------------------------------------------------------------------------- */

struct protocol_text {
	char bytes[PROTOCOL_REPLY_MAX];
	size_t size;
	bool is_full; /* a pair did not fit: it, and what follows it, is left out */
};

void protocol_begin(struct protocol_text *text, const char *word);
void protocol_add(struct protocol_text *text, const char *key, const char *value);
void protocol_add_number(struct protocol_text *text, const char *key, uint64_t number);
void protocol_end(struct protocol_text *text);

#endif /* PRELOAD_CONTROL_PROTOCOL_H */
