/* SPDX-License-Identifier: MIT */
/*
 * memory.c - the program's data segment, and a heap that nothing is given back to.
 *
 * Only those pages of the data segment are copied and hashed that were ever written: they are
 * learnt by faults.
 */
#include "tests/model/memory.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "tests/model/explore.h"

enum {
	MOST_BLOCKS = 4096,
	MOST_PAGES = 2048,
	PAGE = 4096,
	HEAP_SIZE = 16 << 20,
	STACK_SIZE = 64 << 10,
	POISON = 0xdb,
};

struct block {
	size_t size;
	bool is_freed;
};

/* Outside of what it looks after. */
static struct memory {
	size_t heap_used;
	struct block *blocks[MOST_BLOCKS];
	size_t block_count;
	/* Pages of the data segment that were written, and what was in all of them at first. */
	uint16_t live[MOST_PAGES];
	size_t live_count;
	uint8_t data[MOST_PAGES][PAGE], data_before[MOST_PAGES][PAGE];
	/* The same of what the program's begin() allocated. */
	size_t heap_at_begin, blocks_at_begin;
	uint8_t heap_copy[HEAP_SIZE];
	uint8_t fault_stack[STACK_SIZE];
	uint8_t heap[HEAP_SIZE] __attribute__((aligned(64)));
} * self;

extern char __data_start, _end;

static uint8_t *data_start(void)
{
	return (uint8_t *)((uintptr_t)&__data_start & ~(uintptr_t)(PAGE - 1));
}

static size_t data_pages(void)
{
	return ((uintptr_t)&_end - (uintptr_t)data_start() + PAGE - 1) / PAGE;
}

static void note_live(size_t page)
{
	self->live[self->live_count++] = (uint16_t)page;
	mprotect(data_start() + page * PAGE, PAGE, PROT_READ | PROT_WRITE);
}

static void on_fault(int signo, siginfo_t *info, void *context)
{
	size_t page = (size_t)((uint8_t *)info->si_addr - data_start()) / PAGE;

	(void)signo;
	(void)context;
	if ((uint8_t *)info->si_addr >= data_start() && page < data_pages()) {
		for (size_t i = 0; i < self->live_count; i++) {
			if (self->live[i] == page)
				explore_fail("a fault in the data segment");
		}
		note_live(page);
		return;
	}
	explore_fail("a fault: memory was used that is not there any more");
}

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *block);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

static struct block *block_of(const void *block)
{
	return (struct block *)(uintptr_t)block - 1;
}

static bool is_ours(const void *block)
{
	return (const uint8_t *)block >= self->heap &&
	       (const uint8_t *)block < self->heap + HEAP_SIZE;
}

void *__wrap_malloc(size_t size)
{
	size_t whole = (sizeof(struct block) + size + 15) & ~(size_t)15;
	struct block *block = (struct block *)(self->heap + self->heap_used);

	if (self->heap_used + whole > HEAP_SIZE || self->block_count == MOST_BLOCKS)
		explore_fail("too little memory for the search");
	self->heap_used += whole;
	*block = (struct block){ .size = size };
	self->blocks[self->block_count++] = block;
	return block + 1;
}

void *__wrap_calloc(size_t count, size_t size)
{
	void *memory = __wrap_malloc(count * size);

	return memset(memory, 0, count * size);
}

void *__wrap_realloc(void *old, size_t size)
{
	void *memory = __wrap_malloc(size);

	if (old != NULL)
		memcpy(memory, old, block_of(old)->size < size ? block_of(old)->size : size);
	return memory;
}

char *__wrap_strdup(const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(__wrap_malloc(size), text, size);
}

void __wrap_free(void *block)
{
	if (block == NULL || !is_ours(block))
		return;
	if (block_of(block)->is_freed)
		explore_fail("a block is freed twice");
	block_of(block)->is_freed = true;
	memset(block, POISON, block_of(block)->size);
}

/* Time stands still: no state shall differ by it. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	*now = (struct timespec){ .tv_sec = 1 };
	return 0;
}

bool explore_is_freed(const void *block)
{
	return is_ours(block) && block_of(block)->is_freed;
}

size_t explore_blocks(size_t size)
{
	size_t count = 0;

	for (size_t i = 0; i < self->block_count; i++)
		count += !self->blocks[i]->is_freed && self->blocks[i]->size >= size;
	return count;
}

void memory_free(void *block)
{
	__wrap_free(block);
}

/* ---- states -------------------------------------------------------------------------------- */

uint64_t memory_mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdu;

	return h ^ (h >> 29);
}

uint64_t memory_mix_bytes(uint64_t hash, const void *bytes, size_t size)
{
	const uint64_t *words = bytes; /* all that comes here is made of words */
	uint64_t other = 7;
	size_t i;

	for (i = 0; i + 2 <= size / 8; i += 2) {
		hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u;
		other = (other ^ words[i + 1]) * 0xff51afd7ed558ccdu;
		hash ^= hash >> 32;
		other ^= other >> 31;
	}
	return memory_mix(memory_mix(hash, other), i < size / 8 ? words[i] : 0);
}

uint64_t memory_hash(void)
{
	uint64_t hash = 1;

	for (size_t i = 0; i < self->live_count; i++)
		hash = memory_mix_bytes(hash, data_start() + self->live[i] * PAGE, PAGE);
	return memory_mix_bytes(hash, self->heap, self->heap_used);
}

/* ---- runs ------------------------------------------------------------------------------------ */

void memory_set_up(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	stack_t alternate = { .ss_size = STACK_SIZE };

	self = mmap(NULL, sizeof(*self), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (self == MAP_FAILED || data_pages() > MOST_PAGES)
		exit(2);
	alternate.ss_sp = self->fault_stack;
	sigaltstack(&alternate, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

void memory_begin(void)
{
	self->heap_used = self->block_count = 0;
	memcpy(self->data_before, data_start(), data_pages() * PAGE);
}

void memory_keep(void)
{
	self->heap_at_begin = self->heap_used;
	self->blocks_at_begin = self->block_count;
	memcpy(self->heap_copy, self->heap, self->heap_used);
	memcpy(self->data, data_start(), data_pages() * PAGE);
	self->live_count = 0;
	mprotect(data_start(), data_pages() * PAGE, PROT_READ);
	/* What the loader protected for good (RELRO) may share the first page. */
	note_live(0);
}

void memory_begin_again(void)
{
	for (size_t i = 0; i < self->live_count; i++)
		memcpy(data_start() + self->live[i] * PAGE, self->data[self->live[i]], PAGE);
	memcpy(self->heap, self->heap_copy, self->heap_at_begin);
	self->heap_used = self->heap_at_begin;
	self->block_count = self->blocks_at_begin;
}

void memory_end(void)
{
	mprotect(data_start(), data_pages() * PAGE, PROT_READ | PROT_WRITE);
	memcpy(data_start(), self->data_before, data_pages() * PAGE);
}
