/* SPDX-License-Identifier: MIT */
/* target.c - looks at a program's file: static, setuid, or for another libc. Threads: any. */
#include "preload/cmd/target.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADERS_MAX = 64 };

/* Opens NAME as execvp() would find it; -1. */
static int open_program(const char *name)
{
	const char *path = getenv("PATH");
	char candidate[4096];

	if (strchr(name, '/') != NULL)
		return open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	while (path != NULL && *path != '\0') {
		size_t length = strcspn(path, ":");

		snprintf(candidate, sizeof(candidate), "%.*s/%s", (int)length,
			 length != 0 ? path : ".", name);
		if (access(candidate, X_OK) == 0)
			return open(candidate, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		path += length + (path[length] == ':');
	}
	return -1;
}

/* The path of the dynamic loader; "" when there is none. False when it is no ELF file we can read.
 */
static bool read_interpreter(int fd, char *text, size_t size)
{
	Elf64_Ehdr header;
	Elf64_Phdr program;

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(program) ||
	    header.e_phnum > HEADERS_MAX)
		return false;
	text[0] = '\0';
	for (int i = 0; i < header.e_phnum; i++) {
		off_t at = (off_t)(header.e_phoff + (uint64_t)i * sizeof(program));

		if (pread(fd, &program, sizeof(program), at) != sizeof(program))
			return false;
		if (program.p_type == PT_INTERP && program.p_filesz < size) {
			ssize_t count = pread(fd, text, program.p_filesz, (off_t)program.p_offset);

			text[count < 0 ? 0 : count] = '\0';
			return count >= 0;
		}
	}
	return true;
}

static const char *judge(int fd)
{
	struct stat about;
	char interpreter[256];

	if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))
		return NULL;
	if ((about.st_mode & (S_ISUID | S_ISGID)) != 0)
		return "it is setuid or setgid, and such programs ignore LD_PRELOAD";
	if (!read_interpreter(fd, interpreter, sizeof(interpreter)))
		return NULL;
	if (interpreter[0] == '\0')
		return "it is statically linked, and such programs ignore LD_PRELOAD";
	if (strstr(interpreter, "musl") != NULL)
		return "it is built for musl, and the library is built for glibc";
	return NULL;
}

const char *target_why_unseen(const char *name)
{
	int fd = open_program(name);
	const char *why = fd >= 0 ? judge(fd) : NULL;

	if (fd >= 0)
		close(fd);
	return why;
}
