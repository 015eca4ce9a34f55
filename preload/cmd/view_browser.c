/* SPDX-License-Identifier: MIT */
/* view_browser.c - finds a browser and gives it an address; no shell sees it. Threads: any. */
#include "preload/cmd/view_browser.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The program to start (caller frees), or NULL. */
static char *browser_program(void)
{
	const char *browser = getenv("BROWSER");
	const char *display = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

	if (browser != NULL && browser[0] != '\0')
		return strndup(browser, strcspn(browser, ":"));
	if ((display != NULL && display[0] != '\0') || (wayland != NULL && wayland[0] != '\0'))
		return strdup("xdg-open");
	return NULL;
}

/* In a session of its own: the Ctrl-C that ends us must not end the browser. */
static void start(const char *program, const char *address)
{
	char *arguments[] = { (char *)(uintptr_t)program, (char *)(uintptr_t)address, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, usual;
	pid_t pid;

	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &usual);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						      POSIX_SPAWN_SETSID);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnp(&pid, program, &actions, &attributes, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
}

void view_browser_open(const char *address)
{
	char *program = browser_program();

	if (program != NULL)
		start(program, address);
	free(program);
}

/* As encodeURIComponent() of ECMAScript: the site decodes it so. */
char *view_browser_from_url(const char *origin, const char *address)
{
	size_t size = strlen(origin) + sizeof("/from-url/") + 3 * strlen(address), used;
	char *text = malloc(size);

	if (text == NULL)
		return NULL;
	used = (size_t)snprintf(text, size, "%s/from-url/", origin);
	for (; *address != '\0'; address++) {
		bool is_plain = strchr("-_.!~*'()", *address) != NULL ||
				(*address >= '0' && *address <= '9') ||
				((*address | 32) >= 'a' && (*address | 32) <= 'z');

		used += (size_t)snprintf(text + used, size - used, is_plain ? "%c" : "%%%02X",
					 (unsigned char)*address);
	}
	return text;
}
