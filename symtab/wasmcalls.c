/* SPDX-License-Identifier: MIT */
/*
 * wasmcalls.c - which import a call in the code goes to.
 *
 * `call N` is the byte 0x10 and N in LEB128 (core specification 5.4.1); N below the number of
 * imported functions is an import. The code is not decoded: whoever asks has the position of an
 * instruction, so bytes within one that look alike are never asked for. They only take room: on
 * real binaries about as much as the true ones.
 */
#include "symtab/wasmparts.h"

#include "symtab/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OP_CALL = 0x10, MAX_CALLS = 1 << 20, MAX_IMPORTS = 1 << 20 };

static bool has_room(struct wasmbin *bin)
{
	uint32_t room = bin->call_room == 0 ? 256 : 2 * bin->call_room;
	struct wasmbin_call *calls;

	if (bin->call_count < bin->call_room)
		return true;
	calls = realloc(bin->calls, room * sizeof(*calls));
	if (calls == NULL) {
		bin->error = -ENOMEM;
		return false;
	}
	bin->calls = calls;
	bin->call_room = room;
	return true;
}

/* FIRST is where this module's imports begin, of which there are COUNT. */
static void scan_code(struct wasmbin *bin, struct cursor body, uint32_t first, uint32_t count)
{
	while (bin->call_count < MAX_CALLS && bin->error == 0) {
		const uint8_t *found = memchr(body.bytes + body.at, OP_CALL, cursor_left(&body));
		struct cursor operand;
		uint32_t function;

		if (found == NULL)
			break;
		body.at = (size_t)(found - body.bytes) + 1;
		operand = body;
		function = cursor_uleb32(&operand);
		if (operand.failed || function >= count || cursor_offset(&body) > UINT32_MAX)
			continue;
		if (has_room(bin))
			bin->calls[bin->call_count++] = (struct wasmbin_call){
				.position = (uint32_t)cursor_offset(&body) - 1,
				.import = first + function,
			};
	}
}

static int add_name(struct wasmbin *bin, const struct wasmbin_name *module,
		    const struct wasmbin_name *field)
{
	struct span span;
	int error = strings_add(&bin->text, module->bytes, module->length, &span);

	if (error == 0)
		error = strings_extend(&bin->text, ".", 1, &span);
	if (error == 0)
		error = strings_extend(&bin->text, field->bytes, field->length, &span);
	if (error == 0)
		bin->imports[bin->import_count++] = span;
	return error;
}

/* Adds the names of COUNT imports at most. */
static void read_imports(struct wasmbin *bin, struct cursor body, uint32_t count)
{
	uint32_t left = cursor_uleb32(&body);
	struct wasmbin_name module, field;

	for (; count > 0 && wasmnames_next_import(&body, &left, &module, &field); count--) {
		int error = add_name(bin, &module, &field);

		if (error == -ENOMEM)
			bin->error = error;
		if (error != 0)
			break;
	}
}

static bool make_room(struct wasmbin *bin, uint32_t count)
{
	struct span *imports;

	if (count == 0 || count > MAX_IMPORTS || bin->import_count > MAX_IMPORTS)
		return false;
	imports = realloc(bin->imports, (bin->import_count + count) * sizeof(*imports));
	if (imports == NULL) {
		bin->error = -ENOMEM;
		return false;
	}
	bin->imports = imports;
	return true;
}

void wasmcalls_read(struct wasmbin *bin, const struct wasmbin_core *core, struct cursor body)
{
	uint32_t first = bin->import_count;
	struct section section;

	if (bin->error != 0 || !make_room(bin, core->imported))
		return;
	while (wasmbin_next_section(bin, &body, &section)) {
		if (section.id == SECTION_IMPORT)
			read_imports(bin, section.body,
				     core->imported - (bin->import_count - first));
		else if (section.id == SECTION_CODE)
			scan_code(bin, section.body, first, bin->import_count - first);
	}
}

void wasmcalls_free(struct wasmbin *bin)
{
	free(bin->imports);
	free(bin->calls);
}

size_t wasmbin_called_import(const struct wasmbin *bin, uint64_t position, char *out, size_t size)
{
	uint32_t low = 0, high = bin->call_count;
	const struct span *name;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (bin->calls[middle].position < position)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == bin->call_count || bin->calls[low].position != position)
		return 0;
	name = &bin->imports[bin->calls[low].import];
	if (name->length == 0) /* from a cache's file; there may be no text at all */
		return utf8_fit("", 0, "", 0, out, size);
	return utf8_fit(bin->text.bytes + name->offset, name->length,
			bin->text.bytes + name->offset, name->length, out, size);
}
