/* SPDX-License-Identifier: MIT */
/*
 * owner.c - the entry segment of a sample, the homes of its frames, and what they hold.
 *
 *	pcs:	leaf  ...  function entered  trampoline		(the host)
 *	fps:	rbp   ...  its frame         entry_fp
 *
 * A leaf that stands before its frame is made, or behind, has none of its own. Values of registers
 * are carried from the leaf up: where a function saved one its caller's is in the frame.
 */
#include "preload/unwind/owner.h"

#include "preload/base/guarded.h"
#include "preload/unwind/code_x86_64.h"
#include "preload/unwind/effect_x86_64.h"
#include "preload/unwind/functions.h"
#include "preload/unwind/registers_x86_64.h"
#include "preload/unwind/stores.h"

enum { FRAMES_MAX = SAMPLE_MAX_PCS, PAIRS = 1024 };

/* Registers of one frame, as far as known. CPU numbers. */
struct registers {
	uint64_t values[CPU_COUNT];
	uint16_t known;
};

struct owner_frame {
	const struct symtab_entry *entry;
	const struct symbol *symbol;
	uint32_t at;	  /* offset of the pc, or of the call, in the function */
	uint64_t fp;	  /* 0: none of its own */
	uint64_t context; /* what its home holds; 0: none is known */
};

/* A place where an instance's context was found, in a store's place. */
struct pair {
	uint64_t record, context;
};

static struct {
	struct context_layout layout;
	struct pair pairs[PAIRS];
	struct owner_frame frames[FRAMES_MAX];
} self;

void owner_start(const struct context_layout *layout)
{
	self.layout = *layout;
}

/* ---- contexts -------------------------------------------------------------------------------- */

static struct pair *pair_of(uint64_t record, uint64_t context)
{
	uint64_t hash = (record ^ context << 13) * UINT64_C(0x9e3779b97f4a7c15);

	return &self.pairs[hash >> 40 & (PAIRS - 1)];
}

static void note_pair(uint64_t record, uint64_t context)
{
	if (context != 0)
		*pair_of(record, context) = (struct pair){ record, context };
}

static bool read_at(uint64_t address, int offset, void *out, size_t size)
{
	return guarded_read((uintptr_t)(address + (uint64_t)(int64_t)offset), out, size) == 0;
}

/* Whether there is a context at WORD now. */
static bool is_context_now(uint64_t record, uint64_t word)
{
	const struct context_layout *layout = &self.layout;
	uint64_t own, its_record, types;
	uint32_t magic;

	return read_at(word, 0, &magic, sizeof(magic)) && magic == layout->magic &&
	       read_at(word, layout->self, &own, sizeof(own)) && own == word &&
	       read_at(word, layout->record, &its_record, sizeof(its_record)) &&
	       its_record == record && read_at(word, layout->types, &types, sizeof(types)) &&
	       types >= CONTEXT_LEAST_POINTER;
}

static bool is_context(uint64_t record, uint64_t word)
{
	const struct pair *pair = pair_of(record, word);

	if (pair->record == record && pair->context == word)
		return true;
	if (word % 8 != 0 || word < CONTEXT_LEAST_POINTER || !is_context_now(record, word))
		return false;
	note_pair(record, word);
	return true;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static bool stack_word(const struct sample_anchor *anchor, uint64_t address, uint64_t *word)
{
	uint64_t at = address - anchor->stack_address;

	if (at % 8 != 0 || at >= anchor->stack_size)
		return false;
	*word = anchor->words[at / 8];
	return true;
}

/* FRAME becomes one in the function around PC. False when that is in no module. */
static bool find_function(const struct symtab *symtab, const struct sample *sample, uint64_t pc,
			  struct owner_frame *frame)
{
	*frame = (struct owner_frame){ 0 };
	frame->entry = symtab_find(symtab, (uintptr_t)pc, sample->generation);
	if (frame->entry != NULL)
		frame->symbol = module_find(frame->entry->module, pc - frame->entry->text);
	return frame->entry != NULL;
}

/* The functions of the sample's pcs. 0 frames when one of them is none of a module's. */
static size_t find_functions(const struct symtab *symtab, const struct sample *sample)
{
	const uint64_t *pcs = sample_pcs(sample);
	size_t count = 0;

	for (size_t i = 0; i < sample->pc_count && pcs[i] != 0; i++) {
		struct owner_frame *frame = &self.frames[count++];

		if (!find_function(symtab, sample, pcs[i] - (i > 0), frame))
			return 0;
		if (frame->symbol != NULL)
			frame->at = (uint32_t)(pcs[i] - frame->entry->text - frame->symbol->start);
	}
	return count;
}

/* Gives COUNT frames their pointers, from the leaf's chain. False when it is another chain. */
static bool find_pointers(const struct sample_anchor *anchor, size_t count)
{
	uint64_t fp = anchor->registers[REGISTER_FRAME], outer;
	size_t length = 1;

	/* Frames that are not in the copy, below its start, are left without. */
	for (uint64_t at = fp; at != anchor->entry_fp; length++)
		if (length > count || !stack_word(anchor, at, &outer) || outer <= at ||
		    (at = outer) > anchor->entry_fp)
			return false;
	if (length != count && length + 1 != count)
		return false;
	for (size_t i = count - length; i < count; i++) {
		self.frames[i].fp = fp;
		if (i + 1 < count && !stack_word(anchor, fp, &fp))
			return false;
	}
	return true;
}

static struct registers leaf_registers(const struct sample_anchor *anchor)
{
	struct registers registers = { .known = 0xffff };

	for (uint8_t i = 0; i < CPU_COUNT; i++)
		registers.values[i] = anchor->registers[register_of_cpu(i)];
	return registers;
}

/* What the home of FRAME holds. *CONFLICT: two of them do not agree. */
static uint64_t context_in(const struct sample_anchor *anchor, const struct owner_frame *frame,
			   const struct homes *homes, const struct registers *registers,
			   bool *conflict)
{
	uint64_t found = 0, word;

	for (size_t i = 0; i < homes->home_count; i++) {
		const struct home *home = &homes->homes[i];

		if (frame->at < home->from || frame->at >= home->until)
			continue;
		if (home->reg != HOMES_REGISTERS && (registers->known >> home->reg & 1) != 0)
			word = registers->values[home->reg];
		else if (home->reg != HOMES_REGISTERS || frame->fp == 0 ||
			 !stack_word(anchor, frame->fp + (uint64_t)(int64_t)home->slot, &word))
			continue;
		if (!is_context(anchor->record, word))
			continue;
		*conflict |= found != 0 && found != word;
		found = word;
	}
	return found;
}

/* REGISTERS of FRAME become its caller's. HOMES NULL: nothing is known of it. */
static void step(const struct sample_anchor *anchor, const struct owner_frame *frame,
		 const struct homes *homes, struct registers *registers)
{
	uint16_t saved = 0;
	uint64_t word;

	if (homes == NULL) {
		registers->known = 0;
		return;
	}
	for (size_t i = 0; i < homes->saved_count; i++) {
		const struct saved_register *save = &homes->saved[i];

		if (frame->fp == 0 || frame->at < save->from)
			saved |= (uint16_t)(1u << save->reg); /* not changed yet, or given back */
		else if (stack_word(anchor, frame->fp + (uint64_t)(int64_t)save->slot, &word)) {
			registers->values[save->reg] = word;
			registers->known |= (uint16_t)(1u << save->reg);
			saved |= (uint16_t)(1u << save->reg);
		}
	}
	/* Of what calls may change the caller's values are gone. */
	registers->known &= 1u << CPU_RBX | 0xf000;
	registers->known &= (uint16_t)(~homes->written | saved);
}

/* Fills in the frames' contexts. */
static void find_contexts(const struct sample_anchor *anchor, size_t count, bool *conflict)
{
	struct registers registers = leaf_registers(anchor);

	for (size_t i = 0; i < count; i++) {
		struct owner_frame *frame = &self.frames[i];
		const struct homes *homes =
			frame->symbol != NULL ? functions_homes(frame->entry, frame->symbol) : NULL;

		/* The others stand behind a call. */
		if (homes != NULL && (i > 0 || !homes_are_leaving(homes, frame->at)))
			frame->context = context_in(anchor, frame, homes, &registers, conflict);
		step(anchor, frame, homes, &registers);
	}
}

/* ---- the entry segment ------------------------------------------------------------------------
 */

/* Whether frame CALLER called the one before it by its address, within one instance. */
static bool is_direct_call(size_t caller)
{
	const struct owner_frame *to = &self.frames[caller - 1], *from = &self.frames[caller];
	uint8_t before[CODE_CALL_MAX];
	uint64_t after, target;

	if (to->symbol == NULL || from->symbol == NULL || to->entry->id != from->entry->id ||
	    to->symbol->core != from->symbol->core)
		return false;
	after = from->entry->text + from->symbol->start + from->at;
	return guarded_read((uintptr_t)(after - sizeof(before)), before, sizeof(before)) == 0 &&
	       code_ends_in_direct_call(before, after, &target) &&
	       target == to->entry->text + to->symbol->start;
}

/* The context of the entry segment; 0: no home has it, or *CONFLICT. */
static uint64_t segment_context(size_t count, bool *conflict)
{
	uint64_t found = self.frames[count - 1].context;

	for (size_t i = count - 1; i > 0 && is_direct_call(i); i--) {
		uint64_t context = self.frames[i - 1].context;

		*conflict |= found != 0 && context != 0 && context != found;
		found = context != 0 ? context : found;
	}
	return found;
}

/* In the host only what was seen before can tell. */
static const struct owner_frame *find_entered_outside(const struct symtab *symtab,
						      const struct sample *sample)
{
	struct owner_frame *frame = &self.frames[0];

	find_function(symtab, sample, sample_anchor(sample)->entry_pc - 1, frame);
	return frame->symbol != NULL && frame->symbol->kind == SYMBOL_ENTRY ? frame : NULL;
}

/* The function that the host entered, and the context that its homes tell; NULL and 0: unknown. */
static const struct owner_frame *find_entered(const struct symtab *symtab,
					      const struct sample *sample, uint64_t *context,
					      bool *conflict)
{
	const struct sample_anchor *anchor = sample_anchor(sample);
	const struct owner_frame *entered;
	size_t count;

	if (sample->kind != SAMPLE_GUEST)
		return find_entered_outside(symtab, sample);
	count = find_functions(symtab, sample);
	if (count == 0)
		return NULL;
	entered = &self.frames[count > 1 ? count - 2 : 0];
	if (entered->symbol == NULL)
		return NULL;
	if (find_pointers(anchor, count)) {
		find_contexts(anchor, count, conflict);
		*context = segment_context(count, conflict);
	}
	return entered;
}

void owner_of(const struct symtab *symtab, const struct sample *sample, uint64_t tid,
	      struct owner *owner)
{
	const struct sample_anchor *anchor = sample_anchor(sample);
	const struct owner_frame *entered;
	bool conflict = false, is_sure;
	struct store *store;
	uint64_t context = 0;

	*owner = (struct owner){ 0 };
	note_pair(anchor->record, anchor->above);
	for (int i = 0; i < SAMPLE_CONTEXTS; i++)
		note_pair(anchor->record, anchor->contexts[i]);
	store = stores_of(anchor, tid, sample->time_ns, &is_sure);
	entered = find_entered(symtab, sample, &context, &conflict);
	if (store == NULL || entered == NULL || conflict)
		return;
	owner->store = store->key;
	owner->loading = entered->entry->id;
	if (context != 0) {
		store_note(store, owner->loading, entered->symbol->core, context);
		owner->certainty = is_sure ? OWNER_EXACT : OWNER_LIKELY;
	} else {
		context = store_only(store, owner->loading, entered->symbol->core);
		context = context != 0 ? context : anchor->above;
		owner->certainty = context != 0 ? OWNER_LIKELY : OWNER_NONE;
	}
	owner->context = context;
}
