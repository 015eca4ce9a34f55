/* SPDX-License-Identifier: MIT */
/*
 * remote.c - what libunwind asks for while it unwinds a slice: tables, memory, registers.
 *
 * We look for the FDE ourselves and hand it over as a table of one entry, so that libunwind never
 * walks a search table of a stranger's. Threads: ours only; its first use makes two descriptors,
 * which then are our thread's.
 */
#include "preload/unwind/remote.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "preload/base/log.h"
#include "preload/unwind/fde.h"
#include "preload/unwind/images.h"
#include "preload/unwind/libunwind.h"
#include "preload/unwind/objects.h"
#include "preload/unwind/registers_x86_64.h"
#include "preload/unwind/slices.h"
#include "preload/unwind/trust.h"

/*
 * Memory words for one stack. A cold frame takes a few hundred; a row program or an expression that
 * runs in circles (DW_OP_skip backwards) ends here, after some 10 ms.
 */
enum { BUDGET = 1 << 19 };

static struct {
	struct libunwind library;
	struct libunwind_space *space;
	int opened; /* 0: not tried; 1; or negative */
	struct libunwind_cursor cursor;
	const struct unwind_input *input;
	uint64_t registers[UNWIND_REGISTERS];
	struct fde_place place; /* of the table found last */
	_Alignas(8) struct fdetable_entry entry;
	unsigned int budget;
	bool no_table;	  /* find_proc_info had nothing */
	bool above_slice; /* memory above the slice was asked for */
	uint64_t missing; /* the word that was not to be had last */
} self;

/*
 * A word of an image's tables. libunwind reads aligned words, so the first and the last may stick
 * out of the copy: those bytes are zero.
 */
static bool read_image(const struct image *image, uint64_t address, uint64_t *value)
{
	uint8_t bytes[sizeof(*value)] = { 0 };
	bool found = false;
	size_t i;

	if (slices_copy_word(image->eh_frame, image->eh_frame_size, image->eh_frame_address,
			     address, value))
		return true;
	for (i = 0; i < sizeof(bytes); i++) {
		uint64_t offset = address + i - image->eh_frame_address;

		if (offset >= image->eh_frame_size)
			continue;
		bytes[i] = image->eh_frame[offset];
		found = true;
	}
	memcpy(value, bytes, sizeof(bytes));
	return found;
}

/* A word of unwind tables, of the frame's own or, for a remembered row, of any. */
static bool read_tables(uint64_t address, uint64_t *value)
{
	const struct image *image = self.place.image;
	struct object *object = self.place.object;

	if (image != NULL && read_image(image, address, value))
		return true;
	if (object == NULL || address < object->place.low || address >= object->place.high)
		object = objects_find(address);
	if (object != NULL)
		return pages_read(&object->pages, address, value, sizeof(*value)) == 0;
	image = images_find_table(address, self.input->generation);
	return image != NULL && read_image(image, address, value);
}

/*
 * Never answers ENOINFO: that would set libunwind guessing by the frame pointer and by code bytes,
 * which ends in rubbish more often than not.
 */
static int find_proc_info(struct libunwind_space *space, uint64_t ip,
			  struct libunwind_proc_info *info, int need_info, void *context)
{
	struct libunwind_table table = {
		.start_ip = 0,
		.end_ip = UINT64_MAX,
		.format = LIBUNWIND_FORMAT_REMOTE_TABLE,
		.table_words = 1,
		.table = (uintptr_t)&self.entry,
	};
	int result = -LIBUNWIND_ENOINFO;
	struct memory memory;
	uintptr_t fde = 0;

	/* The entry starts below every address; whether IP is in the FDE's range libunwind checks.
	 */
	self.entry = (struct fdetable_entry){ .start = INT32_MIN };
	memory = fde_memory(&self.place);
	if (fde_find(ip, self.input->generation, &self.place, &fde) && trust_fde(&memory, fde)) {
		table.segment = fde;
		result = self.library.dwarf_search_unwind_table(space, ip, &table, info, need_info,
								context);
	}
	if (result == 0)
		return 0;
	self.no_table = true;
	return -LIBUNWIND_EBADVERSION;
}

static int access_mem(struct libunwind_space *space, uint64_t address, uint64_t *value, int write,
		      void *context)
{
	const struct unwind_input *input = self.input;

	(void)space, (void)context;
	if (write || self.budget == 0)
		return -LIBUNWIND_EINVAL;
	self.budget--;
	if (slices_word(input, address, value))
		return 0;
	if (address == (uintptr_t)&self.entry) {
		memcpy(value, &self.entry, sizeof(*value));
		return 0;
	}
	if (read_tables(address, value))
		return 0;
	if (address + sizeof(*value) > input->slice_address + input->slice_size)
		self.above_slice = true;
	self.missing = address;
	return -LIBUNWIND_EINVAL;
}

static void put_unwind_info(struct libunwind_space *space, struct libunwind_proc_info *info,
			    void *context)
{
	(void)space, (void)info, (void)context;
}

static int get_dyn_info_list(struct libunwind_space *space, uint64_t *list, void *context)
{
	(void)space, (void)list, (void)context;
	return -LIBUNWIND_ENOINFO;
}

static int access_reg(struct libunwind_space *space, int number, uint64_t *value, int write,
		      void *context)
{
	(void)space, (void)context;
	if (write || number < 0 || number >= UNWIND_REGISTERS)
		return -LIBUNWIND_EBADREG;
	*value = self.registers[number];
	return 0;
}

static int access_fpreg(struct libunwind_space *space, int number, void *value, int write,
			void *context)
{
	(void)space, (void)number, (void)value, (void)write, (void)context;
	return -LIBUNWIND_EBADREG;
}

static int resume(struct libunwind_space *space, struct libunwind_cursor *cursor, void *context)
{
	(void)space, (void)cursor, (void)context;
	return -LIBUNWIND_EINVAL;
}

static int get_proc_name(struct libunwind_space *space, uint64_t address, char *name, size_t size,
			 uint64_t *offset, void *context)
{
	(void)space, (void)address, (void)name, (void)size, (void)offset, (void)context;
	return -LIBUNWIND_ENOINFO;
}

static int open_library(void)
{
	static struct libunwind_accessors accessors = {
		.find_proc_info = find_proc_info,
		.put_unwind_info = put_unwind_info,
		.get_dyn_info_list = get_dyn_info_list,
		.access_mem = access_mem,
		.access_reg = access_reg,
		.access_fpreg = access_fpreg,
		.resume = resume,
		.get_proc_name = get_proc_name,
	};
	const char *why = NULL;

	if (libunwind_open(&self.library, LIBUNWIND_SONAME, &why) != 0) {
		log_line(LOG_ERROR,
			 "no usable libunwind (%s): host frames are found by our own unwinder",
			 why);
		return -ENOENT;
	}
	self.space = self.library.create_addr_space(&accessors, 0);
	if (self.space == NULL) {
		log_line(LOG_ERROR,
			 "libunwind does not start: host frames are found by our own unwinder");
		libunwind_close(&self.library);
		return -ENOENT;
	}
	self.library.set_caching_policy(self.space, LIBUNWIND_CACHE_PER_THREAD);
	return 1;
}

int remote_start(void)
{
	if (self.opened == 0)
		self.opened = open_library();
	return self.opened > 0 ? 0 : self.opened;
}

bool remote_is_open(void)
{
	return self.opened > 0;
}

void remote_give_up(void)
{
	if (remote_is_open())
		log_line(LOG_ERROR, "host frames will be missing: forked while unwinding");
	self.opened = -ENOENT;
}

void remote_prepare(const struct unwind_input *input)
{
	self.input = input;
	self.budget = BUDGET;
}

bool remote_begin(const uint64_t *registers, uint64_t lookup)
{
	memcpy(self.registers, registers, sizeof(self.registers));
	self.registers[REGISTER_PC] = lookup;
	self.place = (struct fde_place){ 0 };
	return self.library.init_remote(&self.cursor, self.space, NULL) >= 0;
}

enum remote_step remote_step(void)
{
	int result;

	self.no_table = false;
	self.above_slice = false;
	self.missing = 0;
	result = self.library.step(&self.cursor);
	if (result > 0)
		return REMOTE_STEPPED;
	if (result == 0)
		return REMOTE_OUTERMOST;
	if (self.no_table)
		return REMOTE_NO_TABLE;
	return self.above_slice ? REMOTE_SLICE_END : REMOTE_BROKEN;
}

uint64_t remote_missing(void)
{
	return self.missing;
}

bool remote_register(unsigned int number, uint64_t *value)
{
	return self.library.get_reg(&self.cursor, (int)number, value) == 0;
}

void remote_flush(void)
{
	if (remote_is_open())
		self.library.flush_cache(self.space, 0, 0);
}
