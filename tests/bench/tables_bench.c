/* SPDX-License-Identifier: MIT */
/*
 * tables_bench.c - what preparing one module is made of, part by part.
 *
 * usage: tables_bench IMAGE.cwasm. Maps the file anew in each round, as an engine does, and prints
 * microseconds of CPU time, one figure a line: "copy N" of the tables out of the image, "tables N"
 * to read them, "hash N" of the code, "index N" of the unwind tables.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/base/guarded.h"
#include "preload/unwind/fdetable.h"
#include "symtab/symtab.h"
#include "tests/bench/times.h"

enum { ROUNDS = 15 };

/* Prints what passed since *BEGIN, and begins again. */
static void lap(const char *part, double *begin)
{
	printf("%s %.2f\n", part, thread_cpu_us() - *begin);
	*begin = thread_cpu_us();
}

static int index_frames(const struct module *module, const struct image_layout *layout)
{
	struct fdetable_source source = { .text = layout->text, .text_size = layout->text_size };
	struct fdetable table;
	int error;

	source.bytes = module_eh_frame(module, &source.size, &source.address);
	error = fdetable_index(&table, &source);
	fdetable_free(&table);
	return error;
}

static int measure(const void *image)
{
	struct module_source source = { .engine = "bench" };
	struct module *module;
	double begin;

	if (image_probe(&guarded_memory, (uintptr_t)image, &source.layout) != 0)
		return -1;
	begin = thread_cpu_us();
	source.tables = image_copy(&guarded_memory, &source.layout);
	if (source.tables == NULL)
		return -1;
	lap("copy", &begin);
	image_hash(source.tables, &guarded_memory, &source.layout);
	lap("hash", &begin);
	module = module_new(&source);
	if (module == NULL)
		return -1;
	lap("tables", &begin);
	if (index_frames(module, &source.layout) != 0)
		return -1;
	lap("index", &begin);
	module_unref(module);
	return 0;
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1, error = 0;
	struct stat status;

	if (fd < 0 || fstat(fd, &status) != 0)
		return EXIT_FAILURE;
	for (int i = 0; i < ROUNDS && error == 0; i++) {
		void *image = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

		error = image != MAP_FAILED ? measure(image) : -1;
		if (image != MAP_FAILED)
			munmap(image, (size_t)status.st_size);
	}
	close(fd);
	return error == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
