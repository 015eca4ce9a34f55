/* SPDX-License-Identifier: MIT */
/*
 * wasmcode.c - what identifies a core module, and where its functions' bodies are.
 *
 * `build_id` is a custom section of the WebAssembly tool conventions (BuildId.md): a length and as
 * many bytes, whatever the linker made of the module.
 */
#include "symtab/wasmparts.h"

#include <errno.h>
#include <stdlib.h>

#include "symtab/fnv.h"

/* Takes the next body of BODY. Returns false at the end, or where the section is damaged. */
static bool next_body(struct cursor *body, struct wasmbin_body *out)
{
	uint32_t size = cursor_uleb32(body);
	struct cursor inside = cursor_sub(body, size);
	size_t start = cursor_offset(&inside);

	if (inside.failed || start > UINT32_MAX)
		return false;
	*out = (struct wasmbin_body){ .start = (uint32_t)start,
				      .size = size,
				      .hash = fnv(FNV_START, inside.bytes, size) };
	return true;
}

static void keep_bodies(struct wasmbin *bin, struct wasmbin_core *core, struct cursor body)
{
	size_t start = cursor_offset(&body);
	uint32_t count = cursor_uleb32(&body);

	if (core->bodies != NULL || core->defined == 0)
		return;
	if (count > core->defined)
		count = core->defined;
	core->bodies = calloc(core->defined, sizeof(*core->bodies));
	if (core->bodies == NULL) {
		bin->error = -ENOMEM;
		return;
	}
	for (; core->body_count < count; core->body_count++) {
		start = cursor_offset(&body);
		if (!next_body(&body, &core->bodies[core->body_count]))
			break;
	}
	if (core->body_count != core->defined)
		wasmbin_note(bin, start, "function body is damaged or missing");
}

static void read_code(struct wasmbin *bin, struct wasmbin_core *core, struct cursor body)
{
	if (core->has_code || body.failed)
		return;
	core->has_code = true;
	core->code_offset = cursor_offset(&body);
	core->code_size = cursor_left(&body);
	if (bin->keeps_bodies)
		keep_bodies(bin, core, body);
}

static void read_build_id(struct wasmbin_core *core, struct cursor body)
{
	uint32_t size = cursor_uleb32(&body);
	const uint8_t *bytes = cursor_bytes(&body, size);

	if (bytes == NULL || size == 0 || core->build_id_size > 0)
		return;
	core->build_id_size = size < BUILD_ID_MAX ? (uint8_t)size : BUILD_ID_MAX;
	memcpy(core->build_id, bytes, core->build_id_size);
}

void wasmcode_read(struct wasmbin *bin, struct wasmbin_core *core, struct cursor body)
{
	struct section section;

	while (wasmbin_next_section(bin, &body, &section)) {
		if (section.id == SECTION_CODE)
			read_code(bin, core, section.body);
		else if (section.id == SECTION_CUSTOM &&
			 wasmbin_section_is(&section.body, "build_id"))
			read_build_id(core, section.body);
	}
}

/* ---- questions ------------------------------------------------------------------------------ */

static void write_hex(const uint8_t *bytes, size_t size, char *hex)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < size; i++) {
		hex[2 * i] = digits[bytes[i] >> 4];
		hex[2 * i + 1] = digits[bytes[i] & 15];
	}
	hex[2 * size] = '\0';
}

static void identify_core(const struct wasmbin_core *core, struct identity *identity)
{
	*identity = (struct identity){ .defined_functions = core->defined };
	if (core->has_code) {
		sha256_hex(core->code_sha256, identity->code);
		identity->code_offset = core->code_offset;
	}
	write_hex(core->build_id, core->build_id_size, identity->build_id);
}

void wasmbin_core_identity(const struct wasmbin *bin, uint32_t core, struct identity *identity)
{
	if (core >= bin->core_count) {
		*identity = (struct identity){ 0 };
		return;
	}
	identify_core(&bin->cores[core], identity);
	if (!bin->is_component)
		sha256_hex(bin->sha256, identity->wasm);
}

void wasmbin_identity(const struct wasmbin *bin, struct identity *identity)
{
	uint8_t digest[SHA256_SIZE];
	struct sha256 sha;
	uint32_t i;

	*identity = (struct identity){ 0 };
	if (bin->core_count == 1)
		identify_core(&bin->cores[0], identity);
	sha256_hex(bin->sha256, identity->wasm);
	if (bin->core_count == 1)
		return;
	sha256_init(&sha);
	for (i = 0; i < bin->core_count; i++) {
		sha256_add(&sha, bin->cores[i].code_sha256, SHA256_SIZE);
		identity->defined_functions += bin->cores[i].defined;
	}
	sha256_end(&sha, digest);
	sha256_hex(digest, identity->code);
}

bool wasmbin_body(const struct wasmbin *bin, uint32_t core, uint32_t function, uint64_t *start,
		  uint64_t *end)
{
	const struct wasmbin_core *of = core < bin->core_count ? &bin->cores[core] : NULL;

	if (of == NULL || function < of->imported || function - of->imported >= of->body_count)
		return false;
	*start = of->bodies[function - of->imported].start;
	*end = *start + of->bodies[function - of->imported].size;
	return true;
}

/* The body that holds POSITION, or body_count. */
static uint32_t find_body(const struct wasmbin_core *core, uint64_t position)
{
	uint32_t low = 0, high = core->body_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (core->bodies[middle].start <= position)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || position - core->bodies[low - 1].start >= core->bodies[low - 1].size)
		return core->body_count;
	return low - 1;
}

bool wasmbin_find(const struct wasmbin *bin, uint64_t position, uint32_t *core, uint32_t *function)
{
	uint32_t i;

	for (i = 0; i < bin->core_count; i++) {
		uint32_t body = find_body(&bin->cores[i], position);

		if (body == bin->cores[i].body_count)
			continue;
		*core = i;
		*function = bin->cores[i].imported + body;
		return true;
	}
	return false;
}
