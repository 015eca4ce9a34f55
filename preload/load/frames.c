/* SPDX-License-Identifier: MIT */
/*
 * frames.c - __register_frame as a source of images, in hosts with and without a C API.
 *
 * The argument is the .eh_frame's start or, with an LLVM unwinder, one FDE (LSB Core, section
 * 10.6.1: length, CIE pointer, pc begin). The first FDE's pc lies at the start of the text, one
 * page behind the image's header; a search from the .eh_frame would cross the whole text.
 */
#include "preload/load/frames.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/guarded.h"
#include "preload/base/state.h"
#include "preload/load/header.h"
#include "preload/load/load.h"
#include "preload/load/registry.h"
#include "preload/load/whereabouts.h"

enum { PAGE_BYTES = 4096 };
enum { HELD_MAX = 16 }; /* what a call registers beyond that is not held */

static __thread __attribute__((tls_model("initial-exec"))) struct {
	uint32_t last; /* loading registered last within the present load call */
	bool is_holding;
	uint32_t held_count;
	uint32_t held[HELD_MAX];
} here;

uint32_t frames_last_registered(void)
{
	return here.last;
}

void frames_hold(void)
{
	here.is_holding = true;
	here.last = 0;
	here.held_count = 0;
}

void frames_release(void)
{
	if (here.held_count != 0)
		registry_lock();
	for (uint32_t i = 0; i < here.held_count; i++) {
		struct loading *loading = registry_by_id(here.held[i]);

		if (loading != NULL)
			loading->is_held = false;
	}
	if (here.held_count != 0)
		registry_unlock();
	here.is_holding = false;
	here.last = 0;
	here.held_count = 0;
}

/* True when LOADING, which was just registered, waits for the end of the load call. */
static bool hold(const struct loading *loading)
{
	if (!here.is_holding || loading->is_built)
		return false;
	for (uint32_t i = 0; i < here.held_count; i++)
		if (here.held[i] == loading->id)
			return true;
	if (here.held_count == HELD_MAX)
		return false;
	here.held[here.held_count++] = loading->id;
	return true;
}

uint32_t load_first_held(void)
{
	return here.held_count > 1 ? here.held[0] : 0;
}

/* The bytes at the beginning of a table, read at once: each read asks the kernel. */
struct window {
	uintptr_t start;
	size_t size;
	uint8_t bytes[96]; /* a short CIE and its first FDE */
};

/* No further than the page: what comes behind may not be there. */
static void window_open(struct window *window, uintptr_t start)
{
	size_t to_page = PAGE_BYTES - start % PAGE_BYTES;

	window->start = start;
	window->size = to_page < sizeof(window->bytes) ? to_page : sizeof(window->bytes);
	if (guarded_read(start, window->bytes, window->size) != 0)
		window->size = 0;
}

static int window_read(const struct window *window, uintptr_t address, void *out, size_t size)
{
	uintptr_t offset = address - window->start;

	if (offset > window->size || size > window->size - offset)
		return guarded_read(address, out, size);
	memcpy(out, window->bytes + offset, size);
	return 0;
}

/*
 * Whether the CIE at ADDRESS may be Cranelift's: augmentation "zR", DW_EH_PE_pcrel with 4 or 8
 * bytes (cranelift/codegen/src/isa/unwind/systemv.rs; wasmtime 49 has 0x10). Others' first words
 * would lead anywhere.
 */
static bool is_cranelifts(const struct window *window, uintptr_t address)
{
	/* length and id, version, augmentation, alignments of one byte each, register, size */
	enum { VERSION = 8, AUGMENTATION = 9, ENCODING = 16, APPLICATION = 0x70, PCREL = 0x10 };
	uint8_t bytes[ENCODING + 1];

	return window_read(window, address, bytes, sizeof(bytes)) == 0 && bytes[VERSION] == 1 &&
	       memcmp(bytes + AUGMENTATION, "zR", 3) == 0 &&
	       (bytes[ENCODING] & APPLICATION) == PCREL;
}

/* The code address of the first FDE at or after BEGIN, 0 when there is none of an image's. */
static uintptr_t first_code_address(uintptr_t begin)
{
	uint32_t head[3]; /* length, 0 or CIE pointer, first word of the body */
	struct window window;

	window_open(&window, begin);
	for (int record = 0; record < 2; record++) {
		int32_t delta;

		if (window_read(&window, begin, head, sizeof(head)) != 0 || head[0] == 0 ||
		    head[0] == UINT32_MAX)
			return 0;
		if (head[1] == 0) { /* a CIE: its first FDE follows */
			begin += 4 + (uintptr_t)head[0];
			continue;
		}
		if (!is_cranelifts(&window, begin + 4 - head[1]))
			return 0;
		memcpy(&delta, &head[2], sizeof(delta));
		return begin + 8 + (uintptr_t)(intptr_t)delta;
	}
	return 0;
}

/*
 * Generated code without an image around it (LLVM's). An object's own tables, which a program may
 * register too, are the loader's business.
 */
static bool is_bare(uintptr_t begin, struct image_layout *layout)
{
	Dl_info info;

	return image_probe_frames(&guarded_memory, begin, layout) == 0 &&
	       dladdr((const void *)layout->text, &info) == 0;
}

/* Puts the code with LAYOUT into the registry as what was registered last here. */
static struct loading *register_code(const struct image_layout *layout,
				     const struct load_maker *maker)
{
	enum load_verdict verdict;
	struct loading *loading;

	registry_lock();
	loading = registry_at(layout);
	if (loading == NULL)
		loading = registry_add(layout, layout->is_bare ? NULL : "wasmtime", &verdict);
	if (loading != NULL) {
		loading->maker = *maker;
		loading->is_held = hold(loading);
		here.last = loading->id;
	}
	registry_unlock();
	return loading;
}

void load_register_frame(const void *begin, const struct load_maker *maker)
{
	uintptr_t code = maker->has_no_image ? 0 : first_code_address((uintptr_t)begin);
	struct image_layout layout;

	if (code == 0 || header_find(code, &layout) != 0 || code < layout.text ||
	    code >= layout.text + layout.text_size) {
		if (!registry_has_room_for_bare() || !is_bare((uintptr_t)begin, &layout))
			return;
	}
	if (register_code(&layout, maker) == NULL)
		return;
	if (state.on_first_guest != NULL)
		state.on_first_guest();
	if (state.wake != NULL)
		state.wake();
}

uint32_t load_object(const void *frames, const struct load_event *event)
{
	const struct load_maker nobody = { 0 };
	struct image_layout layout;
	struct loading *loading;
	uint32_t id;

	frames_hold();
	if (image_probe_frames(&guarded_memory, (uintptr_t)frames, &layout) != 0 ||
	    register_code(&layout, &nobody) == NULL) {
		load_bytes_free(event->bytes);
		frames_release();
		return 0;
	}
	id = load_announce(event);
	registry_lock();
	loading = registry_by_id(id);
	if (loading != NULL)
		loading->users++;
	registry_unlock();
	if (loading == NULL)
		return 0;
	/* nobody says when it is about to go */
	loading_take_tables(loading);
	loading->users--;
	return id;
}

/* LOADING, of which the caller is a user until here, ends. Its tables can be read only now. */
static void retire(struct loading *loading)
{
	loading_take_tables(loading);
	registry_lock();
	registry_retire(loading);
	loading->users--;
	registry_unlock();
	if (state.wake != NULL)
		state.wake();
}

void load_retire(uint32_t id)
{
	struct loading *loading;

	registry_lock();
	loading = registry_by_id(id);
	if (loading != NULL && loading->layout.is_bytecode)
		loading = NULL;
	if (loading != NULL)
		loading->users++;
	registry_unlock();
	if (loading != NULL)
		retire(loading);
}

/* The live loading whose unwind tables hold BEGIN. */
static struct loading *loading_with_frames(uintptr_t begin)
{
	struct loading *loading;

	for (loading = registry_first(); loading != NULL; loading = loading->next) {
		const struct image_layout *layout = &loading->layout;

		if (loading->died == UINT64_MAX && begin >= layout->base &&
		    begin - layout->base < layout->size)
			break;
	}
	return loading;
}

void load_deregister_frame(const void *begin)
{
	struct loading *loading;

	if (!whereabouts_may_hold((uintptr_t)begin))
		return;
	registry_lock();
	loading = loading_with_frames((uintptr_t)begin);
	if (loading != NULL) {
		loading->is_held = false;
		loading->users++;
	}
	registry_unlock();
	if (loading != NULL)
		retire(loading);
}
