/* SPDX-License-Identifier: MIT */
/*
 * scale_bench.c - how many samples a second our one thread can take, past what this machine runs.
 *
 * usage: scale_bench IMAGE.cwasm. Rings of as many threads as given are filled with samples of
 * FRAMES frames in random functions of as many modules as given, and drained as our thread does:
 * resolved, interned, counted, and encoded once a second's worth is taken. Prints for each case the
 * time of a sample, the samples a second that make our thread busy, and what share of it 128 busy
 * cores take at 100 Hz and at 1 kHz. `new stacks`: no stack is ever seen twice.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "preload/base/guarded.h"
#include "preload/encode/chunk.h"
#include "preload/profile/profile.h"
#include "preload/sig/ring.h"
#include "symtab/symtab.h"
#include "tests/bench/times.h"

enum { RING_SIZE = 64 << 10, FRAMES = 24, SAMPLES = 400000, CHUNK_SAMPLES = 12800 };
#define TEXT(id) (UINT64_C(0x100000000000) + (uint64_t)(id) * (UINT64_C(1) << 30))

static struct config config = { .memory = 64 << 20, .stacks = STACKS_HOSTCALLS };
static uint64_t state = 88172645463325252;

static uint64_t random_number(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void fail(const char *what)
{
	fprintf(stderr, "scale_bench: %s\n", what);
	exit(EXIT_FAILURE);
}

static struct module *load(const char *path, size_t *text_size)
{
	struct module_source source = { .engine = "bench" };
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *image;

	if (fd < 0 || fstat(fd, &status) != 0)
		fail(path);
	image = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (image == MAP_FAILED ||
	    image_probe(&guarded_memory, (uintptr_t)image, &source.layout) != 0)
		fail("no image");
	source.tables = image_copy(&guarded_memory, &source.layout);
	*text_size = source.layout.text_size;
	return source.tables != NULL ? module_new(&source) : NULL;
}

static struct symtab *symbols_of(struct module *module, size_t text_size, uint32_t modules)
{
	struct symtab *symtab = symtab_new();

	if (symtab == NULL)
		fail("no memory");
	for (uint32_t id = 1; id <= modules; id++)
		if (symtab_add(symtab, module_ref(module), id, TEXT(id), text_size, 1) != 0)
			fail("no memory");
	return symtab;
}

/* Stack NUMBER of them: always the same pcs. */
static void fill(struct sample *sample, struct module *module, uint32_t modules, uint64_t number)
{
	uint64_t kept = state, count = module_symbol_count(module);

	state = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
	memset(sample, 0, sizeof(*sample));
	sample->size = (uint32_t)(sizeof(*sample) + FRAMES * 8);
	sample->kind = SAMPLE_GUEST;
	sample->generation = 1;
	sample->weight = 1;
	sample->pc_count = FRAMES;
	for (int i = 0; i < FRAMES; i++) {
		const struct symbol *symbol =
			module_symbol(module, (uint32_t)(random_number() % count));

		sample->words[i] = TEXT(1 + random_number() % modules) + symbol->start + 1;
	}
	state = kept;
}

/* Seconds of CPU time to drain SAMPLES of STACKS different ones (0: all differ) from THREADS rings.
 */
static double drain(struct module *module, size_t text_size, uint32_t modules, uint32_t threads,
		    uint64_t stacks)
{
	struct symtab *symtab = symbols_of(module, text_size, modules);
	const struct profile_options options = { .config = &config,
						 .symtab = symtab,
						 .period_ns = 10000000 };
	struct profile *profile = profile_new(&options);
	struct ring **rings = calloc(threads, sizeof(*rings));
	struct pb_writer out = { 0 }, info = { 0 };
	const struct chunk_head head = { .period_ns = 10000000 };
	double busy = 0;
	uint64_t taken = 0;

	for (uint32_t i = 0; rings != NULL && i < threads; i++) {
		rings[i] = calloc(1, sizeof(*rings[i]) + RING_SIZE);
		if (rings[i] == NULL)
			fail("no memory");
		rings[i]->size = RING_SIZE;
	}
	while (taken < SAMPLES) {
		uint64_t begun = taken;
		double begin;

		for (uint32_t i = 0; begun + i < taken + CHUNK_SAMPLES; i++) {
			struct ring *ring = rings[i % threads];
			struct sample *sample = ring_reserve(ring, sizeof(*sample) + FRAMES * 8);

			if (sample == NULL)
				break;
			fill(sample, module, modules,
			     stacks != 0 ? random_number() % stacks : begun + i);
			ring_commit(ring, sample);
		}
		begin = thread_cpu_us();
		for (uint32_t i = 0; i < threads; i++) {
			const struct sample *sample;

			while ((sample = ring_peek(rings[i])) != NULL) {
				profile_take(profile, sample, i + 1, "worker");
				ring_release(rings[i], sample);
				taken++;
			}
		}
		chunk_encode(&out, profile_chunk(profile, 1), &info, begun == 0 ? &head : NULL);
		busy += thread_cpu_us() - begin;
		out.size = 0;
	}
	for (uint32_t i = 0; i < threads; i++)
		free(rings[i]);
	free(rings);
	pb_free(&out);
	profile_free(profile);
	symtab_free(symtab);
	return busy / 1e6 / (double)taken;
}

int main(int argc, char **argv)
{
	static const struct {
		uint32_t modules, threads;
		uint64_t stacks;
	} cases[] = { { 1, 16, 2000 },	   { 1, 2000, 2000 },  { 100, 2000, 2000 },
		      { 10000, 16, 2000 }, { 10000, 2000, 0 }, { 1, 16, 0 } };
	size_t text_size;
	struct module *module = argc == 2 ? load(argv[1], &text_size) : NULL;

	if (module == NULL)
		fail("usage: scale_bench IMAGE.cwasm");
	printf("%8s %8s %10s %12s %14s %14s %14s\n", "modules", "threads", "stacks", "ns a sample",
	       "samples/s", "128 x 100 Hz", "128 x 1 kHz");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		double each = drain(module, text_size, cases[i].modules, cases[i].threads,
				    cases[i].stacks);
		char stacks[32] = "new";

		if (cases[i].stacks != 0)
			snprintf(stacks, sizeof(stacks), "%llu",
				 (unsigned long long)cases[i].stacks);
		printf("%8u %8u %10s %12.0f %14.0f %13.1f%% %13.1f%%\n", cases[i].modules,
		       cases[i].threads, stacks, each * 1e9, 1 / each, each * 12800 * 100,
		       each * 128000 * 100);
	}
	module_unref(module);
	return EXIT_SUCCESS;
}
