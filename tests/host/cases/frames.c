/* SPDX-License-Identifier: MIT */
/*
 * frames.c - a host that registers unwind tables by itself, in every way. Arguments: the guest,
 * what to do: cycles, bulk, odd, late, variants, and for `bulk` how many each of its threads
 * registers. It prints what happened; `bulk` says on stderr how much CPU time that took.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"

extern void __register_frame(const void *begin);
extern void __deregister_frame(const void *begin);

enum { THREADS = 8, CYCLES = 1000, BULK_THREADS = 4, TABLE = 80, PAGE = 4096 };

static void put32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, 4);
}

/* One CIE, one FDE for SIZE bytes at START, and the terminator. */
static void make_table(uint8_t *table, uintptr_t start, uint64_t size)
{
	const uint8_t cie[] = { 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1 };

	memset(table, 0, TABLE);
	put32(table, 20);
	memcpy(table + 8, cie, sizeof(cie));
	put32(table + 24, 28);
	put32(table + 28, 28);
	memcpy(table + 32, &start, 8);
	memcpy(table + 40, &size, 8);
}

static uint8_t *code_page(void)
{
	uint8_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	guest_expect(page != MAP_FAILED, "a page");
	page[0] = 0xc3;
	return page;
}

static void *cycle(void *unused)
{
	for (int i = 0; i < CYCLES; i++) {
		uint8_t *page = code_page(), *table = malloc(TABLE);

		make_table(table, (uintptr_t)page, PAGE);
		__register_frame(table);
		((void (*)(void))page)();
		__deregister_frame(table);
		munmap(page, PAGE);
		free(table);
	}
	return unused;
}

static void on_threads(int count, void *(*body)(void *))
{
	pthread_t threads[THREADS];

	for (int i = 0; i < count; i++)
		guest_expect(pthread_create(&threads[i], NULL, body, (void *)(intptr_t)i) == 0,
			     "a thread");
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

/* ---- bulk ------------------------------------------------------------------------------------ */

static uint8_t *memory, *code;
static int each;

static int order(int thread, int i)
{
	switch (thread % 3) {
	case 0: /* as they came */
		return i;
	case 1:
		return each - 1 - i;
	default: /* every 7919th: a prime, which must not divide it */
		return (int)((long)i * 7919 % each);
	}
}

static void *bulk(void *number)
{
	int thread = (int)(intptr_t)number;
	uint8_t *mine = memory + (size_t)thread * (size_t)each * TABLE;

	for (int i = 0; i < each; i++) {
		make_table(mine + (size_t)i * TABLE,
			   (uintptr_t)code + ((size_t)thread * (size_t)each + (size_t)i) * 16, 16);
		__register_frame(mine + (size_t)i * TABLE);
	}
	for (int i = 0; i < each; i++)
		__deregister_frame(mine + (size_t)order(thread, i) * TABLE);
	return NULL;
}

static uint64_t cpu_ms(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000 + (uint64_t)used.tv_nsec / 1000000;
}

static void run_bulk(void)
{
	size_t count = (size_t)BULK_THREADS * (size_t)each;
	uint64_t start;

	memory = mmap(NULL, count * TABLE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	code = mmap(NULL, count * 16, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	guest_expect(memory != MAP_FAILED && code != MAP_FAILED, "memory");
	start = cpu_ms();
	on_threads(BULK_THREADS, bulk);
	fprintf(stderr, "bulk %llu ms\n", (unsigned long long)(cpu_ms() - start));
}

/* ---- odd ones -------------------------------------------------------------------------------- */

static void register_for_a_moment(uint8_t *table)
{
	__register_frame(table);
	usleep(120000); /* long enough for whoever wants to read it */
	__deregister_frame(table);
}

/*
 * What libgcc bears: it looks into a table when it registers it (the ranges, in newer versions), so
 * records must be where they say, but their contents need not make sense.
 */
static void run_odd(void)
{
	static const uint64_t sizes[] = { 1, PAGE, 1ull << 46 };
	uint8_t *pages =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *table = malloc(TABLE);
	static uint8_t empty[8] __attribute__((aligned(8)));

	guest_expect(pages != MAP_FAILED && mprotect(pages + PAGE, PAGE, PROT_NONE) == 0, "pages");
	register_for_a_moment(empty);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		make_table(table, 0x10000 + (uintptr_t)i * PAGE, sizes[i]);
		register_for_a_moment(table);
	}
	/* An augmentation nobody knows, in a table that libgcc does not look at closer. */
	make_table(table, (uintptr_t)pages, 64);
	table[32] = 'Z';
	register_for_a_moment(table);
	/* The terminator is the last word before a page that cannot be read. */
	make_table(table, (uintptr_t)pages, 64);
	memcpy(pages + PAGE - 60, table, 60);
	register_for_a_moment(pages + PAGE - 60);
	/* Gone as soon as it was registered and taken back. */
	make_table(table, (uintptr_t)pages, 64);
	__register_frame(table);
	__deregister_frame(table);
	memset(table, 0xff, TABLE);
	free(table);
}

/* ---- at the end ------------------------------------------------------------------------------ */

static uint8_t late_table[TABLE], later_table[TABLE];

static void take_back(void)
{
	__deregister_frame(late_table);
	guest_burn(20);
	guest_drop();
}

__attribute__((destructor)) static void after_the_profiler(void)
{
	if (later_table[0] != 0)
		__deregister_frame(later_table);
}

static void *run_on(void *unused)
{
	guest_burn(60000);
	return unused;
}

static void run_late(void)
{
	pthread_t thread;
	uint8_t *page = code_page();

	make_table(late_table, (uintptr_t)page, 64);
	make_table(later_table, (uintptr_t)page + 64, 64);
	__register_frame(late_table);
	__register_frame(later_table);
	atexit(take_back);
	pthread_create(&thread, NULL, run_on, NULL);
	pthread_detach(thread);
	guest_burn(200);
}

/* ---- the other functions of the family ------------------------------------------------------- */

static void run_variants(void)
{
	void (*info)(const void *, void *) =
		(void (*)(const void *, void *))dlsym(RTLD_DEFAULT, "__register_frame_info");
	void *(*info_back)(const void *) =
		(void *(*)(const void *))dlsym(RTLD_DEFAULT, "__deregister_frame_info");
	static long object[8];
	uint8_t *table = malloc(TABLE);

	guest_expect(info != NULL && info_back != NULL, "no __register_frame_info");
	guest_expect(dlsym(RTLD_DEFAULT, "__unw_add_dynamic_fde") == NULL &&
			     dlsym(RTLD_DEFAULT, "__unw_add_dynamic_eh_frame_section") == NULL,
		     "a name that engines look for is in scope");
	make_table(table, (uintptr_t)code_page(), PAGE);
	info(table, object);
	guest_burn(60);
	guest_expect(info_back(table) == object, "another object came back");
	free(table);
}

int main(int argc, char **argv)
{
	static uint8_t early[TABLE];
	const char *what;

	guest_expect(argc >= 3, "usage: frames GUEST WHAT [EACH]");
	what = argv[2];
	each = argc > 3 ? atoi(argv[3]) : 2500;
	/* Before anybody knows of a guest. */
	make_table(early, (uintptr_t)code_page(), PAGE);
	__register_frame(early);
	guest_load(argv[1]);
	guest_burn(100);
	__deregister_frame(early);
	if (strcmp(what, "cycles") == 0)
		on_threads(THREADS, cycle);
	else if (strcmp(what, "bulk") == 0)
		run_bulk();
	else if (strcmp(what, "odd") == 0)
		run_odd();
	else if (strcmp(what, "late") == 0)
		run_late();
	else
		run_variants();
	guest_burn(100);
	printf("%s: done\n", what);
	return 0;
}
