/* SPDX-License-Identifier: MIT */
/* screen.c - pages over pages. Threads: the main one. Signals: leave() only writes, and exits. */
#include "preload/cmd/live/screen.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { DEFAULT_LINES = 40 };

static const char no_wrap[] = "\033[?7l\033[2J", wrap[] = "\033[?7h";

static struct {
	volatile sig_atomic_t is_open; /* on a terminal */
} self;

static void put(const char *text, size_t size)
{
	ssize_t written = write(STDOUT_FILENO, text, size);

	(void)written;
}

/* Also while a process that is stopped does not answer. */
static void leave(int signal)
{
	(void)signal;
	if (self.is_open)
		put(wrap, strlen(wrap));
	_exit(0);
}

void screen_open(bool is_terminal)
{
	const struct sigaction action = { .sa_handler = leave };

	if (is_terminal)
		put(no_wrap, strlen(no_wrap));
	self.is_open = is_terminal;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

void screen_close(void)
{
	if (self.is_open)
		put(wrap, strlen(wrap));
	self.is_open = 0;
}

size_t screen_lines(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0)
		return size.ws_row;
	return DEFAULT_LINES;
}

static size_t count_lines(const char *text)
{
	size_t count = 0;

	for (; (text = strchr(text, '\n')) != NULL; text++)
		count++;
	return count;
}

void screen_add(FILE *page, const char *text, size_t lines)
{
	size_t count = count_lines(text), shown = count <= lines ? count : lines;

	/* The last line is for those that it says are missing. */
	if (shown < count && shown > 0)
		shown--;
	for (size_t i = 0; i < shown; i++) {
		const char *end = strchr(text, '\n') + 1;

		fwrite(text, 1, (size_t)(end - text), page);
		text = end;
	}
	if (shown < count && lines > 0)
		fprintf(page, "  %zu more lines than fit\n", count - shown);
}

int screen_draw(const char *page)
{
	size_t lines = screen_lines();

	fputs("\033[H", stdout);
	/* The last line stays empty: a newline there would scroll. */
	for (size_t i = 0; i + 1 < lines && *page != '\0'; i++) {
		const char *end = strchr(page, '\n');
		size_t length = end != NULL ? (size_t)(end - page) : strlen(page);

		fwrite(page, 1, length, stdout);
		fputs("\033[K\n", stdout);
		page += length + (end != NULL);
	}
	fputs("\033[J", stdout);
	return fflush(stdout) == 0 ? 0 : -errno;
}
