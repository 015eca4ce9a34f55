/* SPDX-License-Identifier: MIT */
/* live.c - values of options, and the requests behind them. Threads: any. */
#include "preload/cmd/live/live.h"

#include "preload/base/values.h"
#include "preload/cmd/live/status.h"
#include "preload/cmd/say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool live_duration(const char *command, const char *option, const char *text, uint64_t *duration_ns)
{
	char *end;

	if (values_duration(text, &end, duration_ns) == 0 && *end == '\0' && *duration_ns != 0)
		return true;
	say_line("%s: %s takes seconds, or 90s, 15m, 2h, not %s", command, option, text);
	return false;
}

bool live_hz(const char *command, const char *option, const char *text, uint64_t *hz)
{
	char *end;

	*hz = strtoul(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && *hz >= 1 && *hz <= 10000)
		return true;
	say_line("%s: %s takes 1 to 10000, not %s", command, option, text);
	return false;
}

bool live_stacks(const char *command, const char *text, const char **stacks)
{
	*stacks = text;
	if (strcmp(text, "guest") == 0 || strcmp(text, "hostcalls") == 0 ||
	    strcmp(text, "full") == 0)
		return true;
	say_line("%s: --stacks takes guest, hostcalls or full, not %s", command, text);
	return false;
}

int live_start(struct dialogue *dialogue, const struct live_wish *wish)
{
	struct protocol_text request;

	protocol_begin(&request, "start");
	if (wish->hz != 0)
		protocol_add_number(&request, "hz", wish->hz);
	if (wish->duration_ns != 0)
		protocol_add_number(&request, "duration_ns", wish->duration_ns);
	if (wish->stacks != NULL)
		protocol_add(&request, "stacks", wish->stacks);
	return dialogue_ask(dialogue, &request);
}

void live_say_who(const struct dialogue *dialogue, const char *title)
{
	char time[STATUS_TIME_SIZE];

	say_line("%s records already, since %s, started by %s", title,
		 status_time(time, dialogue_number(dialogue, "since_unix_ns")),
		 dialogue_text(dialogue, "by"));
}

int live_dump(struct dialogue *dialogue, uint64_t last_ns)
{
	struct protocol_text request;

	protocol_begin(&request, "dump");
	if (last_ns != 0)
		protocol_add_number(&request, "last_ns", last_ns);
	return dialogue_ask(dialogue, &request);
}
