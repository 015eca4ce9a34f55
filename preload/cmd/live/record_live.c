/* SPDX-License-Identifier: MIT */
/* record_live.c - start, wait, stop, dump. Threads: the main one only, for its signals. */
#include "preload/cmd/live/record_live.h"

#include "preload/cmd/command.h"
#include "preload/cmd/live/received.h"
#include "preload/cmd/say.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The process stops by itself, should we be killed meanwhile. */
enum { MARGIN_S = 10 };

#define SECOND_NS UINT64_C(1000000000)

struct live {
	const struct process *process;
	struct dialogue *dialogue;
	char title[TARGETS_TITLE_SIZE];
	bool is_ours;	     /* we have started it */
	uint64_t started_ns; /* CLOCK_MONOTONIC */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static int begin(struct live *live, const struct live_wish *wish)
{
	struct live_wish longer = *wish;
	int error;

	longer.duration_ns += MARGIN_S * SECOND_NS;
	error = live_start(live->dialogue, &longer);
	live->started_ns = now_ns();
	if (error == 0 && dialogue_is_error(live->dialogue, PROTOCOL_ALREADY)) {
		live_say_who(live->dialogue, live->title);
		return COMMAND_OK;
	}
	if (error != 0 || !dialogue_is_ok(live->dialogue))
		return targets_complain(live->dialogue, live->title, error);
	live->is_ours = true;
	return COMMAND_OK;
}

/*
 * Until DURATION_NS have passed, or a signal asks for the end, or the process has ended. The
 * connection is closed by then: it would be dropped for its silence.
 */
static void wait_for_end(const struct live *live, uint64_t duration_ns)
{
	uint64_t end_ns = live->started_ns + duration_ns, now;
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	while ((now = now_ns()) < end_ns) {
		uint64_t left = end_ns - now < SECOND_NS ? end_ns - now : SECOND_NS;
		const struct timespec time = { .tv_nsec = (long)(left % SECOND_NS),
					       .tv_sec = (time_t)(left / SECOND_NS) };

		if (sigtimedwait(&ends, NULL, &time) > 0)
			return;
		if (live->process->pid > 0 && kill(live->process->pid, 0) != 0 && errno == ESRCH)
			return;
	}
}

static int save(struct live *live, const char *output)
{
	char *name = NULL;
	int status = COMMAND_BAD;

	if (output == NULL)
		output = name = received_name(dialogue_text(live->dialogue, "program"),
					      dialogue_number(live->dialogue, "pid"));
	if (output == NULL)
		say_line("record: no free name here: use -o");
	/* The line of names is gone with the next reply. */
	else if (live_dump(live->dialogue, live->is_ours ? 0 : now_ns() - live->started_ns) != 0 ||
		 !dialogue_is_ok(live->dialogue))
		say_line("%s: nothing has been recorded", live->title);
	else if (received_save(live->dialogue, output) == 0)
		status = COMMAND_OK;
	if (status == COMMAND_OK && strcmp(output, "-") != 0) {
		say_line("%s -> %s", live->title, output);
		say_line("next: guestprof report %s", output);
	}
	free(name);
	return status;
}

/* Stop, on a new connection, and take what there is. */
static int finish(struct live *live, const char *output)
{
	struct protocol_text request;
	int status = targets_reach(live->process, live->dialogue), error = 0;

	if (status != COMMAND_OK) {
		say_line("%s has ended meanwhile: what it recorded is its own file", live->title);
		return status;
	}
	if (live->is_ours) {
		protocol_begin(&request, "stop");
		error = dialogue_ask(live->dialogue, &request);
	}
	status = error == 0 ? save(live, output)
			    : targets_complain(live->dialogue, live->title, error);
	dialogue_close(live->dialogue);
	return status;
}

static int record(struct live *live, const struct live_wish *wish, const char *output)
{
	int status = targets_reach(live->process, live->dialogue);

	if (status != COMMAND_OK)
		return status;
	targets_title(live->process, live->dialogue, live->title);
	status = begin(live, wish);
	dialogue_close(live->dialogue);
	if (status != COMMAND_OK)
		return status;
	wait_for_end(live, wish->duration_ns);
	return finish(live, output);
}

int record_live(const char *target, const struct live_wish *wish, const char *output)
{
	static struct dialogue dialogue;
	struct processes processes = { 0 };
	struct live live = { .dialogue = &dialogue };
	char *words[] = { (char *)target };
	int status = targets_find(&processes, NULL, words, 1);

	if (status == COMMAND_OK) {
		live.process = &processes.rows[0];
		status = record(&live, wish, output);
	}
	processes_free(&processes);
	return status;
}
