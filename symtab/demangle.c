/* SPDX-License-Identifier: MIT */
/*
 * demangle.c - any mangled name -> display name, in bounded time, memory and stack.
 *
 * libiberty bounds none of them well enough for names that a stranger chose: 239 bytes of Rust make
 * 402 MB of text, and a C++ name of 1,000 bytes can take over a megabyte of stack (its printer has
 * arrays on the stack whose size is a product of two counts in the name). So it runs on a stack of
 * its own, from which the output callback leaves for good when the text gets too long. Nothing is
 * lost by that: neither callback interface holds memory, but for Rust's Punycode buffer, and the
 * callback stays while that one is being printed.
 */
#include "symtab/symtab.h"
#include "symtab/utf8.h"

#include <ctype.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

/* From libiberty's demangle.h, which would bring much else. */
enum {
	DMGL_PARAMS = 1 << 0,
	DMGL_ANSI = 1 << 1,
	DMGL_VERBOSE = 1 << 3,
};
typedef void demangle_callback(const char *text, size_t length, void *opaque);
int rust_demangle_callback(const char *mangled, int options, demangle_callback *callback,
			   void *opaque);
int cplus_demangle_v3_callback(const char *mangled, int options, demangle_callback *callback,
			       void *opaque);

enum {
	RUST_OPTIONS = DMGL_PARAMS | DMGL_ANSI | DMGL_VERBOSE, /* with hashes: they tell apart */
	CXX_OPTIONS = DMGL_PARAMS | DMGL_ANSI,		       /* std::string in short */
	MAX_MANGLED = 32 << 10,				       /* wasm-bindgen makes 9,400 bytes */
	MAX_TEXT = 12 << 10, /* 7,274 seen; longer is a bomb, and 64 kB of one take 250 us */
	MAX_CXX = 1024,	     /* libiberty takes no longer ones without DMGL_NO_RECURSE_LIMIT */
};

/* One mapping: a guard that no array on the stack can jump over, and the rest. */
struct arena {
	char guard[4 << 20];
	char stack[4 << 20];
	char name[MAX_MANGLED]; /* terminated copy */
	char text[MAX_TEXT];
};

struct job {
	struct arena *arena;
	size_t used;  /* of arena->text */
	bool is_rust; /* else C++ */
	bool is_whole;
	ucontext_t caller, own;
};

static void collect(const char *text, size_t length, void *opaque)
{
	struct job *job = opaque;
	size_t i;

	if (length == 0) /* TEXT may be NULL then */
		return;
	if (length <= MAX_TEXT - job->used) {
		memcpy(job->arena->text + job->used, text, length);
		job->used += length;
		return;
	}
	job->used = MAX_TEXT;
	/* only decoded Punycode is not ASCII in Rust, and its buffer is freed when we return */
	for (i = 0; job->is_rust && i < length; i++)
		if ((text[i] & 0x80) != 0)
			return;
	setcontext(&job->caller);
}

/* makecontext() passes ints only. */
static void run(unsigned int high, unsigned int low)
{
	struct job *job = (struct job *)((uintptr_t)high << 32 | low);
	int done;

	if (job->is_rust)
		done = rust_demangle_callback(job->arena->name, RUST_OPTIONS, collect, job);
	else
		done = cplus_demangle_v3_callback(job->arena->name, CXX_OPTIONS, collect, job);
	job->is_whole = done != 0 && job->used > 0 && job->used < MAX_TEXT;
}

/* Demangles arena->name into arena->text by one of the two. Returns whether it did. */
static bool try(struct job *job, bool is_rust)
{
	uintptr_t self = (uintptr_t)job;

	job->used = 0;
	job->is_rust = is_rust;
	job->is_whole = false;
	if (getcontext(&job->own) != 0)
		return false;
	job->own.uc_stack.ss_sp = job->arena->stack;
	job->own.uc_stack.ss_size = sizeof(job->arena->stack);
	job->own.uc_link = &job->caller;
	makecontext(&job->own, (void (*)(void))run, 2, (unsigned int)(self >> 32),
		    (unsigned int)self);
	return swapcontext(&job->caller, &job->own) == 0 && job->is_whole;
}

/*
 * What follows the mangled name proper in NAME, which Rust's demangler accepts: ".llvm.HEX", which
 * says nothing to a reader, is left out; ".0" and the like tell functions apart.
 */
static const char *rust_suffix(const char *name, size_t *length)
{
	const char *suffix = strchr(name, '.'), *llvm, *next;

	if (name[1] == 'Z') {
		/* legacy names may have dots inside, and end in 17h, 16 digits, E */
		for (next = name; (next = strstr(next, "17h")) != NULL; next++)
			if (strnlen(next, 20) == 20 && next[19] == 'E')
				suffix = next + 20;
	}
	if (suffix == NULL || *suffix != '.')
		suffix = name + strlen(name);
	*length = strlen(suffix);
	llvm = strstr(suffix, ".llvm.");
	if (llvm != NULL && llvm[6 + strspn(llvm + 6, "0123456789ABCDEF@")] == '\0')
		*length = (size_t)(llvm - suffix);
	return suffix;
}

static void append_suffix(struct job *job)
{
	size_t length;
	const char *suffix = rust_suffix(job->arena->name, &length);

	if (length > MAX_TEXT - job->used)
		return;
	memcpy(job->arena->text + job->used, suffix, length);
	job->used += length;
}

/*
 * Length of the piece at AT of a Rust v0 text that rustc's own demangler, and so the engine's guest
 * profiler, does not print: `: usize` of a constant (it prints 4usize), and [0], the disambiguator
 * of a crate that has none.
 */
static size_t rust_noise(const char *at, const char *start)
{
	static const char *const dropped[] = { "bool", "char" };
	static const char *const kept[] = { "isize", "usize", "i8",  "i16", "i32", "i64",
					    "i128",  "u8",    "u16", "u32", "u64", "u128" };
	size_t i;

	if (at == start)
		return 0;
	if (strncmp(at, "[0]", 3) == 0 && (isalnum((uint8_t)at[-1]) || at[-1] == '_'))
		return 3;
	if (strncmp(at, ": ", 2) != 0)
		return 0;
	for (i = 0; i < ARRAY_SIZE(dropped); i++)
		if (strncmp(at + 2, dropped[i], 4) == 0)
			return 6;
	for (i = 0; i < ARRAY_SIZE(kept); i++)
		if (strncmp(at + 2, kept[i], strlen(kept[i])) == 0)
			return 2;
	return 0;
}

static void tidy_rust(struct job *job)
{
	char *text = job->arena->text;
	size_t from, to = 0;

	text[job->used] = '\0'; /* there is room: a text that fills the arena is a bomb */
	for (from = 0; from < job->used;) {
		size_t noise = rust_noise(text + from, text);

		from += noise;
		if (noise == 0)
			text[to++] = text[from++];
	}
	job->used = to;
}

static bool may_be_mangled(const char *name, size_t length)
{
	if (length < 4 || length >= MAX_MANGLED || name[0] != '_')
		return false;
	if (name[1] == '_') /* some tools put one in front of all names */
		name++;
	return (name[1] == 'R' || name[1] == 'Z') && memchr(name, '\0', length - 1) == NULL;
}

static struct arena *map_arena(void)
{
	struct arena *arena = mmap(NULL, sizeof(*arena), PROT_NONE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (arena == MAP_FAILED)
		return NULL;
	if (mprotect(arena->stack, sizeof(*arena) - sizeof(arena->guard), PROT_READ | PROT_WRITE) ==
	    0)
		return arena;
	munmap(arena, sizeof(*arena));
	return NULL;
}

size_t demangle(const char *name, size_t length, char *out, size_t size)
{
	struct job job = { .arena = may_be_mangled(name, length) ? map_arena() : NULL };
	bool is_done = false;
	char *mangled;
	size_t used;

	if (job.arena == NULL)
		return utf8_fit(name, length, name, length, out, size);
	mangled = job.arena->name;
	memcpy(mangled, name + (name[1] == '_'), length - (name[1] == '_'));
	if (try(&job, true)) {
		if (mangled[1] == 'R')
			tidy_rust(&job);
		append_suffix(&job);
		is_done = true;
	} else if (mangled[1] == 'Z' && length <= MAX_CXX) {
		is_done = try(&job, false);
	}
	used = is_done ? utf8_fit(job.arena->text, job.used, name, length, out, size)
		       : utf8_fit(name, length, name, length, out, size);
	munmap(job.arena, sizeof(*job.arena));
	return used;
}

size_t demangle_not(const char *name, size_t length, char *out, size_t size)
{
	return utf8_fit(name, length, name, length, out, size);
}
