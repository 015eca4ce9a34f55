/* SPDX-License-Identifier: MIT */
/*
 * fakes.h - modules, an unwinder and instances that answer what a test tells them.
 *
 * They stand in for symtab/, unwind/ and load/ at link time: the room is tested by what it makes of
 * answers, whatever they are. A fake module's text, 0x1000 bytes:
 *
 *   0x000 entry | 0x100 main [5] | 0x200 work [6] | 0x300 trampoline | 0x400 builtin | 0x500
 * nothing
 */
#ifndef TESTS_UNIT_PROFILE_FAKES_H
#define TESTS_UNIT_PROFILE_FAKES_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/guarded.h"
#include "preload/load/instance.h"
#include "preload/sig/sample.h"
#include "preload/unwind/code.h"
#include "preload/unwind/unwind.h"
#include "symtab/symtab.h"

enum {
	ENTRY = 0x000,
	MAIN = 0x100,
	WORK = 0x200,
	TRAMPOLINE = 0x300,
	BUILTIN = 0x400,
	NOTHING = 0x500
};
enum { TEXT_SIZE = 0x1000, FAKES_MAX = 3000 };

/* ---- modules --------------------------------------------------------------------------------- */

struct module {
	char name[64], identity[65];
	enum name_origin origin;
	bool has_no_map; /* else wasm positions are 0x10000 + offset, one for 16 bytes of code */
};

static struct {
	struct module modules[FAKES_MAX];
	struct symtab_entry entries[FAKES_MAX];
	size_t count;
} fake;

static const struct symbol fake_symbols[] = {
	{ SYMBOL_ENTRY, 0, UINT32_MAX, 0, ENTRY, ENTRY + 0x100 },
	{ SYMBOL_GUEST, 0, 5, 1, MAIN, MAIN + 0x100 },
	{ SYMBOL_GUEST, 0, 6, 2, WORK, WORK + 0x100 },
	{ SYMBOL_TRAMPOLINE, 0, UINT32_MAX, 3, TRAMPOLINE, TRAMPOLINE + 0x100 },
	{ SYMBOL_BUILTIN, 0, UINT32_MAX, 4, BUILTIN, BUILTIN + 0x100 },
};
static const char *const fake_names[] = { "entry", "main", "work", "trampoline", "memory.grow" };

/* Adds a loading of a module called NAME whose identity begins with IDENTITY; returns its text. */
static inline uintptr_t fake_module(const char *name, const char *identity)
{
	struct module *module = &fake.modules[fake.count];
	struct symtab_entry *entry = &fake.entries[fake.count];

	snprintf(module->name, sizeof(module->name), "%s", name);
	memset(module->identity, '0', sizeof(module->identity) - 1);
	memcpy(module->identity, identity, strlen(identity));
	*entry = (struct symtab_entry){
		.module = module,
		.id = (uint32_t)++fake.count,
		.text = 0x7f0000000000 + fake.count * 0x10000,
		.text_size = TEXT_SIZE,
		.born = 1,
		.died = UINT64_MAX,
	};
	return entry->text;
}

const struct symtab_entry *symtab_find(const struct symtab *symtab, uintptr_t address,
				       uint64_t generation)
{
	(void)symtab;
	for (size_t i = fake.count; i-- > 0;) {
		const struct symtab_entry *entry = &fake.entries[i];

		if (address - entry->text < entry->text_size && generation >= entry->born &&
		    generation < entry->died)
			return entry;
	}
	return NULL;
}

const struct symtab_entry *symtab_by_id(const struct symtab *symtab, uint32_t id)
{
	(void)symtab;
	return id >= 1 && id <= fake.count ? &fake.entries[id - 1] : NULL;
}

/* Functions 1 and 2 are there. */
const struct symbol *module_interpreted_symbol(struct module *module, uint32_t function)
{
	static const struct symbol symbols[] = { { .kind = SYMBOL_GUEST, .start = 1 },
						 { .kind = SYMBOL_GUEST, .start = 2 } };

	(void)module;
	return function - 1 < ARRAY_SIZE(symbols) ? &symbols[function - 1] : NULL;
}

const struct symtab_entry *symtab_find_interpreted(const struct symtab *symtab, uint32_t id,
						   uint64_t generation)
{
	(void)generation;
	return symtab_by_id(symtab, id);
}

const char *module_name(const struct module *module)
{
	return module->name;
}

/* No profile of these tests is taken from a prepared set. */
bool set_has(const struct module_set *set, uint32_t loading, const char **name)
{
	(void)set, (void)loading, (void)name;
	return false;
}

/* What the call at one text offset goes to; NULL: nothing that is imported. */
static const char *fake_import __attribute__((unused));
static uint64_t fake_import_at __attribute__((unused));

size_t module_called_import(const struct module *module, uint64_t offset, char *out, size_t size)
{
	(void)module;
	if (fake_import == NULL || offset != fake_import_at)
		return 0;
	return (size_t)snprintf(out, size, "%s", fake_import);
}

enum name_origin module_name_origin(const struct module *module)
{
	return module->origin;
}

const char *module_identity(const struct module *module)
{
	return module->identity;
}

const struct identity *module_identity_all(const struct module *module)
{
	static struct identity identity;

	snprintf(identity.wasm, sizeof(identity.wasm), "%s", module->identity);
	return &identity;
}

const char *module_path(const struct module *module)
{
	(void)module;
	return "";
}

uint8_t *module_layout(const struct module *module, size_t *size)
{
	(void)module;
	*size = 0;
	return NULL;
}

const struct wasmbin *module_wasm(const struct module *module)
{
	(void)module;
	return NULL;
}

bool module_identity_is_wasm(const struct module *module)
{
	(void)module;
	return true;
}

const char *module_engine(const struct module *module)
{
	(void)module;
	return "wasmtime";
}

const char *module_engine_version(const struct module *module)
{
	(void)module;
	return "50";
}

uint32_t module_function_count(const struct module *module)
{
	(void)module;
	return 2;
}

bool module_is_listed(const struct module *module)
{
	(void)module;
	return false;
}

bool module_has_entries(const struct module *module)
{
	(void)module;
	return true;
}

/* Code that came function by function: one such place, for resolve_test. */
static struct {
	uint64_t pc, object, place; /* 0: there is none */
	const struct symtab_entry *space;
} fake_told;

uint64_t symtab_translate(const struct symtab *symtab, uint64_t pc, uint64_t time_ns)
{
	(void)symtab, (void)time_ns;
	return fake_told.pc != 0 && pc == fake_told.pc ? fake_told.place : pc;
}

uint64_t symtab_translate_data(const struct symtab *symtab, uint64_t address, uint64_t time_ns)
{
	(void)symtab, (void)time_ns;
	return fake_told.object != 0 && address == fake_told.object ? fake_told.place : 0;
}

bool symtab_is_space(const struct symtab_entry *entry)
{
	return fake_told.space != NULL && entry == fake_told.space;
}

const struct symbol *module_find(const struct module *module, uint64_t offset)
{
	(void)module;
	for (size_t i = 0; i < ARRAY_SIZE(fake_symbols); i++)
		if (offset >= fake_symbols[i].start && offset < fake_symbols[i].end)
			return &fake_symbols[i];
	return NULL;
}

const char *module_symbol_name(struct module *module, const struct symbol *symbol)
{
	(void)module;
	return fake_names[symbol->id];
}

const char *module_symbol_system_name(struct module *module, const struct symbol *symbol)
{
	(void)module;
	return symbol->kind == SYMBOL_GUEST ? "_ZN4demo" : fake_names[symbol->id];
}

bool module_wasm_offset(const struct module *module, uint64_t offset, uint64_t *position)
{
	if (module->has_no_map || offset < MAIN || offset >= TRAMPOLINE)
		return false;
	*position = 0x10000 + (offset & ~(uint64_t)15);
	return true;
}

/* ---- code bytes ------------------------------------------------------------------------------ */

static struct {
	uint64_t pc; /* behind the 8 bytes that can be read; 0: code is gone */
	uint8_t bytes[8];
} fake_code;

int guarded_read(uintptr_t address, void *out, size_t size)
{
	if (fake_code.pc == 0 || address != fake_code.pc - 8 || size != 8)
		return -EFAULT;
	memcpy(out, fake_code.bytes, 8);
	return 0;
}

/* The instruction before PC ends with the SIZE bytes at CODE. */
static inline void fake_call(uint64_t pc, const void *code, size_t size)
{
	fake_code.pc = pc;
	memset(fake_code.bytes, 0x90, 8);
	memcpy(fake_code.bytes + 8 - size, code, size);
}

/* ---- the unwinder ---------------------------------------------------------------------------- */

static struct {
	struct unwind_frame frames[UNWIND_MAX_FRAMES];
	size_t count;
	enum unwind_end end;
	bool was_stopped; /* the last call */
	/* Not 0: with any other frame pointer it ends at the second frame. */
	uint64_t frame_pointer;
	int calls;
} fake_unwinder = { .end = UNWIND_UNAVAILABLE };

enum unwind_end unwind(const struct unwind_input *input, struct unwind_frame *frames, size_t max,
		       size_t *count)
{
	fake_unwinder.was_stopped = false;
	fake_unwinder.calls++;
	*count = 0;
	if (fake_unwinder.frame_pointer != 0 &&
	    input->registers[6] != fake_unwinder.frame_pointer) {
		frames[0] = fake_unwinder.frames[0];
		frames[1] = fake_unwinder.frames[1];
		*count = 2;
		return UNWIND_SLICE_END;
	}
	while (*count < fake_unwinder.count && *count < max) {
		uint64_t pc = fake_unwinder.frames[*count].pc;

		frames[*count] = fake_unwinder.frames[*count];
		(*count)++;
		if (input->stop != NULL && input->stop(input->context, pc)) {
			fake_unwinder.was_stopped = true;
			return UNWIND_STOPPED;
		}
	}
	return fake_unwinder.end;
}

bool code_follows_call(uintptr_t pc, uint64_t generation)
{
	(void)generation;
	return pc >= 0x400000 && pc < 0x500000;
}

/* The next calls find PCS (up to a 0) and end with END. */
static inline void fake_unwind(enum unwind_end end, const uint64_t *pcs)
{
	fake_unwinder.end = end;
	for (fake_unwinder.count = 0; *pcs != 0; pcs++)
		fake_unwinder.frames[fake_unwinder.count++] = (struct unwind_frame){ .pc = *pcs };
}

uint64_t unwind_function_start(uint64_t pc)
{
	return pc & ~UINT64_C(0xff);
}

/* No such file: its code has places, no names. */
bool unwind_find_object(uint64_t pc, struct unwind_object *object)
{
	*object = (struct unwind_object){ .path = "/nowhere/host", .base = 0x400000 };
	return pc >= 0x400000 && pc < 0x500000;
}

/* ---- instances ------------------------------------------------------------------------------- */

enum { INSTANCES_MAX = 200000 };

static struct {
	struct instance_info infos[INSTANCES_MAX];
	bool is_gone[INSTANCES_MAX];
	uint32_t count;
	uint64_t asked;
} fake_instances;

/* A new instance of LOADING: its id. */
static inline uint32_t fake_instance(uint32_t loading)
{
	uint32_t serial = 1;

	for (uint32_t i = fake_instances.count; i-- > 0 && serial == 1;)
		if (fake_instances.infos[i].loading == loading)
			serial = fake_instances.infos[i].serial + 1;
	fake_instances.infos[fake_instances.count] = (struct instance_info){
		.id = fake_instances.count + 1,
		.loading = loading,
		.serial = serial,
	};
	return ++fake_instances.count;
}

bool instance_get(uint32_t id, struct instance_info *info)
{
	fake_instances.asked++;
	if (id == 0 || id > fake_instances.count || fake_instances.is_gone[id - 1])
		return false;
	*info = fake_instances.infos[id - 1];
	return true;
}

/* What instance_labels_at() answers for samples from a time on; for any instance with labels. */
static struct {
	struct instance_labels labels;
	uint64_t since_ns;
} fake_labels;

void instance_labels_at(uint32_t id, uint64_t time_ns, struct instance_labels *labels)
{
	(void)id;
	*labels = time_ns >= fake_labels.since_ns ? fake_labels.labels
						  : (struct instance_labels){ .count = 0 };
}

uint64_t instance_count(uint32_t loading)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < fake_instances.count; i++)
		count += fake_instances.infos[i].loading == loading;
	return count;
}

static inline int forget_fakes(void **unused)
{
	(void)unused;
	memset(&fake, 0, sizeof(fake));
	memset(&fake_code, 0, sizeof(fake_code));
	memset(&fake_unwinder, 0, sizeof(fake_unwinder));
	memset(&fake_instances, 0, sizeof(fake_instances));
	memset(&fake_labels, 0, sizeof(fake_labels));
	fake_unwinder.end = UNWIND_UNAVAILABLE;
	return 0;
}

/* ---- samples --------------------------------------------------------------------------------- */

/* A sample of PCS (COUNT) and, when it is one in the host, SLICE (words) at SLICE_ADDRESS. */
static inline struct sample *make_sample(enum sample_kind kind, unsigned int flags,
					 const uint64_t *pcs, size_t count, const uint64_t *slice,
					 size_t slice_words)
{
	size_t words = count + (kind == SAMPLE_HOST ? SAMPLE_REGISTERS : 0) + slice_words;
	struct sample *sample = calloc(1, sizeof(*sample) + words * 8);

	sample->size = (uint32_t)(sizeof(*sample) + words * 8);
	sample->kind = (uint16_t)kind;
	sample->flags = (uint16_t)flags;
	sample->generation = 5;
	sample->weight = 1;
	sample->time_ns = 1000;
	sample->pc_count = (uint32_t)count;
	sample->slice_size = (uint32_t)slice_words * 8;
	sample->slice_address = 0x7ffd0000;
	if (count != 0)
		memcpy(sample->words, pcs, count * 8);
	if (slice_words != 0)
		memcpy(sample->words + count + SAMPLE_REGISTERS, slice, slice_words * 8);
	return sample;
}

#define WORDS(...)          \
	(const uint64_t[])  \
	{                   \
		__VA_ARGS__ \
	}
#define COUNT(...) (sizeof(WORDS(__VA_ARGS__)) / 8)
#define GUEST_SAMPLE(...) \
	make_sample(SAMPLE_GUEST, 0, WORDS(__VA_ARGS__), COUNT(__VA_ARGS__), NULL, 0)

#endif /* TESTS_UNIT_PROFILE_FAKES_H */
