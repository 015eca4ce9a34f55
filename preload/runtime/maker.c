/* SPDX-License-Identifier: MIT */
/*
 * maker.c - looks for an engine's texts among an object's constants. Threads: ours.
 *
 * Copied piece by piece, guarded: the host may unload the object meanwhile.
 */
#include "preload/runtime/maker.h"

#include <ctype.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/guarded.h"
#include "preload/hook/hook.h"

enum { PIECE = 1 << 20, OVERLAP = 128, SEGMENTS = 16, KEPT = 16, VERSION_SIZE = 32 };

static const struct marker {
	const char *engine;
	const char *texts[2];	 /* that only this engine has in it; any is enough */
	const char *versions[2]; /* what the version follows in paths of its sources, likewise */
} markers[] = {
	/* a libcall, as artifacts refer to it, and their magic (2.2 to 7.4) */
	{ "wasmer",
	  { "wasmer_vm_memory32_grow", "wasmer-universal" },
	  { "/wasmer-vm-", "/wasmer-compiler-" } },
};

struct known {
	uintptr_t start, end; /* of the object; 0: a free place */
	const char *engine;
	char version[VERSION_SIZE];
};

static struct {
	struct known known[KEPT];
	uint32_t next;
} self;

/* ---- one object's constants ------------------------------------------------------------------ */

struct segments {
	uintptr_t address;
	struct {
		uintptr_t start;
		size_t size;
	} at[SEGMENTS];
	uint32_t count;
};

static bool is_in(const struct dl_phdr_info *info, uintptr_t address)
{
	for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD &&
		    address - info->dlpi_addr - segment->p_vaddr < segment->p_memsz)
			return true;
	}
	return false;
}

/* Segments that can be read, and have of the other rights just RIGHTS. */
static void take_segments(const struct dl_phdr_info *info, uint32_t rights, struct segments *found)
{
	for (ElfW(Half) i = 0; i < info->dlpi_phnum && found->count < SEGMENTS; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type != PT_LOAD || segment->p_flags != (PF_R | rights))
			continue;
		found->at[found->count].start = info->dlpi_addr + segment->p_vaddr;
		found->at[found->count++].size = segment->p_memsz;
	}
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct segments *found = context;

	(void)size;
	if (!is_in(info, found->address))
		return 0;
	take_segments(info, 0, found);
	/* linkers of old put constants beside the code */
	if (found->count == 0)
		take_segments(info, PF_X, found);
	return 1;
}

/* ---- texts in them --------------------------------------------------------------------------- */

struct findings {
	bool is_there[ARRAY_SIZE(markers)];
	char version[ARRAY_SIZE(markers)][VERSION_SIZE];
};

/* "7.0.1/": digits and dots up to a slash. */
static bool read_version(const char *text, size_t size, char version[VERSION_SIZE])
{
	size_t length = 0;

	while (length < size && length < VERSION_SIZE - 1 &&
	       (isdigit((unsigned char)text[length]) || text[length] == '.'))
		length++;
	if (length == 0 || length == size || text[length] != '/')
		return false;
	memcpy(version, text, length);
	version[length] = '\0';
	return true;
}

static bool has_text(const char *text, const char *bytes, size_t size)
{
	return memmem(bytes, size, text, strlen(text)) != NULL;
}

static void find_version(const char *prefix, const char *bytes, size_t size,
			 char version[VERSION_SIZE])
{
	const char *at = bytes, *end = bytes + size;

	while ((at = memmem(at, (size_t)(end - at), prefix, strlen(prefix))) != NULL) {
		at += strlen(prefix);
		if (read_version(at, (size_t)(end - at), version))
			return;
	}
}

static void look_at(const char *bytes, size_t size, struct findings *findings)
{
	for (size_t i = 0; i < ARRAY_SIZE(markers); i++) {
		const struct marker *marker = &markers[i];

		for (size_t t = 0; t < ARRAY_SIZE(marker->texts); t++)
			if (!findings->is_there[i])
				findings->is_there[i] = has_text(marker->texts[t], bytes, size);
		for (size_t v = 0; v < ARRAY_SIZE(marker->versions); v++)
			if (findings->version[i][0] == '\0')
				find_version(marker->versions[v], bytes, size,
					     findings->version[i]);
		findings->is_there[i] |= findings->version[i][0] != '\0';
	}
}

static void look_through(uintptr_t start, size_t size, char *buffer, struct findings *findings)
{
	for (size_t at = 0; at < size; at += PIECE - OVERLAP) {
		size_t piece = size - at < PIECE ? size - at : PIECE;

		if (guarded_read(start + at, buffer, piece) != 0)
			return;
		look_at(buffer, piece, findings);
	}
}

static void search(const void *caller, struct known *known)
{
	struct segments segments = { .address = (uintptr_t)caller };
	struct findings findings = { 0 };
	char *buffer;

	/* LLVM as a library serves anybody, each backend of a database for one; it is large. */
	if (hook_sibling(caller, "LLVMContextCreate") != NULL)
		return;
	buffer = malloc(PIECE);
	dl_iterate_phdr(visit_object, &segments);
	for (uint32_t i = 0; buffer != NULL && i < segments.count; i++)
		look_through(segments.at[i].start, segments.at[i].size, buffer, &findings);
	free(buffer);
	for (size_t i = 0; i < ARRAY_SIZE(markers) && known->engine == NULL; i++) {
		if (!findings.is_there[i])
			continue;
		known->engine = markers[i].engine;
		memcpy(known->version, findings.version[i], VERSION_SIZE);
	}
}

const char *runtime_maker(const void *caller, char version[32])
{
	struct known *known = NULL;
	uintptr_t start, end;

	version[0] = '\0';
	if (!hook_object_range(caller, &start, &end))
		return NULL;
	for (uint32_t i = 0; i < KEPT && known == NULL; i++)
		if (self.known[i].start == start && self.known[i].end == end)
			known = &self.known[i];
	if (known == NULL) {
		known = &self.known[self.next++ % KEPT];
		*known = (struct known){ .start = start, .end = end };
		search(caller, known);
	}
	memcpy(version, known->version, VERSION_SIZE);
	return known->engine;
}
