/* SPDX-License-Identifier: MIT */
/* targets.c - from words to processes, and the first exchange with each. Threads: any. */
#include "preload/cmd/live/targets.h"

#include "preload/cmd/command.h"
#include "preload/cmd/say.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char targets_how_to_preload[] =
	"start it with GUESTPROF_CONTROL=1 LD_PRELOAD=$(guestprof lib) in its environment";

static int add_pid(struct processes *processes, pid_t pid)
{
	int error = processes_add_pid(processes, pid);

	if (error == -ESRCH)
		say_line("no process %d", (int)pid);
	else if (error == -ENOEXEC)
		say_line("process %d is not preloaded: %s", (int)pid, targets_how_to_preload);
	else if (error != 0)
		say_line("process %d: %s", (int)pid, strerror(-error));
	return error == 0 ? COMMAND_OK : COMMAND_UNREACHABLE;
}

static int add_word(struct processes *processes, const char *word)
{
	char *end;
	unsigned long pid = strtoul(word, &end, 10);

	if (word[0] >= '0' && word[0] <= '9' && *end == '\0' && pid > 0 && pid <= INT_MAX)
		return add_pid(processes, (pid_t)pid);
	if (strchr(word, '/') == NULL && strstr(word, ".sock") == NULL) {
		say_line("%s: no process id, and no path of a socket", word);
		return COMMAND_BAD;
	}
	return processes_add_socket(processes, word) == 0 ? COMMAND_OK : COMMAND_BAD;
}

int targets_find(struct processes *processes, const char *directory, char **words, size_t count)
{
	int status = COMMAND_OK, error = 0;

	for (size_t i = 0; i < count; i++) {
		int found = add_word(processes, words[i]);

		status = found != COMMAND_OK ? found : status;
	}
	if (directory != NULL)
		error = processes_add_directory(processes, directory);
	else if (count == 0)
		error = processes_add_all(processes);
	if (error == 0)
		return status;
	say_line("%s: %s", directory != NULL ? directory : "/proc", strerror(-error));
	return COMMAND_BAD;
}

static const char *reason(int error)
{
	switch (error) {
	case -ECONNREFUSED:
		return "nobody listens there any more";
	case -ETIMEDOUT:
		return "it does not answer: stopped, or busy";
	case -ECONNRESET:
		return "it has closed the connection";
	case -EPROTO:
		return "what it says is not understood: is the command of another version?";
	default:
		return strerror(-error);
	}
}

int targets_complain(const struct dialogue *dialogue, const char *what, int error)
{
	if (error != 0)
		say_line("%s: %s", what, reason(error));
	else
		say_line("%s: %s", what, dialogue_text(dialogue, "text"));
	return COMMAND_UNREACHABLE;
}

bool targets_is_it(const struct process *process, const struct dialogue *dialogue)
{
	pid_t listener = dialogue_listener(dialogue);

	return process->pid == 0 || listener == 0 || listener == process->pid;
}

int targets_reach(const struct process *process, struct dialogue *dialogue)
{
	struct protocol_text request;
	int error;

	if (process->socket == NULL) {
		say_line("process %d (%s) has no control socket: %s", (int)process->pid,
			 process->name, targets_how_to_preload);
		return COMMAND_UNREACHABLE;
	}
	error = dialogue_open(dialogue, process->socket);
	if (error == 0 && !targets_is_it(process, dialogue)) {
		say_line("process %d (%s) has no control socket: %s is another's",
			 (int)process->pid, process->name, process->socket);
		dialogue_close(dialogue);
		return COMMAND_UNREACHABLE;
	}
	if (error == 0) {
		protocol_begin(&request, "status");
		error = dialogue_ask(dialogue, &request);
	}
	if (error == 0 && dialogue_is_ok(dialogue))
		return COMMAND_OK;
	targets_complain(dialogue, process->socket, error);
	dialogue_close(dialogue);
	return COMMAND_UNREACHABLE;
}

const char *targets_title(const struct process *process, const struct dialogue *dialogue,
			  char text[TARGETS_TITLE_SIZE])
{
	uint64_t pid =
		process->pid != 0 ? (uint64_t)process->pid : dialogue_number(dialogue, "pid");

	snprintf(text, TARGETS_TITLE_SIZE, "%.64s[%llu]", dialogue_text(dialogue, "program"),
		 (unsigned long long)pid);
	return text;
}
