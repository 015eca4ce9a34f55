/* SPDX-License-Identifier: MIT */
/*
 * fdetable.h - the bytes of an .eh_frame become a sorted search table.
 *
 * The bytes are a stranger's. Whatever they hold, indexing reads nothing outside them, takes time
 * linear in their number (and a sort), and allocates at most half of it.
 */
#ifndef PRELOAD_UNWIND_FDETABLE_H
#define PRELOAD_UNWIND_FDETABLE_H

#include "symtab/base.h"

/* As in .eh_frame_hdr: where a function starts and where its FDE is, relative to the base. */
struct fdetable_entry {
	int32_t start;
	int32_t fde;
};

struct fdetable {
	uintptr_t base;
	struct fdetable_entry *entries; /* sorted by start; owned */
	size_t count;
	size_t rejected; /* FDEs that made no sense */
	bool damaged;	 /* a length led out of the bytes: what follows was not read */
};

/* What is indexed: SIZE BYTES that were at ADDRESS and describe code in [TEXT, TEXT + TEXT_SIZE).
 */
struct fdetable_source {
	const uint8_t *bytes;
	size_t size;
	uintptr_t address;
	uintptr_t text;
	size_t text_size;
};

/* Fills TABLE with what is good in SOURCE. Returns 0 or -ENOMEM. The bytes are not kept. */
int fdetable_index(struct fdetable *table, const struct fdetable_source *source);
void fdetable_free(struct fdetable *table);

/* The address of the FDE of the last function that starts at or before PC; false: none does. */
bool fdetable_find(const struct fdetable *table, uintptr_t pc, uintptr_t *fde);

/* What a CIE says of its FDEs. */
struct fdetable_cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_register;
	uint8_t encoding; /* of their pointers */
	bool sized;	  /* their augmentation has a size */
	bool is_signal;	  /* they describe the way back from a signal handler */
};

/*
 * Reads a CIE from BODY, which stands behind its id, up to its program. False when it is not one
 * that compilers make.
 */
struct cursor;
bool fdetable_read_cie(struct cursor *body, struct fdetable_cie *cie);

/* Bytes that a pointer of ENCODING takes; 0: unknown. */
size_t fdetable_pointer_size(uint8_t encoding);

/*
 * Decodes one DW_EH_PE_ pointer that lies at ADDRESS. Only absolute and pc-relative ones of 2, 4
 * or 8 bytes are known, which are all that compilers put into FDEs and .eh_frame_hdr.
 */
bool fdetable_pointer(struct cursor *cursor, uint8_t encoding, uintptr_t address, uint64_t *value);

#endif /* PRELOAD_UNWIND_FDETABLE_H */
