/* SPDX-License-Identifier: MIT */
/*
 * listing.h - inside of a module whose functions are told one by one: module_new_listed().
 *
 * Its text is virtual: each function gets an offset range of its own when it is listed first, and
 * keeps it wherever its code moves and whatever else comes to be at that address.
 */
#ifndef SYMTAB_LISTING_H
#define SYMTAB_LISTING_H

#include "symtab/strings.h"
#include "symtab/symtab.h"

struct listing {
	struct strings names; /* full names and shown ones */
	struct span *shown;   /* of each symbol */
	uint32_t room;	      /* in shown and in the module's records */
	uint32_t *slots;      /* open addressing: symbol + 1; 0: free */
	uint32_t slot_count;  /* a power of two, or 0 */
	uint64_t next;	      /* offset that no function has */
	uint32_t shown_room;  /* in the module's cache of texts */
	char identity[IDENTITY_SIZE];
};

/* The shown name of symbol ID, not terminated; length 0: none. */
const char *listing_shown(const struct module *module, uint32_t id, size_t *length);

/* The full name of symbol ID, likewise. */
const char *listing_full(const struct module *module, uint32_t id, size_t *length);

/* NULL is allowed. */
void listing_free(struct listing *listing);

#endif /* SYMTAB_LISTING_H */
