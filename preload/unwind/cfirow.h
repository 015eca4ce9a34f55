/* SPDX-License-Identifier: MIT */
/*
 * cfirow.h - how to get from a frame at one address to its caller: a row of the unwind table.
 *
 * Made by running a CIE's and an FDE's call frame instructions (DWARF 5, 6.4.2). The bytes are a
 * stranger's: whatever they hold, the run is bounded and reads nothing outside of them.
 */
#ifndef PRELOAD_UNWIND_CFIROW_H
#define PRELOAD_UNWIND_CFIROW_H

#include "preload/unwind/fde.h"
#include "preload/unwind/unwind.h"

enum cfi_rule {
	CFI_SAME,	   /* unchanged; the default */
	CFI_UNDEFINED,	   /* lost; for the return address: the outermost frame */
	CFI_AT,		   /* in memory at CFA + value */
	CFI_IS,		   /* CFA + value */
	CFI_REGISTER,	   /* in register number value */
	CFI_AT_EXPRESSION, /* in memory where the expression says */
	CFI_IS_EXPRESSION, /* what the expression says */
};

/* An expression's value is its place: bytes from the FDE's address. */
struct cfi_row {
	uint64_t pc;   /* that it holds for */
	uintptr_t fde; /* 0: no row */
	int32_t cfa;   /* offset, or place of an expression */
	int32_t value[UNWIND_REGISTERS];
	uint8_t rule[UNWIND_REGISTERS]; /* enum cfi_rule */
	uint8_t cfa_register;		/* CFI_CFA_EXPRESSION: none */
	bool is_signal;			/* the caller was interrupted, it did not call */
};

enum { CFI_CFA_EXPRESSION = 0xff, CFI_CFA_UNSET = 0xfe };

/* The row for PC from the FDE at address FDE in PLACE. False when that does not cover PC, or cannot
 * be read or understood. */
bool cfirow_make(struct cfi_row *row, uint64_t pc, struct fde_place *place, uintptr_t fde);

/* Where the code that the FDE covers starts; 0 when it does not cover PC, or cannot be read. */
uint64_t cfirow_start(uint64_t pc, struct fde_place *place, uintptr_t fde);

#endif /* PRELOAD_UNWIND_CFIROW_H */
