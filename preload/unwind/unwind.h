/* SPDX-License-Identifier: MIT */
/*
 * unwind.h - registers and a stack slice become frames, off the signal.
 *
 * Our thread only. libunwind in remote mode (libunwind-x86_64, _Ux86_64_*), opened locally at the
 * first use: linking it would put its _Unwind_* into the host's scope. Its find_proc_info is ours,
 * fed from copies of .eh_frame: loaded objects (objects.c) and images (unwind_add_image).
 */
#ifndef PRELOAD_UNWIND_UNWIND_H
#define PRELOAD_UNWIND_UNWIND_H

#include "symtab/base.h"

enum { UNWIND_REGISTERS = 17, UNWIND_MAX_FRAMES = 1024 };

/* What is unwound: DWARF-ordered registers, and copies of stack memory. Nothing else is read live.
 */
struct unwind_input {
	const uint64_t *registers; /* UNWIND_REGISTERS */
	bool is_caller; /* the first frame called: its pc is a return address, and only its pc,
			   frame and stack pointer are known */
	const uint8_t *slice;
	uint64_t slice_address;
	size_t slice_size;
	/* Of another stack, on which that one's thread resumed a fiber. resumer_size 0: none. */
	const uint8_t *resumer;
	uint64_t resumer_address;
	size_t resumer_size;
	uint64_t generation; /* images valid in this generation */
	/* The first frame for which this answers true is the last of the result. NULL: go on. */
	bool (*stop)(void *context, uint64_t pc);
	void *context;
};

struct unwind_frame {
	uint64_t pc;   /* as found: the leaf's pc, return addresses for callers */
	uint64_t cfa;  /* the caller's stack pointer; 0 in the last frame, whose caller is not known
			*/
	bool is_guess; /* found by the frame pointer or by what looked like a return address */
};

enum unwind_end {
	UNWIND_COMPLETE,  /* reached the outermost frame */
	UNWIND_STOPPED,	  /* input.stop said so; that frame is the last of the result */
	UNWIND_SLICE_END, /* needed stack memory that the slice does not have */
	UNWIND_NO_TABLE,  /* code without unwind tables, and the frame pointer did not help */
	UNWIND_BROKEN,	  /* tables or stack make no sense */
	UNWIND_TOO_DEEP,
	UNWIND_UNAVAILABLE, /* not started, or given up after a fork */
};

/* Who steps over code with tables. The other one helps out. */
enum unwinder { UNWINDER_LIBUNWIND, UNWINDER_CFI };

/*
 * Opens libunwind. 0, or -ENOENT with one line logged: then our own stepper does all (cfi.h).
 * Before this was called unwind() answers UNWIND_UNAVAILABLE.
 */
int unwind_start(void);

/* From now on; UNWINDER_LIBUNWIND at first. */
void unwind_choose(enum unwinder unwinder);

/* Unwinds into FRAMES (room for MAX). *COUNT frames are good whatever the answer. */
enum unwind_end unwind(const struct unwind_input *input, struct unwind_frame *frames, size_t max,
		       size_t *count);

/* The stack address that the last unwind() lacked; 0: it ended for another reason, or was asked. */
uint64_t unwind_missing(void);

/*
 * Code at [TEXT, TEXT + TEXT_SIZE) is described by the EH_FRAME_SIZE bytes at EH_FRAME, which were
 * at EH_FRAME_ADDRESS. Copied. Valid for generations [BORN, died). Damaged tables give less, and
 * one line; without any (size 0) frames are bridged by the frame pointer. Returns 0; -EINVAL for
 * ranges that are empty, wrap around or are over 256 MiB of tables; -ENOMEM.
 */
int unwind_add_image(uint32_t id, uintptr_t text, size_t text_size, const uint8_t *eh_frame,
		     size_t eh_frame_size, uintptr_t eh_frame_address, uint64_t born);
void unwind_retire_image(uint32_t id, uint64_t died);
void unwind_forget_images(uint64_t oldest_generation);

/*
 * Around a fork, on the thread that forks: before, in the parent after, in the child after. Before
 * waits until our thread is neither in libunwind nor in the loader (100 ms at most): locks of
 * theirs that are held at that moment are held in the child for ever. Where the wait was in vain,
 * or there was none, the child gets UNWIND_UNAVAILABLE if our thread was unwinding.
 */
void unwind_before_fork(void);
void unwind_after_fork_in_parent(void);
void unwind_after_fork(void);

/* A loaded object, or one that was until lately. */
struct unwind_object {
	const char *path; /* valid until the next call into this room */
	uintptr_t base;	  /* what its file's addresses are counted from */
	uintptr_t low;	  /* its first byte in memory: the ELF header */
	bool is_gone;
};

/* The object that holds PC; false: none does. */
bool unwind_find_object(uint64_t pc, struct unwind_object *object);

/* Where the function that holds PC starts, by its unwind tables; 0: they do not say. */
uint64_t unwind_function_start(uint64_t pc);

/* The loaded object that holds PC: its path (valid until the next call into this room), else NULL.
 */
const char *unwind_object_name(uint64_t pc, uintptr_t *load_base);

#endif /* PRELOAD_UNWIND_UNWIND_H */
