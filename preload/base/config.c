/* SPDX-License-Identifier: MIT */
/*
 * config.c - the table of variables, and reading them.
 *
 * Runs in the constructor, in any process that inherits the preload: it must be quick, and it
 * never fails. A value that makes no sense keeps the default and is said in one line.
 */
#include "preload/base/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/nearest.h"
#include "preload/base/values.h"

enum {
	CONFIG_ROTATE_FILES_MAX = 1000,
	DEFAULT_CACHE_SIZE = 256 << 20,
	DEFAULT_BUDGET_PPM = 10000,
};

static int parse_choice(const char *text, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(text, names[i]) == 0)
			return (int)i;
	}
	return -EINVAL;
}

static int parse_hz(struct config *config, const char *text)
{
	char *end;
	unsigned long hz = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0' || hz < 1 || hz > 10000)
		return -EINVAL;
	config->hz = (uint32_t)hz;
	return 0;
}

static int parse_budget(struct config *config, const char *text)
{
	uint32_t ppm = 0;
	char *end;

	if (strcmp(text, "off") != 0 && (values_percent(text, &end, &ppm) != 0 || *end != '\0'))
		return -EINVAL;
	config->budget_ppm = ppm;
	config->has_budget = true;
	return 0;
}

static int parse_memory(struct config *config, const char *text)
{
	uint64_t size;
	char *end;

	if (values_size(text, &end, &size) != 0 || *end != '\0' || size < 1 << 20)
		return -EINVAL;
	config->memory = size;
	return 0;
}

/* `DIR,SIZE`, or DIR alone, which may have commas. */
static int parse_cache(struct config *config, const char *text)
{
	const char *comma = strrchr(text, ',');
	uint64_t size = DEFAULT_CACHE_SIZE;
	char *end, *folder;

	config->cache = NULL;
	if (*text == '\0')
		return 0;
	if (*text != '/')
		return -EINVAL;
	if (comma != NULL && (values_size(comma + 1, &end, &size) != 0 || *end != '\0')) {
		size = DEFAULT_CACHE_SIZE;
		comma = NULL;
	}
	folder = comma != NULL ? strndup(text, (size_t)(comma - text)) : strdup(text);
	if (folder == NULL)
		return -ENOMEM;
	config->cache = folder;
	config->cache_size = size;
	return 0;
}

static int parse_rotate(struct config *config, const char *text)
{
	struct config_rotate rotate;
	unsigned long files;
	char *end;

	if (strcmp(text, "off") == 0) {
		config->rotate = (struct config_rotate){ 0 };
		return 0;
	}
	if (values_duration(text, &end, &rotate.age_ns) != 0 || *end != ',' ||
	    values_size(end + 1, &end, &rotate.size) != 0 || *end != ',' || end[1] < '0' ||
	    end[1] > '9')
		return -EINVAL;
	files = strtoul(end + 1, &end, 10);
	if (*end != '\0' || files < 1 || files > CONFIG_ROTATE_FILES_MAX)
		return -EINVAL;
	rotate.files = (uint32_t)files;
	config->rotate = rotate;
	return 0;
}

static int copy_text(const char **field, const char *text)
{
	char *copy = strdup(text);

	if (copy == NULL)
		return -ENOMEM;
	*field = copy;
	return 0;
}

static int parse_output(struct config *config, const char *text)
{
	return *text == '\0' ? -EINVAL : copy_text(&config->output, text);
}

static int parse_modules(struct config *config, const char *text)
{
	return *text == '\0' ? 0 : copy_text(&config->modules, text);
}

static int parse_label(struct config *config, const char *text)
{
	return *text == '\0' ? 0 : copy_text(&config->label, text);
}

static int parse_names(struct config *config, const char *text)
{
	return *text == '\0' ? 0 : copy_text(&config->names, text);
}

static int parse_stacks(struct config *config, const char *text)
{
	static const char *const names[] = { "guest", "hostcalls", "full" };
	int choice = parse_choice(text, names, ARRAY_SIZE(names));

	if (choice >= 0)
		config->stacks = (enum stacks)choice;
	return choice < 0 ? choice : 0;
}

static int parse_hostcalls(struct config *config, const char *text)
{
	static const char *const names[] = { "sampled", "exact" };
	int choice = parse_choice(text, names, ARRAY_SIZE(names));

	config->exact_hostcalls = choice == 1;
	return choice < 0 ? choice : 0;
}

static int parse_unwinder(struct config *config, const char *text)
{
	static const char *const names[] = { "libunwind", "own" };
	int choice = parse_choice(text, names, ARRAY_SIZE(names));

	config->own_unwinder = choice == 1;
	return choice < 0 ? choice : 0;
}

static int parse_instances(struct config *config, const char *text)
{
	static const char *const names[] = { "auto", "all", "none" };
	int choice = parse_choice(text, names, ARRAY_SIZE(names));

	if (choice >= 0)
		config->instances = (enum instances)choice;
	return choice < 0 ? choice : 0;
}

static int parse_log(struct config *config, const char *text)
{
	static const char *const names[] = { "off", "error", "info", "debug" };
	const char *colon = strchr(text, ':');
	char level[8];
	int choice;

	if (colon != NULL && (colon[1] == '\0' || copy_text(&config->log_file, colon + 1) != 0))
		return -EINVAL;
	snprintf(level, sizeof(level), "%.*s",
		 colon != NULL ? (int)(colon - text) : (int)sizeof(level), text);
	choice = parse_choice(level, names, ARRAY_SIZE(names));
	if (choice >= 0)
		config->log_level = (enum log_level)choice;
	return choice < 0 ? choice : 0;
}

static int parse_flag(bool *flag, const char *text)
{
	if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
		return -EINVAL;
	*flag = *text == '1';
	return 0;
}

static int parse_debug(struct config *config, const char *text)
{
	static const char *const names[] = { "none", "embed" };
	int choice = parse_choice(text, names, ARRAY_SIZE(names));

	config->embed_debug = choice == 1;
	return choice < 0 ? choice : 0;
}

static int parse_wall(struct config *config, const char *text)
{
	return parse_flag(&config->wall, text);
}

static int parse_exact_output(struct config *config, const char *text)
{
	return parse_flag(&config->exact_output, text);
}

static int parse_start(struct config *config, const char *text)
{
	return parse_flag(&config->start, text);
}

static int parse_control(struct config *config, const char *text)
{
	config->control = NULL;
	if (strcmp(text, "0") == 0)
		return 0;
	return *text == '/' || strcmp(text, "1") == 0 ? copy_text(&config->control, text) : -EINVAL;
}

static int parse_control_gid(struct config *config, const char *text)
{
	char *end;
	unsigned long gid = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0' || gid >= UINT32_MAX)
		return -EINVAL;
	config->control_gid = (int64_t)gid;
	return 0;
}

static int parse_list(struct config *config, const char *text)
{
	return *text == '\0' ? 0 : copy_text(&config->list, text);
}

/* Read by the command only; known here so that it is not called unknown. */
static int parse_nothing(struct config *config, const char *text)
{
	(void)config, (void)text;
	return 0;
}

#define DEFAULT_OUTPUT "guestprof.%e.%p.pb"
#define DEFAULT_ROTATE "15m,64M,8"

const struct config_variable config_variables[] = {
	{ "GUESTPROF_HZ", "1 to 10000", "100",
	  "samples per second of CPU time of each thread; above 250 through perf_event", parse_hz },
	{ "GUESTPROF_OUTPUT", "pattern, or `none`", DEFAULT_OUTPUT,
	  "the recording: `%e` program, `%p` pid, `%h` host name, `%t` start time, `%n` sequence, "
	  "`%{VAR}`",
	  parse_output },
	{ "GUESTPROF_MODULES", "globs, comma-separated", "all",
	  "which guest modules are shown; frames of others are left out", parse_modules },
	{ "GUESTPROF_LABEL", "`KEY=path:REGEX` or `KEY=name:REGEX`, `;`-separated", "none",
	  "labels of modules: what the pattern (its first brackets, if any) finds in file or name",
	  parse_label },
	{ "GUESTPROF_NAMES", "file", "none",
	  "names and labels of modules: lines of `IDENTITY NAME KEY=VALUE...`; see `guestprof id`",
	  parse_names },
	{ "GUESTPROF_STACKS", "`guest`, `hostcalls`, `full`", "hostcalls",
	  "which frames are recorded: the guest's; those and that it is in a host call; all",
	  parse_stacks },
	{ "GUESTPROF_HOSTCALLS", "`sampled`, `exact`", "sampled",
	  "exact: also count and time every call of the host functions that a C API defines",
	  parse_hostcalls },
	{ "GUESTPROF_UNWINDER", "`libunwind`, `own`", "libunwind",
	  "what finds the host's frames: libunwind, helped by our own where it cannot; or that "
	  "alone",
	  parse_unwinder },
	{ "GUESTPROF_INSTANCES", "`auto`, `all`, `none`", "auto",
	  "which instances get rows of their own; groups are always exact", parse_instances },
	{ "GUESTPROF_WALL", "`0`, `1`", "0",
	  "also measure waiting: threads asleep in a system call with a guest on their stack, "
	  "looked "
	  "at GUESTPROF_HZ times a second, 100 at most; no signals",
	  parse_wall },
	{ "GUESTPROF_DEBUG", "`none`, `embed`", "none",
	  "put the debug information of sampled modules into the recording, for source lines; "
	  "`guestprof record` sets embed",
	  parse_debug },
	{ "GUESTPROF_MEMORY", "size with `k`, `M`, `G`", "64M",
	  "bound on tables and rings, beyond the tables of the images", parse_memory },
	{ "GUESTPROF_BUDGET", "percent, or `off`", "1; above 250 Hz off",
	  "what sampling may cost, of the process's CPU time; where it costs more the rate goes "
	  "down, and later up again",
	  parse_budget },
	{ "GUESTPROF_CACHE", "`/DIR`, or `/DIR,SIZE`", "none",
	  "folder where what was read of wasm files of 256 kB and more is kept for the next "
	  "process; "
	  "the least used go at SIZE (256M)",
	  parse_cache },
	{ "GUESTPROF_ROTATE", "`AGE,SIZE,FILES`, or `off`", DEFAULT_ROTATE,
	  "when a recording is ended and the next begun (0: whatever it is), and how many are "
	  "kept; "
	  "off under `record -o`",
	  parse_rotate },
	{ "GUESTPROF_CONTROL", "`0`, `1`, socket or directory", "0",
	  "a Unix socket for `guestprof list`, `start`, `dump`, ...: in "
	  "`$XDG_RUNTIME_DIR/guestprof`, "
	  "else `${TMPDIR:-/tmp}/guestprof-UID`; in a path `%p` is the pid",
	  parse_control },
	{ "GUESTPROF_CONTROL_GID", "number of a group", "none",
	  "this group too may use the socket, which must then have a path", parse_control_gid },
	{ "GUESTPROF_START", "`0`, `1`", "1",
	  "0: nothing is sampled before `guestprof start`; implies GUESTPROF_CONTROL=1",
	  parse_start },
	{ "GUESTPROF_LOG", "`off`, `error`, `info`, `debug`, then `:FILE`", "error",
	  "what is said, one line each, on standard error or in FILE", parse_log },
	{ "GUESTPROF_EXACT_OUTPUT", "`0`, `1`", "0",
	  "replace the file that GUESTPROF_OUTPUT names; set by `guestprof record -o`",
	  parse_exact_output },
	{ "GUESTPROF_LIST", "file", "none",
	  "gets each recording's pid and path; set by `guestprof record`", parse_list },
	{ "GUESTPROF_LIB", "file", "found by itself", "the library that the command preloads",
	  parse_nothing },
};
const size_t config_variable_count = ARRAY_SIZE(config_variables);

static void read_one(struct config *config, const char *assignment,
		     void (*complain)(void *context, const char *line), void *context)
{
	const char *equals = strchr(assignment, '=');
	char name[64], line[400];

	if (equals == NULL)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)(equals - assignment), assignment);
	for (size_t i = 0; i < config_variable_count; i++) {
		if (strcmp(name, config_variables[i].name) != 0)
			continue;
		if (config_variables[i].parse(config, equals + 1) == 0)
			return;
		snprintf(line, sizeof(line), "%s=%.80s: not understood (%s); using %s", name,
			 equals + 1, config_variables[i].values, config_variables[i].default_text);
		complain(context, line);
		return;
	}
	snprintf(line, sizeof(line), "%s: unknown variable; did you mean %s?", name,
		 nearest_variable(name));
	complain(context, line);
}

void config_read(struct config *config, char *const *environment,
		 void (*complain)(void *context, const char *line), void *context)
{
	*config = (struct config){
		.hz = 100,
		.output = DEFAULT_OUTPUT,
		.stacks = STACKS_HOSTCALLS,
		.instances = INSTANCES_AUTO,
		.memory = 64 << 20,
		.budget_ppm = DEFAULT_BUDGET_PPM,
		.log_level = LOG_ERROR,
		.start = true,
		.control_gid = -1,
	};
	parse_rotate(config, DEFAULT_ROTATE);
	for (; environment != NULL && *environment != NULL; environment++) {
		if (strncmp(*environment, "GUESTPROF_", 10) == 0)
			read_one(config, *environment, complain, context);
	}
	/* Else nothing could ever start it. */
	if (!config->start && config->control == NULL)
		config->control = "1";
}

static const struct config *current;

const struct config *config_current(void)
{
	return current;
}

void config_set_current(const struct config *config)
{
	current = config;
}
