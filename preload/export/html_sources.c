/* SPDX-License-Identifier: MIT */
/* html_sources.c - opens files below one folder, whatever their names try. Threads: any. */
#include "preload/export/html_sources.h"

#include "preload/read/escape.h"
#include "preload/read/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TAB_COLUMNS = 8 };

/* Adds a component to PATH, which is USED long; or takes one away. False: there is no way. */
static bool add_component(char *path, size_t size, size_t *used, const char *name, size_t length)
{
	if (length == 0 || (length == 1 && name[0] == '.'))
		return true;
	if (length == 2 && name[0] == '.' && name[1] == '.') {
		if (*used == 0)
			return false;
		while (*used > 0 && path[--*used] != '/')
			;
		path[*used] = '\0';
		return true;
	}
	if (*used + length + 2 > size)
		return false;
	if (*used != 0)
		path[(*used)++] = '/';
	memcpy(path + *used, name, length);
	*used += length;
	path[*used] = '\0';
	return true;
}

bool html_sources_path(const char *name, const char *folder, char *path, size_t size)
{
	size_t folder_length = strlen(folder), used = 0;

	if (strncmp(name, folder, folder_length) == 0 && name[folder_length] == '/')
		name += folder_length;
	path[0] = '\0';
	while (*name != '\0') {
		size_t length = strcspn(name, "/");

		if (!add_component(path, size, &used, name, length))
			return false;
		name += length + (name[length] == '/');
	}
	return used != 0;
}

/* O_NONBLOCK: a pipe below the folder must not hold us. */
enum { OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };

int html_sources_walk(int folder_fd, const char *path)
{
	int at = folder_fd, error = 0;

	while (error == 0) {
		size_t length = strcspn(path, "/");
		bool is_last = path[length] == '\0';
		char name[NAME_MAX + 1];
		int below = -1;

		if (length == 0 || length > NAME_MAX || (length == 2 && memcmp(path, "..", 2) == 0))
			error = -EXDEV;
		if (error == 0) {
			memcpy(name, path, length);
			name[length] = '\0';
			below = openat(at, name,
				       OPEN_FLAGS | O_NOFOLLOW | (is_last ? 0 : O_DIRECTORY));
			error = below < 0 ? -errno : 0;
		}
		if (at != folder_fd)
			close(at);
		if (is_last && error == 0)
			return below;
		at = below;
		path += length + 1;
	}
	return error;
}

/* The descriptor of PATH below FOLDER_FD, or a negative errno. */
static int open_beneath(int folder_fd, const char *path)
{
	const struct open_how how = {
		.flags = OPEN_FLAGS,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, folder_fd, path, &how, sizeof(how));

	if (fd >= 0)
		return fd;
	/* Before Linux 5.6 the first; the other from filters of containers that do not know it. */
	if (errno == ENOSYS || errno == EPERM)
		return html_sources_walk(folder_fd, path);
	return -errno;
}

/* All of FD, terminated; NULL when it is no text of a bearable size, or without memory. */
static char *read_text(int fd, size_t max)
{
	struct stat about;
	char *content;
	size_t used = 0;

	if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) || (uint64_t)about.st_size > max)
		return NULL;
	content = malloc((size_t)about.st_size + 1);
	while (content != NULL && used < (size_t)about.st_size) {
		ssize_t got = read(fd, content + used, (size_t)about.st_size - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		used += (size_t)got;
	}
	if (content == NULL || memchr(content, '\0', used) != NULL) {
		free(content);
		return NULL;
	}
	content[used] = '\0';
	return content;
}

static int add_file(struct html_sources *sources, int folder_fd, const char *folder, uint32_t text,
		    const char *name)
{
	size_t left = HTML_SOURCES_ALL_MAX - sources->size;
	char path[PATH_MAX], *content;
	int fd = -1;

	if (html_sources_path(name, folder, path, sizeof(path)))
		fd = open_beneath(folder_fd, path);
	if (fd < 0)
		return 0;
	content = read_text(fd, left < HTML_SOURCES_FILE_MAX ? left : HTML_SOURCES_FILE_MAX);
	close(fd);
	if (content == NULL)
		return 0;
	if (rows_reserve(&sources->list, &sources->room, sources->count, sizeof(*sources->list)) !=
	    0) {
		free(content);
		return -ENOMEM;
	}
	sources->list[sources->count++] = (struct html_source){ text, content };
	sources->size += strlen(content);
	return 0;
}

/* Each file once, in the order of functions. */
static int add_files(struct html_sources *sources, int folder_fd, const char *folder,
		     const struct html_tree *tree)
{
	bool *is_seen = calloc(tree->texts.count + 1, sizeof(*is_seen));
	int error = is_seen != NULL ? 0 : -ENOMEM;

	for (uint32_t i = 0; error == 0 && i < tree->function_count; i++) {
		uint32_t file = tree->functions[i].file;

		if (file == 0 || is_seen[file])
			continue;
		is_seen[file] = true;
		sources->named++;
		error = add_file(sources, folder_fd, folder, file, tree->texts.texts[file]);
	}
	free(is_seen);
	return error;
}

int html_sources_read(struct html_sources *sources, const char *folder,
		      const struct html_tree *tree)
{
	char *absolute = realpath(folder, NULL);
	int fd, error;

	if (absolute == NULL)
		return -errno;
	fd = open(absolute, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		error = -errno;
	} else {
		error = add_files(sources, fd, absolute, tree);
		close(fd);
	}
	free(absolute);
	return error;
}

void html_sources_free(struct html_sources *sources)
{
	for (uint32_t i = 0; i < sources->count; i++)
		free(sources->list[i].content);
	free(sources->list);
	*sources = (struct html_sources){ 0 };
}

/* One line as it is shown: tabs as spaces, and nothing that could reorder or hide what is there. */
static void write_line(const char *line, size_t length, struct json *json)
{
	char *plain = malloc(length * TAB_COLUMNS + 1), *shown;
	size_t used = 0;

	if (plain == NULL) {
		json->failed = true;
		return;
	}
	for (size_t i = 0; i < length; i++) {
		if (line[i] != '\t') {
			plain[used++] = line[i];
			continue;
		}
		do
			plain[used++] = ' ';
		while (used % TAB_COLUMNS != 0);
	}
	plain[used] = '\0';
	shown = escape_new(plain, ESCAPE_VISIBLE);
	free(plain);
	if (shown == NULL)
		json->failed = true;
	else
		json_escaped(json, NULL, shown);
	free(shown);
}

static void write_lines(const char *at, struct json *json)
{
	while (*at != '\0') {
		size_t length = strcspn(at, "\n");

		write_line(at, length - (length != 0 && at[length - 1] == '\r'), json);
		at += length + (at[length] == '\n');
	}
}

void html_sources_write(const struct html_sources *sources, struct json *json)
{
	json_begin_array(json, "sources");
	for (uint32_t i = 0; i < sources->count; i++) {
		json_begin_object(json, NULL);
		json_integer(json, "file", sources->list[i].file);
		json_begin_array(json, "lines");
		write_lines(sources->list[i].content, json);
		json_end_array(json);
		json_end_object(json);
	}
	json_end_array(json);
}
