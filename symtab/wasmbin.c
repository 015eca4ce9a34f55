/* SPDX-License-Identifier: MIT */
/*
 * wasmbin.c - a wasm binary, core module or component, and what is kept of it.
 *
 * Static core modules are numbered in the order in which their sections are met depth-first,
 * nested components included: wasmtime's StaticModuleIndex, the N of its wasm[N] symbols.
 */
#include "symtab/wasmparts.h"

#include "symtab/skeleton.h"
#include "symtab/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	PREAMBLE_SIZE = 8,
	MAX_DEPTH = 32,	   /* of components in components: bounds our stack */
	MAX_CORES = 10000, /* wasmtime's validator takes 1,000 in one component */
	MAX_NAME = 100000, /* of a module: longer is not a name */
};

void wasmbin_note(struct wasmbin *bin, size_t offset, const char *what)
{
	if (bin->problem[0] == '\0')
		snprintf(bin->problem, sizeof(bin->problem), "%s at offset %zu", what, offset);
}

bool wasmbin_next_section(struct wasmbin *bin, struct cursor *cursor, struct section *section)
{
	size_t start = cursor_offset(cursor);
	uint32_t size;

	if (bin->error != 0 || cursor_left(cursor) == 0)
		return false;
	section->id = cursor_u8(cursor);
	size = cursor_uleb32(cursor);
	if (cursor->failed) {
		wasmbin_note(bin, start, "section header is damaged");
		return false;
	}
	if (size > cursor_left(cursor)) {
		wasmbin_note(bin, start, "section runs past the end");
		size = (uint32_t)cursor_left(cursor);
	}
	section->body = cursor_sub(cursor, size);
	return true;
}

bool wasmbin_section_is(struct cursor *body, const char *name)
{
	uint32_t length = cursor_uleb32(body);
	const uint8_t *bytes = cursor_bytes(body, length);

	return bytes != NULL && length == strlen(name) && memcmp(bytes, name, length) == 0;
}

char *wasmbin_read_name(struct wasmbin *bin, struct cursor body)
{
	uint32_t length = cursor_uleb32(&body);
	const uint8_t *bytes = cursor_bytes(&body, length);
	char *name;

	if (body.failed)
		wasmbin_note(bin, cursor_offset(&body), "module name is damaged");
	if (bytes == NULL || length == 0 || length > MAX_NAME)
		return NULL;
	name = utf8_escape_new((const char *)bytes, length);
	if (name == NULL)
		bin->error = -ENOMEM;
	return name;
}

static struct wasmbin_core *add_core(struct wasmbin *bin)
{
	uint32_t room = bin->core_room == 0 ? 1 : 2 * bin->core_room;
	struct wasmbin_core *cores;

	if (bin->core_count == bin->core_room) {
		cores = realloc(bin->cores, room * sizeof(*cores));
		if (cores == NULL) {
			bin->error = -ENOMEM;
			return NULL;
		}
		bin->cores = cores;
		bin->core_room = room;
	}
	bin->cores[bin->core_count] = (struct wasmbin_core){ 0 };
	return &bin->cores[bin->core_count++];
}

/* What the 8 bytes of a preamble announce: 0 core module, 1 component, -1 neither. */
static int read_preamble(struct cursor *cursor)
{
	const uint8_t *bytes = cursor_bytes(cursor, PREAMBLE_SIZE);

	if (bytes == NULL || memcmp(bytes, "\0asm", 4) != 0)
		return -1;
	if (bytes[6] == 0 && bytes[7] == 0)
		return bytes[4] == 1 && bytes[5] == 0 ? 0 : -1;
	/* the layer field; the version below it has changed before and may again */
	return bytes[6] == 1 && bytes[7] == 0 ? 1 : -1;
}

static void read_core(struct wasmbin *bin, struct cursor body)
{
	struct wasmbin_core *core;

	if (bin->core_count >= MAX_CORES) {
		wasmbin_note(bin, cursor_offset(&body), "too many core modules");
		return;
	}
	core = add_core(bin);
	if (core != NULL) {
		wasmnames_read(bin, core, body);
		wasmcode_read(bin, core, body);
		wasmcalls_read(bin, core, body);
	}
}

static void read_component_name(struct wasmbin *bin, struct cursor body)
{
	if (!wasmbin_section_is(&body, "component-name") || bin->name != NULL)
		return;
	if (cursor_u8(&body) == 0 && cursor_uleb32(&body) > 0)
		bin->name = wasmbin_read_name(bin, body);
}

static void read_component(struct wasmbin *bin, struct cursor body, unsigned int depth);

static void read_nested(struct wasmbin *bin, const struct section *section, unsigned int depth)
{
	struct cursor body = section->body;
	size_t start = cursor_offset(&body);
	int kind = read_preamble(&body);

	if (section->id == SECTION_CORE_MODULE && kind == 0)
		read_core(bin, body);
	else if (section->id == SECTION_COMPONENT && kind == 1 && depth < MAX_DEPTH)
		read_component(bin, body, depth + 1);
	else if (section->id == SECTION_COMPONENT && kind == 1)
		wasmbin_note(bin, start, "components are nested too deeply");
	else
		wasmbin_note(bin, start, "nested module has no good preamble");
}

static void read_component(struct wasmbin *bin, struct cursor body, unsigned int depth)
{
	struct section section;

	while (wasmbin_next_section(bin, &body, &section)) {
		if (section.id == SECTION_CORE_MODULE || section.id == SECTION_COMPONENT)
			read_nested(bin, &section, depth);
		else if (section.id == SECTION_CUSTOM && depth == 0)
			read_component_name(bin, section.body);
	}
}

static void destroy(struct wasmbin *bin)
{
	uint32_t i;

	for (i = 0; i < bin->core_count; i++) {
		free(bin->cores[i].name);
		free(bin->cores[i].functions);
		free(bin->cores[i].bodies);
	}
	free(bin->cores);
	free(bin->name);
	wasmcalls_free(bin);
	skeleton_free(bin->skeleton);
	strings_fini(&bin->text);
	free(bin);
}

/* Of each code section alone, where the hash of all bytes is known. */
static void hash_code(struct wasmbin *bin, const uint8_t *wasm)
{
	uint32_t i;

	for (i = 0; i < bin->core_count; i++) {
		struct wasmbin_core *core = &bin->cores[i];
		struct sha256 code;

		if (!core->has_code)
			continue;
		sha256_init(&code);
		sha256_add(&code, wasm + core->code_offset, core->code_size);
		sha256_end(&code, core->code_sha256);
	}
}

/* Of all bytes, and beside it of each code section: they lie one behind the other. */
static void hash(struct wasmbin *bin, const uint8_t *wasm, size_t size)
{
	struct sha256 whole;
	size_t at = 0;
	uint32_t i;

	sha256_init(&whole);
	for (i = 0; i < bin->core_count; i++) {
		struct wasmbin_core *core = &bin->cores[i];
		struct sha256 code;

		if (!core->has_code)
			continue;
		sha256_init(&code);
		sha256_add(&whole, wasm + at, core->code_offset - at);
		at = core->code_offset;
		sha256_add_two(&whole, wasm + at, core->code_size, &code, wasm + at,
			       core->code_size);
		at += core->code_size;
		sha256_end(&code, core->code_sha256);
	}
	sha256_add(&whole, wasm + at, size - at);
	sha256_end(&whole, bin->sha256);
}

/* KNOWN: the hash of all bytes, or NULL. */
static struct wasmbin *parse(const uint8_t *wasm, size_t size, bool keeps_bodies,
			     const uint8_t *known)
{
	struct cursor cursor = cursor_of(wasm, size);
	int kind = wasm == NULL ? -1 : read_preamble(&cursor);
	struct wasmbin *bin;
	int error;

	if (kind < 0) {
		errno = EINVAL;
		return NULL;
	}
	bin = calloc(1, sizeof(*bin));
	if (bin == NULL)
		return NULL;
	atomic_init(&bin->refs, 1);
	bin->is_component = kind == 1;
	bin->keeps_bodies = keeps_bodies;
	if (bin->is_component)
		read_component(bin, cursor, 0);
	else
		read_core(bin, cursor);
	error = bin->error;
	if (error != 0) {
		destroy(bin);
		errno = -error;
		return NULL;
	}
	strings_trim(&bin->text);
	if (known == NULL) {
		hash(bin, wasm, size);
		return bin;
	}
	memcpy(bin->sha256, known, SHA256_SIZE);
	hash_code(bin, wasm);
	return bin;
}

struct wasmbin *wasmbin_parse(const uint8_t *wasm, size_t size)
{
	return parse(wasm, size, false, NULL);
}

void wasmbin_hash(const uint8_t *wasm, size_t size, uint8_t digest[32])
{
	struct sha256 sha;

	sha256_init(&sha);
	sha256_add(&sha, wasm, size);
	sha256_end(&sha, digest);
}

struct wasmbin *wasmbin_parse_hashed(const uint8_t *wasm, size_t size, const uint8_t digest[32])
{
	return parse(wasm, size, false, digest);
}

struct wasmbin *wasmbin_parse_bodies(const uint8_t *wasm, size_t size)
{
	return parse(wasm, size, true, NULL);
}

struct wasmbin *wasmbin_ref(struct wasmbin *bin)
{
	atomic_fetch_add_explicit(&bin->refs, 1, memory_order_relaxed);
	return bin;
}

void wasmbin_unref(struct wasmbin *bin)
{
	/* Release our reads; the last owner acquires everyone's before freeing. */
	if (bin != NULL && atomic_fetch_sub_explicit(&bin->refs, 1, memory_order_acq_rel) == 1)
		destroy(bin);
}

const char *wasmbin_problem(const struct wasmbin *bin)
{
	return bin->problem[0] != '\0' ? bin->problem : NULL;
}

const uint8_t *wasmbin_sha256(const struct wasmbin *bin)
{
	return bin->sha256;
}

bool wasmbin_is_component(const struct wasmbin *bin)
{
	return bin->is_component;
}

uint32_t wasmbin_core_count(const struct wasmbin *bin)
{
	return bin->core_count;
}

const char *wasmbin_name(const struct wasmbin *bin)
{
	if (bin->name != NULL)
		return bin->name;
	return wasmbin_core_name(bin, 0);
}

const char *wasmbin_core_name(const struct wasmbin *bin, uint32_t core)
{
	if (core >= bin->core_count || bin->cores[core].name == NULL)
		return "";
	return bin->cores[core].name;
}

uint32_t wasmbin_imported_functions(const struct wasmbin *bin, uint32_t core)
{
	return core < bin->core_count ? bin->cores[core].imported : 0;
}

uint32_t wasmbin_defined_functions(const struct wasmbin *bin, uint32_t core)
{
	return core < bin->core_count ? bin->cores[core].defined : 0;
}

const char *wasmbin_function_name(const struct wasmbin *bin, uint32_t core, uint32_t function,
				  size_t *length)
{
	const struct span *name;

	if (core >= bin->core_count || function >= bin->cores[core].function_count)
		return NULL;
	name = &bin->cores[core].functions[function];
	if (name->length == 0)
		return NULL;
	*length = name->length;
	return bin->text.bytes + name->offset;
}

uint32_t wasmbin_named_functions(const struct wasmbin *bin, uint32_t core)
{
	uint32_t count = 0, i;
	size_t length;

	for (i = 0; core < bin->core_count && i < bin->cores[core].function_count; i++)
		count += wasmbin_section_name(bin, core, i, &length) != NULL;
	return count;
}

const char *wasmbin_section_name(const struct wasmbin *bin, uint32_t core, uint32_t function,
				 size_t *length)
{
	const char *name = wasmbin_function_name(bin, core, function, length);

	/* later cores' names follow, but those are not this function's */
	if (name == NULL || (size_t)(name - bin->text.bytes) >= bin->cores[core].names_end)
		return NULL;
	return name;
}
