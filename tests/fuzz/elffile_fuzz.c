/* SPDX-License-Identifier: MIT */
/*
 * elffile_fuzz.c - any bytes as an ELF file that a doctor looks at.
 */
#include "preload/cmd/doctor/elffile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void add(void *context, const uint8_t *bytes, size_t size)
{
	size_t *sum = context;

	for (size_t i = 0; i < size; i++)
		*sum += bytes[i];
}

static void ask(const struct elffile *file)
{
	size_t sum = 0;

	require(file->needed_count <= ELFFILE_NEEDED_MAX && file->load_count <= ELFFILE_LOADS_MAX);
	for (size_t i = 0; i < file->needed_count; i++)
		sum += strlen(file->needed[i]);
	if (file->search_path != NULL)
		sum += strlen(file->search_path);
	require(strlen(file->interpreter) < sizeof(file->interpreter));
	elffile_symbol(file, "wasmtime_module_new");
	require(elffile_glibc(file) < 1000);
	require(elffile_texts(file, 64, add, &sum) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static int fd = -1;
	struct elffile file;
	char path[64];

	if (fd < 0)
		fd = memfd_create("elffile", MFD_CLOEXEC);
	require(fd >= 0 && ftruncate(fd, 0) == 0);
	require(pwrite(fd, bytes, size, 0) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (elffile_open(&file, path) != 0)
		return 0;
	ask(&file);
	elffile_close(&file);
	return 0;
}
