/* SPDX-License-Identifier: MIT */
/*
 * scale_bench.c - how many samples a second our one thread can take, past what this machine runs,
 * and what a module's coming and going costs among many.
 *
 * usage: scale_bench IMAGE.cwasm [quick]. Rings of as many threads as given are filled with samples
 * of FRAMES frames in random functions of as many modules and of as many instances as given, and
 * drained as our thread does: resolved, interned, counted, and encoded once a second's worth is
 * taken. No stack is seen twice where STACKS is 0. Prints lines for tests/bench/scale.py:
 *
 *	drain MODULES THREADS INSTANCES STACKS NS_A_SAMPLE RING_BYTES_A_SAMPLE FILE_BYTES_A_SAMPLE
 *	publish RANGES NS_A_CHANGE
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/base/guarded.h"
#include "preload/encode/chunk.h"
#include "preload/load/instance.h"
#include "preload/load/publish.h"
#include "preload/profile/profile.h"
#include "preload/sig/ring.h"
#include "symtab/symtab.h"
#include "tests/bench/times.h"

enum {
	RING_SIZE = 64 << 10,
	FRAMES = 24,
	SAMPLES = 400000,
	QUICK_SAMPLES = 60000,
	CHUNK_SAMPLES = 12800,
	MAX_INSTANCES = 10000,
	CHANGES = 1000,
};
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

struct scene {
	uint32_t modules, threads, instances;
	uint64_t stacks; /* different ones; 0: all differ */
};

static uint32_t instances[MAX_INSTANCES];

static void make_instances(void)
{
	for (uint32_t i = 0; i < MAX_INSTANCES; i++)
		instances[i] = instance_for((struct instance_key){ .store = i + 1, .key = 1 }, 1);
}

/* Stack NUMBER of them: always the same pcs. */
static void fill(struct sample *sample, struct module *module, const struct scene *scene,
		 uint64_t number)
{
	uint64_t kept = state, count = module_symbol_count(module);

	memset(sample, 0, sizeof(*sample));
	sample->size = (uint32_t)(sizeof(*sample) + FRAMES * 8);
	sample->kind = SAMPLE_GUEST;
	sample->generation = 1;
	sample->weight = 1;
	sample->pc_count = FRAMES;
	sample->instance = instances[random_number() % scene->instances];
	state = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
	for (int i = 0; i < FRAMES; i++) {
		const struct symbol *symbol =
			module_symbol(module, (uint32_t)(random_number() % count));

		sample->words[i] = TEXT(1 + random_number() % scene->modules) + symbol->start + 1;
	}
	state = kept;
	random_number();
}

static struct ring **make_rings(uint32_t count)
{
	struct ring **rings = calloc(count, sizeof(*rings));

	for (uint32_t i = 0; rings != NULL && i < count; i++) {
		rings[i] = calloc(1, sizeof(*rings[i]) + RING_SIZE);
		if (rings[i] == NULL)
			fail("no memory");
		rings[i]->size = RING_SIZE;
	}
	if (rings == NULL)
		fail("no memory");
	return rings;
}

static void free_rings(struct ring **rings, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		free(rings[i]);
	free(rings);
}

/* As many samples as a chunk has, or as fit; BEGUN were there before. */
static void fill_rings(struct ring **rings, struct module *module, const struct scene *scene,
		       uint64_t begun)
{
	for (uint32_t i = 0; i < CHUNK_SAMPLES; i++) {
		struct ring *ring = rings[i % scene->threads];
		struct sample *sample = ring_reserve(ring, sizeof(*sample) + FRAMES * 8);

		if (sample == NULL)
			return;
		fill(sample, module, scene,
		     scene->stacks != 0 ? random_number() % scene->stacks : begun + i);
		ring_commit(ring, sample);
	}
}

/* Returns how many there were. */
static uint64_t drain_rings(struct ring **rings, uint32_t count, struct profile *profile)
{
	const struct sample *sample;
	uint64_t taken = 0;

	for (uint32_t i = 0; i < count; i++) {
		while ((sample = ring_peek(rings[i])) != NULL) {
			profile_take(profile, sample, i + 1, "worker");
			ring_release(rings[i], sample);
			taken++;
		}
	}
	return taken;
}

static void measure_drain(struct module *module, size_t text_size, const struct scene *scene,
			  uint64_t samples)
{
	struct symtab *symtab = symbols_of(module, text_size, scene->modules);
	const struct profile_options options = { .config = &config,
						 .symtab = symtab,
						 .period_ns = 10000000 };
	struct profile *profile = profile_new(&options);
	struct ring **rings = make_rings(scene->threads);
	struct pb_writer out = { 0 }, info = { 0 };
	const struct chunk_head head = { .period_ns = 10000000 };
	uint64_t taken = 0, bytes = 0;
	double busy_us = 0;

	while (taken < samples) {
		uint64_t begun = taken;
		double begin;

		fill_rings(rings, module, scene, begun);
		begin = thread_cpu_us();
		taken += drain_rings(rings, scene->threads, profile);
		chunk_encode(&out, profile_chunk(profile, 1), &info, begun == 0 ? &head : NULL);
		busy_us += thread_cpu_us() - begin;
		bytes += out.size;
		out.size = 0;
	}
	printf("drain %u %u %u %llu %.0f %zu %.1f\n", scene->modules, scene->threads,
	       scene->instances, (unsigned long long)scene->stacks, busy_us * 1e3 / (double)taken,
	       sizeof(struct sample) + FRAMES * 8, (double)bytes / (double)taken);
	free_rings(rings, scene->threads);
	pb_free(&out);
	profile_free(profile);
	symtab_free(symtab);
}

/* Among COUNT that stay, modules come and go. Our thread frees old arrays at each turn. */
static void measure_publish(uint32_t count)
{
	double begin;

	for (uint32_t id = 1; id <= count; id++) {
		struct range range = { .start = TEXT(id), .end = TEXT(id) + 4096, .id = id };

		publish_add(&range);
		publish_reclaim();
	}
	begin = thread_cpu_us();
	for (uint32_t i = 0; i < CHANGES; i++) {
		struct range range = { .start = TEXT(count + 1), .end = TEXT(count + 1) + 4096 };

		range.id = count + 1;
		publish_add(&range);
		publish_remove(range.id);
		publish_reclaim();
	}
	printf("publish %u %.0f\n", count, (thread_cpu_us() - begin) * 1e3 / (2 * CHANGES));
	for (uint32_t id = 1; id <= count; id++)
		publish_remove(id);
	publish_reclaim();
}

int main(int argc, char **argv)
{
	static const struct scene scenes[] = {
		{ 1, 16, 1, 2000 },	     { 1, 2000, 1, 2000 },	{ 100, 2000, 100, 2000 },
		{ 10000, 128, 10000, 2000 }, { 10000, 2000, 10000, 0 }, { 1, 16, 1, 0 },
	};
	size_t text_size;
	struct module *module = argc >= 2 ? load(argv[1], &text_size) : NULL;

	if (module == NULL)
		fail("usage: scale_bench IMAGE.cwasm [quick]");
	make_instances();
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++)
		measure_drain(module, text_size, &scenes[i], argc > 2 ? QUICK_SAMPLES : SAMPLES);
	measure_publish(1);
	measure_publish(1000);
	measure_publish(MAX_INSTANCES);
	module_unref(module);
	return EXIT_SUCCESS;
}
