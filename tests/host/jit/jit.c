/* SPDX-License-Identifier: MIT */
/*
 * jit.c - a program that makes code without frame pointers, and registers unwind tables for it.
 *
 * As LLVM's JITs do, of WebAssembly and of PostgreSQL: no image, no names. Arguments: CPU
 * milliseconds, encoding of the tables' pointers (hex), and `fde` to register the FDE alone, as is
 * done where the unwinder is LLVM's.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

extern void __register_frame(void *begin);
extern void __deregister_frame(void *begin);

/* sub $0x28,%rsp; call *%rsi; add $0x28,%rsp; ret. And: loop: dec %rdi; jnz loop; ret. */
static const uint8_t outer[] = { 0x48, 0x83, 0xec, 0x28, 0xff, 0xd6, 0x48, 0x83, 0xc4, 0x28, 0xc3 };
static const uint8_t inner[] = { 0x48, 0x83, 0xec, 0x48, 0x48, 0xff, 0xcf,
				 0x75, 0xfb, 0x48, 0x83, 0xc4, 0x48, 0xc3 };
enum { INNER_AT = 64, TABLES_AT = 4096 };

static uint8_t *memory, *at;

static void put(const void *bytes, size_t size)
{
	memcpy(at, bytes, size);
	at += size;
}

static void put_number(uint64_t value, size_t size)
{
	put(&value, size);
}

static void put_address(uint64_t address, uint8_t encoding, int is_size)
{
	size_t size = (encoding & 7) == 3 ? 4 : 8;

	if ((encoding & 0x70) == 0x10 && !is_size)
		address -= (uintptr_t)at;
	put_number(address, size);
}

static void end_record(uint8_t *start)
{
	uint32_t length;

	while ((at - start) % 8 != 4)
		*at++ = 0;
	length = (uint32_t)(at - start - 4);
	memcpy(start, &length, 4);
}

static uint8_t *put_fde(uint8_t *cie, uint8_t encoding, uint8_t *code, size_t size, uint8_t space)
{
	uint8_t *start = at;
	/* advance 4; def_cfa_offset SPACE + 8; advance SIZE - 5; def_cfa_offset 8 */
	const uint8_t program[] = { 0x44, 0x0e, (uint8_t)(space + 8), (uint8_t)(0x40 + size - 5),
				    0x0e, 8 };

	put_number(0, 4);
	put_number((uint64_t)(at - cie), 4);
	put_address((uintptr_t)code, encoding, 0);
	put_address(size, encoding, 1);
	put_number(0, 1);
	put(program, sizeof(program));
	end_record(start);
	return start;
}

static uint8_t *put_tables(uint8_t encoding, uint8_t **first_fde, uint8_t **second_fde)
{
	/* version 1, "zR", alignments 1 and -8, register 16, encoding; CFA rsp + 8, rip below it */
	const uint8_t body[] = { 1, 'z', 'R', 0, 1, 0x78, 16, 1, encoding, 0x0c, 7, 8, 0x90, 1 };
	uint8_t *cie = at = memory + TABLES_AT;

	put_number(0, 8);
	put(body, sizeof(body));
	end_record(cie);
	*first_fde = put_fde(cie, encoding, memory, sizeof(outer), 0x28);
	*second_fde = put_fde(cie, encoding, memory + INNER_AT, sizeof(inner), 0x48);
	put_number(0, 4);
	return cie;
}

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

__attribute__((noinline)) static void call_code(double end_ms)
{
	void (*function)(uint64_t, void *) = (void (*)(uint64_t, void *))(uintptr_t)memory;

	while (cpu_ms() < end_ms)
		function(200000, memory + INNER_AT);
}

int main(int count, char **words)
{
	double ms = count > 1 ? atof(words[1]) : 100;
	uint8_t encoding = count > 2 ? (uint8_t)strtoul(words[2], NULL, 16) : 0;
	uint8_t *cie, *first, *second;
	int alone = count > 3 && strcmp(words[3], "fde") == 0;

	memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	memcpy(memory, outer, sizeof(outer));
	memcpy(memory + INNER_AT, inner, sizeof(inner));
	cie = put_tables(encoding, &first, &second);
	/* libgcc takes a lone FDE for the start of tables: fine, as long as nobody throws */
	__register_frame(alone ? first : cie);
	if (alone)
		__register_frame(second);
	call_code(ms);
	__deregister_frame(alone ? first : cie);
	if (alone)
		__deregister_frame(second);
	printf("jit: done\n");
	return 0;
}
