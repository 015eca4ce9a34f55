/* SPDX-License-Identifier: MIT */
/*
 * hook_x86_64.h - one row of the hook table, and the row's thunks.
 *
 * A thunk may touch nothing but r11: it runs between the host's call and the wrapper's first
 * instruction, with all argument registers (rax too: varargs) and the stack in use. r11 is free at
 * that point (psABI 3.2.1). The wrapper is reached by a hidden alias: its exported name could be
 * hidden in turn by a definition in the executable.
 */
#ifndef PRELOAD_HOOK_HOOK_X86_64_H
#define PRELOAD_HOOK_HOOK_X86_64_H

enum { HOOK_THUNK_SIZE = 32 };

/* gcc warns of an alias that lacks its target's attributes (nothrow, say). */
#if __has_attribute(copy)
#define HOOK_LIKE(func) copy(func),
#else
#define HOOK_LIKE(func)
#endif

/* clang-format off */
#define HOOK_ROW(func, first_thunk)                                                               \
	extern __typeof__(func) wrapper_##func                                                    \
		__attribute__((HOOK_LIKE(func) alias(#func), visibility("hidden")));              \
	static struct hook hook_##func                                                            \
		__attribute__((section("hooks"), used, aligned(8))) = {                           \
			.name = #func,                                                            \
			.wrapper = (void *)wrapper_##func,                                        \
			.thunks = (first_thunk),                                                  \
			.is_missing_logged = ATOMIC_FLAG_INIT,                                    \
	}

#define HOOK_PLAIN(func) HOOK_ROW(func, NULL)

/* One thunk for each of HOOK_SLOTS. */
#define HOOK(func)                                                                                \
	__asm__(".pushsection .text.thunks, \"ax\", @progbits\n"                                  \
		".balign 32\n"                                                                    \
		".globl thunks_" #func "\n"                                                       \
		".hidden thunks_" #func "\n"                                                      \
		".type thunks_" #func ", @function\n"                                             \
		"thunks_" #func ":\n"                                                             \
		".irp number, 1, 2, 3, 4, 5, 6, 7, 8\n"                                           \
		".balign 32\n"                                                                    \
		"endbr64\n"                                                                       \
		"movq hook_slot@GOTTPOFF(%rip), %r11\n"                                           \
		"movb $\\number, %fs:(%r11)\n"                                                    \
		"jmp wrapper_" #func "\n"                                                         \
		".endr\n"                                                                         \
		".size thunks_" #func ", . - thunks_" #func "\n"                                  \
		".popsection\n");                                                                 \
	extern const char thunks_##func[] __attribute__((visibility("hidden")));                  \
	HOOK_ROW(func, thunks_##func)
/* clang-format on */

_Static_assert(HOOK_SLOTS == 8, "the list of numbers in HOOK() has one for each slot");

#endif /* PRELOAD_HOOK_HOOK_X86_64_H */
