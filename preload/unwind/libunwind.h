/* SPDX-License-Identifier: MIT */
/*
 * libunwind.h - the few functions of libunwind's remote mode that we use, found at run time.
 *
 * The ABI is declared here instead of taken from its headers, with room at the end of what it
 * reads: releases from 1.7 on copy more accessors out of the same structure.
 */
#ifndef PRELOAD_UNWIND_LIBUNWIND_H
#define PRELOAD_UNWIND_LIBUNWIND_H

#include "symtab/base.h"

enum {
	LIBUNWIND_ENOMEM = 2,
	LIBUNWIND_EBADREG = 3,
	LIBUNWIND_EINVAL = 8,
	LIBUNWIND_EBADVERSION = 9,
	LIBUNWIND_ENOINFO = 10,
};

enum { LIBUNWIND_CACHE_NONE, LIBUNWIND_CACHE_GLOBAL, LIBUNWIND_CACHE_PER_THREAD };

enum { LIBUNWIND_FORMAT_REMOTE_TABLE = 2 };

/* Opaque: the address space, the cursor (127 words on x86_64), a procedure's facts. */
struct libunwind_space;
struct libunwind_proc_info;

struct libunwind_cursor {
	uint64_t words[192];
};

/* A search table: TABLE_WORDS words at TABLE of {int32 start, int32 fde}, relative to SEGMENT. */
struct libunwind_table {
	uint64_t next, previous;
	uint64_t start_ip, end_ip;
	uint64_t gp;
	int32_t format, padding;
	uint64_t load_offset; /* from 1.5 on */
	uint64_t name;
	uint64_t segment;
	uint64_t table_words;
	uint64_t table;
	uint64_t later[8];
};

/* Each returns 0 or a negative LIBUNWIND_E*. */
struct libunwind_accessors {
	int (*find_proc_info)(struct libunwind_space *space, uint64_t ip,
			      struct libunwind_proc_info *info, int need_info, void *context);
	void (*put_unwind_info)(struct libunwind_space *space, struct libunwind_proc_info *info,
				void *context);
	int (*get_dyn_info_list)(struct libunwind_space *space, uint64_t *list, void *context);
	int (*access_mem)(struct libunwind_space *space, uint64_t address, uint64_t *value,
			  int write, void *context);
	int (*access_reg)(struct libunwind_space *space, int number, uint64_t *value, int write,
			  void *context);
	int (*access_fpreg)(struct libunwind_space *space, int number, void *value, int write,
			    void *context);
	int (*resume)(struct libunwind_space *space, struct libunwind_cursor *cursor,
		      void *context);
	int (*get_proc_name)(struct libunwind_space *space, uint64_t address, char *name,
			     size_t size, uint64_t *offset, void *context);
	void *later[24];
};

/* The functions; names are libunwind's, without the prefix `_Ux86_64_`. */
struct libunwind {
	void *handle;
	struct libunwind_space *(*create_addr_space)(struct libunwind_accessors *accessors,
						     int byte_order);
	void (*destroy_addr_space)(struct libunwind_space *space);
	int (*init_remote)(struct libunwind_cursor *cursor, struct libunwind_space *space,
			   void *context);
	int (*step)(struct libunwind_cursor *cursor);
	int (*get_reg)(struct libunwind_cursor *cursor, int number, uint64_t *value);
	int (*dwarf_search_unwind_table)(struct libunwind_space *space, uint64_t ip,
					 struct libunwind_table *table,
					 struct libunwind_proc_info *info, int need_info,
					 void *context);
	void (*flush_cache)(struct libunwind_space *space, uint64_t low, uint64_t high);
	int (*set_caching_policy)(struct libunwind_space *space, int policy);
};

#define LIBUNWIND_SONAME "libunwind-x86_64.so.8"

/*
 * Opens SONAME beside the file that holds this code, else where the system finds it; nothing of
 * it becomes visible to the host. Returns 0; -ENOENT when there is none or a function is missing
 * (LIBRARY is zero then, and *WHY says it in a static string or dlerror()'s).
 */
int libunwind_open(struct libunwind *library, const char *soname, const char **why);
void libunwind_close(struct libunwind *library);

#endif /* PRELOAD_UNWIND_LIBUNWIND_H */
