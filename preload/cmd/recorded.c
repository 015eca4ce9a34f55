/* SPDX-License-Identifier: MIT */
/* recorded.c - finds each listed recording under its name of now, and tells of it. Threads: any. */
#include "preload/cmd/recorded.h"

#include "preload/cmd/doctor/doctor.h"
#include "preload/cmd/say.h"
#include "preload/read/names.h"
#include "preload/read/reader.h"
#include "preload/read/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* So many names in the line `next`. */
enum { NEXT_MAX = 4 };

struct recorded {
	const char *output;
	char **names; /* owned: of those that have samples, for the line `next` */
	size_t name_count, name_room;
	size_t gone_count; /* of those listed, that are there no more */
	bool has_guest;	   /* somebody says so who has no recording */
	struct names told; /* paths: a process that executes another program may list one twice */
};

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

/*
 * Whether somebody has PATH open for writing: the kernel grants a read lease only if nobody has
 * (fcntl(2), F_SETLEASE). Where leases are not to be had, the process with the listed number
 * decides.
 */
static bool is_being_written(const char *path, pid_t pid)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	bool is_written;

	if (fd < 0)
		return false;
	/* Who opens the file while we hold the lease breaks it, by a signal that would end us. */
	signal(SIGIO, SIG_IGN);
	if (fcntl(fd, F_SETLEASE, F_RDLCK) == 0)
		is_written = false;
	else if (errno == EAGAIN)
		is_written = true;
	else
		is_written = pid > 0 && kill(pid, 0) == 0;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	close(fd);
	return is_written;
}

/* With -o NAME.pb.gz a running process writes NAME.pb, with NAME.gz it writes NAME.pb, else NAME.
 */
static bool is_running_name(const char *path, const char *output)
{
	size_t length = output != NULL ? strlen(output) : 0;
	bool has_gz = length > 3 && strcmp(output + length - 3, ".gz") == 0;
	size_t stem = has_gz ? length - 3 : length;

	return output != NULL && strncmp(path, output, stem) == 0 &&
	       (path[stem] == '\0' || (has_gz && strcmp(path + stem, ".pb") == 0));
}

/* Gives the unfinished PATH its final name, in *FINAL. 0 or negative errno. */
static int finish(const struct recorded *recorded, const char *path, char **final)
{
	if (is_running_name(path, recorded->output))
		*final = strdup(recorded->output);
	else if (asprintf(final, "%s.gz", path) < 0)
		*final = NULL;
	if (*final == NULL)
		return -ENOMEM;
	if (strcmp(*final, path) == 0)
		return 0;
	return recording_finish(path, is_running_name(path, recorded->output) ? *final : NULL);
}

/* The name under which the recording is to be found now (caller frees), or NULL: it was said why.
 */
static char *settle(struct recorded *recorded, const char *path, pid_t pid, bool *was_killed)
{
	char *final = NULL;
	int error;

	*was_killed = false;
	if (exists(path) && is_being_written(path, pid)) {
		say_line("process %d still runs and records to %s", (int)pid, path);
		return NULL;
	}
	if (exists(path)) {
		*was_killed = true;
		error = finish(recorded, path, &final);
		if (error != 0) {
			say_line("%s: could not be finished: %s; it can be read as it is", path,
				 strerror(-error));
			free(final);
			return strdup(path);
		}
		return final;
	}
	if (is_running_name(path, recorded->output))
		final = strdup(recorded->output);
	else if (asprintf(&final, "%s.gz", path) < 0)
		final = NULL;
	if (final != NULL && exists(final))
		return final;
	free(final);
	recorded->gone_count++;
	return NULL;
}

static uint64_t count_instances(const struct recording *recording)
{
	uint64_t count = 0;

	for (size_t i = 0; i < recording->group_count; i++)
		count += recording->groups[i].instances_created;
	return count;
}

static uint64_t count_samples(const struct recording *recording)
{
	uint64_t count = 0;

	for (size_t i = 0; i < recording->group_count; i++)
		count += recording->groups[i].samples;
	for (size_t i = 0; recording->group_count == 0 && i < recording->sample_count; i++)
		count += recording->samples[i].count;
	return count;
}

static uint64_t count_wall_ns(const struct recording *recording)
{
	uint64_t count = 0;

	for (size_t i = 0; i < recording->group_count; i++)
		count += recording->groups[i].wall_ns;
	return count;
}

static uint64_t count_lost(const struct recording *recording)
{
	uint64_t count = 0;

	for (size_t i = 0; i < recording->stat_count; i++) {
		if (strncmp(recording->stats[i].name, "lost_", 5) == 0)
			count += recording->stats[i].value;
	}
	return count;
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* Says the line of NAME; true when it has samples. */
static bool describe(const char *name, bool was_killed)
{
	char samples[SAY_COUNT_SIZE], lost[SAY_COUNT_SIZE], waiting[48] = "", *why = NULL;
	struct recording *recording = recording_read(name, &why);
	uint64_t sample_count, modules, instances, wall_ns;

	if (recording == NULL) {
		say_line("%s", why != NULL ? why : "out of memory");
		free(why);
		return false;
	}
	sample_count = count_samples(recording);
	wall_ns = count_wall_ns(recording);
	if (wall_ns != 0)
		snprintf(waiting, sizeof(waiting), ", %.2f s waiting", (double)wall_ns / 1e9);
	modules = recording_stat(recording, "modules");
	instances = count_instances(recording);
	say_line("%s[%" PRIu64 "] %s sample%s%s, %" PRIu64 " module%s, %" PRIu64
		 " instance%s, %s lost -> %s%s",
		 recording->program, recording->pid, say_count(samples, sample_count),
		 plural(sample_count), waiting, modules, plural(modules), instances,
		 plural(instances), say_count(lost, count_lost(recording)), name,
		 was_killed && !recording->has_ended
			 ? " (killed, or ended by system call; finished here)"
			 : "");
	recording_free(recording);
	return sample_count != 0 || wall_ns != 0;
}

/* NAME relative to the working directory if it is inside. */
static const char *shorten(const char *name)
{
	static char here[4096];
	size_t length;

	if (getcwd(here, sizeof(here)) == NULL)
		return name;
	length = strlen(here);
	return strncmp(name, here, length) == 0 && name[length] == '/' ? name + length + 1 : name;
}

static void tell_line(struct recorded *recorded, const char *path, pid_t pid)
{
	uint32_t known = recorded->told.count;
	bool was_killed;
	char *name;

	if (names_id(&recorded->told, path) < known)
		return;
	name = settle(recorded, path, pid, &was_killed);
	if (name != NULL && describe(shorten(name), was_killed) &&
	    rows_reserve(&recorded->names, &recorded->name_room, recorded->name_count,
			 sizeof(*recorded->names)) == 0)
		recorded->names[recorded->name_count++] = name;
	else
		free(name);
}

static void read_list(struct recorded *recorded, const char *list)
{
	FILE *file = fopen(list, "re");
	char *line = NULL, *path;
	size_t room = 0;
	ssize_t length;

	while (file != NULL && (length = getline(&line, &room, file)) > 0) {
		long pid = strtol(line, &path, 10);

		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		recorded->has_guest |= strcmp(path, " -") == 0;
		if (*path == ' ' && path[1] == '/')
			tell_line(recorded, path + 1, (pid_t)pid);
	}
	free(line);
	if (file != NULL)
		fclose(file);
}

/* In quotes where a shell would read it otherwise. */
static void add_argument(FILE *out, const char *name)
{
	if (name[strspn(name,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/+%@")] ==
	    '\0') {
		fprintf(out, " %s", name);
		return;
	}
	fputs(" '", out);
	for (; *name != '\0'; name++) {
		if (*name == '\'')
			fputs("'\\''", out);
		else
			fputc(*name, out);
	}
	fputc('\'', out);
}

static void tell_next(const struct recorded *recorded)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return;
	for (size_t i = 0; i < recorded->name_count && i < NEXT_MAX; i++)
		add_argument(out, shorten(recorded->names[i]));
	if (fclose(out) == 0)
		say_line("next: guestprof report%s%s", text,
			 recorded->name_count > NEXT_MAX ? " ..." : "");
	free(text);
}

static void tell_no_samples(void)
{
	say_line("no samples: no guest ran long enough to be seen; record -F 1000 looks closer");
}

static void tell_nothing(const struct recorded *recorded, const char *program)
{
	const char *output = getenv("GUESTPROF_OUTPUT");
	char *why;

	if (output != NULL && strcmp(output, "none") == 0) {
		say_line("nothing was recorded: GUESTPROF_OUTPUT is none");
		return;
	}
	if (recorded->has_guest) {
		tell_no_samples();
		return;
	}
	why = doctor_why_nothing(program);
	if (why != NULL)
		say_line("nothing was recorded: %s", why);
	else
		say_line("nothing was recorded: no WebAssembly engine was seen in %s or its "
			 "children (none is used, or the code is interpreted, or a static or "
			 "setuid program runs it; guestprof doctor -- CMD says more)",
			 program);
	free(why);
}

void recorded_tell(const char *list, const char *output, const char *program)
{
	struct recorded recorded = { .output = output };

	read_list(&recorded, list);
	if (recorded.gone_count != 0)
		say_line("%zu older recordings are gone: GUESTPROF_ROTATE says how many are kept; "
			 "record -o FILE keeps all in one",
			 recorded.gone_count);
	if (recorded.told.count == 0)
		tell_nothing(&recorded, program);
	else if (recorded.name_count != 0)
		tell_next(&recorded);
	else
		tell_no_samples();
	for (size_t i = 0; i < recorded.name_count; i++)
		free(recorded.names[i]);
	free(recorded.names);
	names_free(&recorded.told);
}
