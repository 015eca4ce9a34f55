/* SPDX-License-Identifier: MIT */
/*
 * paths_bench.c - the paths behind the handler, each as one function that callgrind can count.
 *
 * usage: paths_bench. Does each path once with the same work in every run, and prints nothing:
 * tests/run/instructions.py runs it, and names the functions that it counts.
 */
#include "preload/encode/chunk.h"
#include "preload/load/publish.h"
#include "preload/profile/profile.h"
#include "tests/unit/profile/fakes.h"

enum { RANGES = 1000, SAMPLES = 20000, PLACES = 64, FRAMES = 12 };

#define PATH static __attribute__((noinline))

static struct config config = { .memory = 64 << 20, .stacks = STACKS_HOSTCALLS };
static struct sample *samples[SAMPLES];

/* 1,000 modules arrive, not in the order of their addresses, and go. */
PATH void path_publish(void)
{
	for (uint32_t i = 0; i < RANGES; i++) {
		uint32_t id = i * 37 % RANGES + 1;
		struct range range = { .start = id * 4096, .end = id * 4096 + 4096, .id = id };

		publish_add(&range);
	}
	for (uint32_t id = 1; id <= RANGES; id++)
		publish_remove(id);
	publish_reclaim();
}

/* A sample of FRAMES frames, whose places differ with NUMBER. */
static struct sample *sample_of(uintptr_t code, uint32_t number)
{
	uint64_t pcs[FRAMES];

	for (uint32_t i = 0; i < FRAMES; i++)
		pcs[i] = code + (i % 2 ? MAIN : WORK) + 16 + (number >> i) % PLACES;
	return make_sample(SAMPLE_GUEST, 0, pcs, FRAMES, NULL, 0);
}

/* A sample becomes frames, a stack, and a count of its group and instance. */
PATH void path_resolve(struct profile *profile)
{
	for (size_t i = 0; i < SAMPLES; i++)
		profile_take(profile, samples[i], 42, "worker");
}

/* All that is new becomes the bytes of the recording. */
PATH size_t path_encode(struct profile *profile)
{
	const struct chunk_head head = { .start_unix_ns = 1, .period_ns = 10000000 };
	const struct writer_info about = { .clock_name = "timer", .stacks = "hostcalls" };
	struct pb_writer out = { 0 }, info = { 0 };
	size_t size;

	chunk_encode_info(&info, 4242, "bench", &about);
	chunk_encode(&out, profile_chunk(profile, 1000000000), &info, &head);
	size = out.error == 0 ? out.size : 0;
	pb_free(&out);
	pb_free(&info);
	return size;
}

int main(void)
{
	const struct profile_options options = { .config = &config, .period_ns = 10000000 };
	struct profile *profile;
	uint32_t instance;
	uintptr_t code;

	path_publish();
	code = fake_module("a.wasm", "aaaaaaaa");
	instance = fake_instance(1);
	profile = profile_new(&options);
	if (profile == NULL)
		return EXIT_FAILURE;
	for (uint32_t i = 0; i < SAMPLES; i++) {
		samples[i] = sample_of(code, i % (SAMPLES / 2));
		samples[i]->instance = instance;
	}
	path_resolve(profile);
	return path_encode(profile) != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
