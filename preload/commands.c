/* SPDX-License-Identifier: MIT */
/* commands.c - status, start, stop, dump, top. Threads: ours. */
#include "preload/commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "preload/base/config.h"
#include "preload/dump.h"
#include "preload/encode/recording.h"
#include "preload/output.h"
#include "preload/profile/profile.h"
#include "preload/sampler/sampler.h"
#include "preload/session.h"
#include "preload/spending.h"

enum { HZ_MAX = 10000 };

/* What a request may ask for at most: a hundred years. */
#define LONGEST_NS (UINT64_C(3153600000) * 1000000000)

static const char *const stacks_names[] = {
	[STACKS_GUEST] = "guest",
	[STACKS_HOSTCALLS] = "hostcalls",
	[STACKS_FULL] = "full",
};

static const char *state_name(const struct session *session)
{
	if (session->runs)
		return "runs";
	return session->is_wanted ? "waits" : "rests";
}

static void add_totals(struct protocol_text *text)
{
	struct profile_totals totals = { 0 };

	if (output_profile() != NULL)
		totals = profile_totals(output_profile());
	protocol_add_number(text, "samples", totals.samples);
	protocol_add_number(text, "lost", totals.lost);
	protocol_add_number(text, "modules", totals.modules);
	protocol_add_number(text, "instances", totals.instances);
}

/* The cost in millionths of the process's CPU time; left out while it is not known. */
static void add_cost(struct protocol_text *text, const struct session *session)
{
	struct spending_state spending = spending_now();

	protocol_add_number(text, "hz_divisor",
			    session->runs && spending.divisor != 0 ? spending.divisor : 1);
	if (session->runs && spending.cost_ppm != UINT32_MAX)
		protocol_add_number(text, "cost_ppm", spending.cost_ppm);
	protocol_add_number(text, "budget_ppm", config_budget(config_current(), session->hz));
	protocol_add_number(text, "delivery_ns", spending.delivery_ns);
}

static void add_status(struct protocol_text *text)
{
	struct session session = session_now();

	protocol_add_number(text, "pid", (uint64_t)getpid());
	protocol_add(text, "program", program_invocation_short_name);
	protocol_add(text, "library", RECORDING_LIBRARY_VERSION);
	protocol_add(text, "state", state_name(&session));
	protocol_add_number(text, "has_guest", session.has_guest);
	protocol_add_number(text, "hz", session.hz);
	add_cost(text, &session);
	protocol_add(text, "stacks", stacks_names[session.stacks]);
	protocol_add(text, "clock", session.runs ? sampler_info().clock_name : "");
	protocol_add_number(text, "since_unix_ns", session.is_wanted ? session.since_unix_ns : 0);
	protocol_add(text, "by", session.is_wanted ? session.by : "");
	protocol_add_number(text, "duration_ns", session.duration_ns);
	protocol_add(text, "output", output_path());
	protocol_add_number(text, "kept_ns", dump_kept_ns());
	add_totals(text);
}

static void answer_status(const struct protocol_line *request, const struct control_peer *peer,
			  struct control_reply *reply)
{
	(void)request, (void)peer;
	protocol_begin(&reply->text, "ok");
	add_status(&reply->text);
}

/* ---- start and stop -------------------------------------------------------------------------- */

static int read_stacks(const struct protocol_line *request, enum stacks *stacks)
{
	const char *value = protocol_value(request, "stacks");

	if (value == NULL)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(stacks_names); i++) {
		if (strcmp(value, stacks_names[i]) == 0) {
			*stacks = (enum stacks)i;
			return 0;
		}
	}
	return -EINVAL;
}

/* 0 or -EINVAL. */
static int read_wish(const struct protocol_line *request, struct session *wish)
{
	uint64_t hz = config_current()->hz;
	int error = protocol_number(request, "hz", HZ_MAX, &hz);

	*wish = (struct session){ .stacks = config_current()->stacks };
	if ((error != 0 && error != -ENOENT) || hz == 0)
		return -EINVAL;
	wish->hz = (uint32_t)hz;
	error = protocol_number(request, "duration_ns", LONGEST_NS, &wish->duration_ns);
	if (error != 0 && error != -ENOENT)
		return -EINVAL;
	return read_stacks(request, &wish->stacks);
}

static void answer_start(const struct protocol_line *request, const struct control_peer *peer,
			 struct control_reply *reply)
{
	struct session wish;
	int error = read_wish(request, &wish);

	if (error != 0) {
		control_refuse(reply, PROTOCOL_BAD_REQUEST, "start: a value out of range");
		return;
	}
	snprintf(wish.by, sizeof(wish.by), "%s[%d] of user %u",
		 peer->name[0] != '\0' ? peer->name : "a process", (int)peer->pid,
		 (unsigned int)peer->uid);
	error = session_start(&wish);
	if (error == 0)
		protocol_begin(&reply->text, "ok");
	else if (error == -EALREADY)
		control_refuse(reply, PROTOCOL_ALREADY, "a recording is being made already");
	else
		control_refuse(reply, PROTOCOL_FAILED, strerror(-error));
	add_status(&reply->text);
}

static void answer_stop(const struct protocol_line *request, const struct control_peer *peer,
			struct control_reply *reply)
{
	(void)request, (void)peer;
	if (session_stop() == 0)
		protocol_begin(&reply->text, "ok");
	else
		control_refuse(reply, PROTOCOL_NOT_RUNNING, "nothing is being recorded");
	add_status(&reply->text);
}

/* ---- what was recorded ----------------------------------------------------------------------- */

/* DUMP goes to REPLY, or ERROR does. */
static void answer_dump(int error, const struct dump *dump, struct control_reply *reply)
{
	if (error == -ENODATA) {
		control_refuse(reply, PROTOCOL_NOTHING, "nothing has been recorded");
		return;
	}
	if (error != 0) {
		control_refuse(reply, PROTOCOL_FAILED, strerror(-error));
		return;
	}
	reply->bytes = dump->bytes;
	reply->fd = dump->fd;
	reply->size = dump->size;
	protocol_begin(&reply->text, "ok");
	protocol_add_number(&reply->text, "bytes", dump->size);
	if (dump->bytes == NULL)
		return;
	protocol_add_number(&reply->text, "covered_ns", dump->covered_ns);
	protocol_add_number(&reply->text, "samples", dump->samples);
	protocol_add_number(&reply->text, "chunk", dump->next_chunk);
}

static void answer_dump_request(const struct protocol_line *request,
				const struct control_peer *peer, struct control_reply *reply)
{
	struct dump dump = { 0 };
	uint64_t last_ns;
	int error = protocol_number(request, "last_ns", LONGEST_NS, &last_ns);

	(void)peer;
	if (error == -EINVAL)
		control_refuse(reply, PROTOCOL_BAD_REQUEST, "dump: last_ns is no number");
	else
		answer_dump(error == 0 ? dump_last(last_ns, &dump) : dump_all(&dump), &dump, reply);
}

static void answer_top(const struct protocol_line *request, const struct control_peer *peer,
		       struct control_reply *reply)
{
	struct dump dump = { 0 };
	uint64_t first = 0;
	int error = protocol_number(request, "chunk", UINT64_MAX, &first);

	(void)peer;
	if (error == -EINVAL)
		control_refuse(reply, PROTOCOL_BAD_REQUEST, "top: chunk is no number");
	else
		answer_dump(dump_chunks(first, &dump), &dump, reply);
}

void commands_answer(const struct protocol_line *request, const struct control_peer *peer,
		     struct control_reply *reply)
{
	static const struct {
		const char *word;
		control_answer *answer;
	} commands[] = {
		{ "status", answer_status },	 { "start", answer_start }, { "stop", answer_stop },
		{ "dump", answer_dump_request }, { "top", answer_top },
	};

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(request->word, commands[i].word) == 0) {
			commands[i].answer(request, peer, reply);
			return;
		}
	}
	control_refuse(reply, PROTOCOL_BAD_REQUEST, "no such request");
}
