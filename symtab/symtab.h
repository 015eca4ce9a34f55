/* SPDX-License-Identifier: MIT */
/*
 * symtab.h - "what is at this address?": modules, their functions, and the table of where they are.
 *
 * Rooms that need more than this header say so in scripts/layers. Nothing here knows how a module
 * was seen, and nothing here may be called from a signal handler: the handler stores addresses, not
 * symbols.
 *
 * Text that is returned is valid UTF-8, belongs to the object it was asked from,
 * and lives as long as that object, unless said otherwise.
 */
#ifndef SYMTAB_SYMTAB_H
#define SYMTAB_SYMTAB_H

#include "symtab/base.h"
#include "symtab/memory.h"
#include "symtab/wasmbin.h"

/* ---- code images (elfimg.c) ----------------------------------------------------------------- */

/*
 * Where the parts of an engine's in-memory ELF image are. Only what a host thread
 * needs at load time; found by reading the ELF header and the section headers.
 */
struct image_layout {
	uintptr_t base; /* address of the ELF header */
	size_t size;	/* to the end of the last section or the section headers */
	uintptr_t text; /* address of .text */
	size_t text_size;
	uintptr_t eh_frame; /* address of .eh_frame, 0 when there is none */
	size_t eh_frame_size;
	char engine_version[32]; /* text of .wasmtime.engine, "" when absent */
	bool is_component;	 /* e_flags 2 */
	bool is_bytecode;     /* interpreted (e_flags & 0xC): no native frames; base 0: no image */
	bool has_guest_debug; /* .wasmtime.frames is there: one private copy of the code per store
			       */
	uint64_t fingerprint; /* of its sections and some of their bytes; 0 for bare code */
	bool is_bare; /* no image: code that is known by its unwind tables alone (base and size are
			 those of the tables), or by a list of functions (codeimage.h: the code's)
		       */
	bool has_frame_pointers; /* bare code whose functions all begin by setting one up */
	uint32_t frame_count;	 /* of bare code: functions */
	bool glue_comes_first;	 /* bare code whose functions that the module defines have the
				    last FDEs, in the order of their index, behind those of what
				    the engine adds */
};

/*
 * Reads the layout of the image whose ELF header is at BASE. Returns 0, -EFAULT when
 * memory could not be read, -EINVAL when it is not an image (ELFCLASS64, EI_OSABI 200)
 * or its headers contradict each other. Allocates nothing that outlives the call.
 */
int image_probe(const struct memory *memory, uintptr_t base, struct image_layout *layout);

/*
 * The same for code that came with unwind tables only, at BEGIN: a CIE and its FDEs up to the
 * terminator, or one FDE. Returns 0; -EFAULT; -EINVAL when they describe no code, more than 1 GiB
 * of it, or more than 64 MiB of tables; -ENOMEM. Of the code, the first bytes of 64 functions at
 * most are read.
 */
int image_probe_frames(const struct memory *memory, uintptr_t begin, struct image_layout *layout);

/*
 * Copies of the tables of one image (.symtab .strtab .name.wasm .wasmtime.info
 * .wasmtime.addrmap .eh_frame): what is needed once the image itself may be gone.
 */
struct image_tables;

/* Returns NULL with errno EFAULT (memory went away), EINVAL, ENOMEM. Caller owns the result. */
struct image_tables *image_copy(const struct memory *memory, const struct image_layout *layout);
/* The same without what only names functions: of an image whose wasm bytes were read. */
struct image_tables *image_copy_unnamed(const struct memory *memory,
					const struct image_layout *layout);
void image_tables_free(struct image_tables *tables);

/*
 * Reads the code as well, so that the module has the identity `image`: of an image whose wasm bytes
 * nobody saw. Of all code up to 4 MiB, else of 512 pieces of it. Half a millisecond a megabyte.
 * Where memory went away the module's identity is of its tables only.
 */
void image_hash(struct image_tables *tables, const struct memory *memory,
		const struct image_layout *layout);

/* ---- modules (module.c) --------------------------------------------------------------------- */

/*
 * One unit of guest code with its functions. Reference-counted, and immutable but for what is made
 * when it is first asked for: name, identity (of an image of which no wasm bytes were seen: a
 * millisecond a megabyte of its tables) and the texts of symbols. Threads: one at a time for these
 * (our thread in the host; the command), any for the rest.
 */
struct module;

enum symbol_kind {
	SYMBOL_GUEST,	   /* a function of the guest */
	SYMBOL_ENTRY,	   /* trampoline by which the host enters the guest */
	SYMBOL_TRAMPOLINE, /* other glue: guest to host, component lowering, fused adapters */
	SYMBOL_BUILTIN,	   /* the engine's helper for an instruction: memory.grow, table.fill */
	SYMBOL_UNKNOWN,	   /* inside the text, but no symbol covers it */
};

/* A function of a module, or glue in its image. */
struct symbol {
	enum symbol_kind kind;
	uint32_t core;	     /* N of wasm[N]; 0 for glue that belongs to none */
	uint32_t function;   /* index including imports; UINT32_MAX for glue */
	uint32_t id;	     /* dense number of the symbol within its module, from 0 */
	uint64_t start, end; /* offsets from the start of .text */
};

struct module_source {
	const char *engine;	/* "wasmtime"; a static string */
	const char *given_name; /* from the embedder, NULL if none; copied */
	const char *path;	/* of the file that it was loaded from, NULL if unknown; copied */
	struct image_tables *tables; /* taken over, also on error */
	struct wasmbin *wasm;	     /* a reference is taken; NULL when no bytes were seen */
	struct image_layout layout;
};

/* Returns a module with one reference, or NULL with errno set (ENOMEM). Reads no host memory. */
struct module *module_new(const struct module_source *source);
struct module *module_ref(struct module *module);
void module_unref(struct module *module);

/*
 * The module's name and where it came from: the embedder, the guest's own name section
 * (a guest can lie: shown as `name@3f9a2c`), the hash of the identity, the file it was loaded from
 * (without folders), or the user's list of names (which others add: no module says so itself).
 */
enum name_origin { NAME_GIVEN, NAME_GUEST, NAME_HASH, NAME_FILE, NAME_LISTED };
const char *module_name(const struct module *module);
enum name_origin module_name_origin(const struct module *module);

/* The file that it was loaded from, printable; "" when unknown. */
const char *module_path(const struct module *module);

/*
 * What stands for the module: `wasm` of its identity when its bytes were seen, else `image`: 64 hex
 * digits in any case.
 */
const char *module_identity(const struct module *module);
bool module_identity_is_wasm(const struct module *module);

/* All of it. */
const struct identity *module_identity_all(const struct module *module);

/* "wasmtime" and "50"; "" when unknown. */
const char *module_engine(const struct module *module);
const char *module_engine_version(const struct module *module);

/*
 * Whether the host enters the module through glue that is among its symbols (SYMBOL_ENTRY). Code
 * without an image has none: what lies beyond its outermost function is not known.
 */
bool module_has_entries(const struct module *module);

/* Number of functions that the module defines, in all its core modules. */
uint32_t module_function_count(const struct module *module);
uint32_t module_symbol_count(const struct module *module);

/* The symbol with ID, below module_symbol_count(). */
const struct symbol *module_symbol(const struct module *module, uint32_t id);

/* The symbol that covers OFFSET from the start of .text; NULL when none does. */
const struct symbol *module_find(const struct module *module, uint64_t offset);

/* Name of core module CORE of a component as the binary gives it; "" when none. */
const char *module_core_name(const struct module *module, uint32_t core);

/*
 * Display name of SYMBOL: the full name, demangled; else `module!wasm-function[M]`; for builtins
 * the instruction's name (`memory.grow`), for glue a readable one. Demangled at the first call and
 * cached. system_name is the name before demangling. Threads: one at a time for one module (our
 * thread in the host; the command).
 */
const char *module_symbol_name(struct module *module, const struct symbol *symbol);
const char *module_symbol_system_name(struct module *module, const struct symbol *symbol);

/*
 * Position in the wasm binary (module or component) of the instruction at text OFFSET, from the
 * engine's address map ("none" entries take the previous one of the same function, a prologue the
 * first one). Returns false when the image has no map or the map has nothing for the function.
 */
bool module_wasm_offset(const struct module *module, uint64_t offset, uint64_t *position);

/*
 * Where in the wasm binary each function is, as far as the image tells (layout.h): what a recording
 * keeps of a module whose bytes nobody saw, for match_recorded() (match.h). The caller frees it.
 * NULL when the image says nothing, or memory is short.
 */
uint8_t *module_layout(const struct module *module, size_t *size);

/* The wasm binary that it was made of, borrowed; NULL when no bytes were seen. */
const struct wasmbin *module_wasm(const struct module *module);

/*
 * The same by the text OFFSET of any byte of the machine's call: what its wasm instruction calls. 0
 * also where the wasm bytes were not seen or the image has no map.
 */
size_t module_called_import(const struct module *module, uint64_t offset, char *out, size_t size);

/* The copied .eh_frame, NULL when there is none; its bytes were at *ADDRESS. */
const uint8_t *module_eh_frame(const struct module *module, size_t *size, uintptr_t *address);

/* ---- modules whose functions come one by one (listing.c) ------------------------------------ */

struct module_listing {
	const char *engine;	    /* a static string */
	const char *engine_version; /* copied, cut at 31 characters */
	const char *name;	    /* of the module; NULL: by PATH or WASM; copied */
	const char *path;     /* of the file that it was loaded from, NULL if unknown; copied */
	const char *identity; /* the same text for the same module, in any process */
	struct wasmbin *wasm; /* a reference is taken; NULL: no bytes were seen */
};

/*
 * A module without an image, and as yet without functions: its text is virtual, and grows. Returns
 * it with one reference, or NULL with errno set.
 */
struct module *module_new_listed(const struct module_listing *source);
bool module_is_listed(const struct module *module);

struct listed_function {
	enum symbol_kind kind;
	const char *full_name;	/* the engine's; tells functions of a module apart */
	const char *shown_name; /* before demangling; "": as a function without a name */
	uint32_t index;		/* symbol.function: including imports; UINT32_MAX: not wasm's */
	uint64_t size;		/* of its code */
};

/*
 * The symbol of FUNCTION in the listed MODULE, added when it is new: *ID. Returns 0; -ENOMEM;
 * -E2BIG when the module has 65,536 functions or 16 MiB of names. Pointers to its symbols that were
 * got before are void. Threads: the symbol set's.
 */
int module_list(struct module *module, const struct listed_function *function, uint32_t *id);

/* ---- the table of modules (symtab.c) -------------------------------------------------------- */

/*
 * Which module was where, and when. An entry holds its code range for the generations
 * [born, died): a reused address resolves to the code that ran when a sample was taken.
 *
 * Threads: all functions of one symtab on one thread (ours). Entries hold a reference.
 */
struct symtab;

struct symtab_entry {
	struct module *module;
	uint32_t id; /* process-wide number of this loading of the module, from 1, never reused */
	uintptr_t text;
	size_t text_size;
	uint64_t born, died; /* died is UINT64_MAX while the code is there */
};

struct symtab *symtab_new(void);
void symtab_free(struct symtab *symtab);

/*
 * Adds a live entry and takes a reference to MODULE. An older live entry that overlaps ends at
 * BORN (the host unmapped it without telling). Returns 0 or -ENOMEM.
 */
int symtab_add(struct symtab *symtab, struct module *module, uint32_t id, uintptr_t text,
	       size_t text_size, uint64_t born);

/* Ends the entry with ID at generation DIED. Unknown ids are ignored. */
void symtab_retire(struct symtab *symtab, uint32_t id, uint64_t died);

/* The entry that held ADDRESS in GENERATION, or NULL. Valid until the next change. */
const struct symtab_entry *symtab_find(const struct symtab *symtab, uintptr_t address,
				       uint64_t generation);

/* Drops entries that died at or before OLDEST: no sample of theirs can be waiting any more. */
void symtab_forget(struct symtab *symtab, uint64_t oldest);

size_t symtab_count(const struct symtab *symtab);

/*
 * Adds the listed MODULE as loading ID (below 2^27), for good: its text is where no code is. Takes
 * a reference. 0 or -ENOMEM.
 */
int symtab_add_listed(struct symtab *symtab, struct module *module, uint32_t id);

/*
 * Adds MODULE as loading ID (below 2^27): an engine interprets it, so that no pc is ever in it.
 * Takes a reference. 0 or -ENOMEM. The other one: its entry in GENERATION, as symtab_find().
 */
int symtab_add_interpreted(struct symtab *symtab, struct module *module, uint32_t id,
			   uint64_t born);
const struct symtab_entry *symtab_find_interpreted(const struct symtab *symtab, uint32_t id,
						   uint64_t generation);

/*
 * The function with index FUNCTION (including imports) of an interpreted MODULE whose wasm bytes
 * were seen. NULL: it defines none with that index, or no memory. Its place in the text stands for
 * it.
 */
const struct symbol *module_interpreted_symbol(struct module *module, uint32_t function);

/* Where SYMBOL of the listed module with loading ID is in the table. */
uint64_t symtab_place(uint32_t id, const struct symbol *symbol);

/* Which code of listed modules was where (codemap.h); made at the first call, NULL: no memory. */
struct codemap *symtab_codes(struct symtab *symtab);

/*
 * PC as the table knows it: in the text of a listed module when its code was there at TIME_NS
 * (CLOCK_MONOTONIC), else PC. To be asked before symtab_find().
 */
uint64_t symtab_translate(const struct symtab *symtab, uint64_t pc, uint64_t time_ns);

/*
 * The same for the object at ADDRESS that an interpreter's frame names: where the function whose
 * code, data to the processor, is in it. 0: nobody told of one.
 */
uint64_t symtab_translate_data(const struct symtab *symtab, uint64_t address, uint64_t time_ns);

/*
 * Whether ENTRY is a stretch of memory in which an engine keeps code of listed modules, and no
 * module itself: what is there and was not translated is code that nobody told of.
 */
bool symtab_is_space(const struct symtab_entry *entry);

/* The entry of loading ID, or NULL. Valid until the next change. Takes time with their number. */
const struct symtab_entry *symtab_by_id(const struct symtab *symtab, uint32_t id);

/* ---- prepared sets (set.c) ------------------------------------------------------------------ */

/*
 * A selection of modules, prepared once and shared by any number of profiles: reference-counted,
 * immutable, cheap to hold. Its modules' tables and names stay as long as it does, whatever becomes
 * of the host's handles. Threads: any, but set_new().
 */
struct module_set;

/*
 * Selects the loadings that LOADINGS lists, called NAMES (NULL, or NULL members: by their own
 * names; copied). A loading that is not in SYMTAB, for it defines no function, is skipped; one that
 * is listed twice counts once. Returns a set with one reference, or NULL with errno ENOMEM. On the
 * symbol set's thread.
 */
struct module_set *set_new(const struct symtab *symtab, const uint32_t *loadings,
			   const char *const *names, size_t count);

/* Takes a reference and returns its argument: this is all that a clone is. */
struct module_set *set_ref(struct module_set *set);

/* Drops a reference and frees the set with the last. NULL is allowed. */
void set_unref(struct module_set *set);

size_t set_count(const struct module_set *set);

/*
 * Whether LOADING is in SET; then *NAME (NULL: not asked, on any thread) is how it is called there,
 * the set's.
 */
bool set_has(const struct module_set *set, uint32_t loading, const char **name);

/* ---- names (demangle.c) --------------------------------------------------------------------- */

/*
 * Writes the display name of NAME (LENGTH bytes, any bytes) to OUT (SIZE bytes, terminated):
 * Rust (legacy and v0) and C++ demangled by libiberty when the whole name is a mangled one, else
 * as it is; invalid UTF-8 and control bytes as \xNN; longer than SIZE-1: cut, ending in `~` and a
 * hash, so that different names stay different. Bounded in time and memory whatever the name
 * (over the bound: the raw name). Returns the length written. Allocates nothing that outlives the
 * call. Threads: any; 16 KiB of stack do, for it maps a stack of its own (8 MiB of address space,
 * of which little is touched) for names that may be mangled ones.
 */
size_t demangle(const char *name, size_t length, char *out, size_t size);

/* The same without demangling: what module_symbol_system_name() gives. */
size_t demangle_not(const char *name, size_t length, char *out, size_t size);

#endif /* SYMTAB_SYMTAB_H */
