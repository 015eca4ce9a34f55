/* SPDX-License-Identifier: MIT */
/*
 * load.h - a load event becomes a module in the set.
 *
 * Whoever sees code arrive or go (runtime/) says so here; nobody here knows an engine's name.
 * On the host's thread only headers are read and the code range is published, so that a sample
 * of the very first instruction can be attributed; tables, names and hashes are taken by our
 * thread. The same image announced twice is one loading.
 *
 * Threads: any host thread, unless said otherwise. One lock inside, never held while the host's
 * code runs. Signals: never.
 */
#ifndef PRELOAD_LOAD_LOAD_H
#define PRELOAD_LOAD_LOAD_H

#include "symtab/base.h"

struct module;
struct symtab;
struct symtab_entry;

/* ---- wasm bytes, around the engine's own load call ------------------------------------------ */

struct load_bytes;

/*
 * Announces SIZE bytes at WASM before the real call: our thread reads them while the engine
 * compiles. They stay the host's and are not read after load_bytes_end(). Returns NULL when there
 * is nothing to read (too short, text format, no memory).
 */
struct load_bytes *load_bytes_begin(const uint8_t *wasm, size_t size);

/*
 * The same for an engine that writes into the bytes while it loads them: they are copied at once,
 * on the host's thread, 64 MiB at most.
 */
struct load_bytes *load_bytes_taken(const uint8_t *wasm, size_t size);

/*
 * The same of bytes in the file at PATH (binfile.h): our thread reads them when they are needed, if
 * the file is still the same. NULL: there is no such file. Holds nothing, and needs no
 * end.
 */
struct load_bytes *load_bytes_in_file(const char *path, uint64_t offset, size_t size);

/*
 * What BYTES hold once more, for engines that make code of one module several times. After
 * load_bytes_end() of BYTES, which no load_announce() may have taken. NULL: no memory, or BYTES is.
 */
struct load_bytes *load_bytes_copy(const struct load_bytes *bytes);

/* After the real call, before the host gets its result: waits for a read under way. NULL is
 * allowed. */
void load_bytes_end(struct load_bytes *bytes);

/*
 * Gives up bytes that no load_announce() took: the load failed. After load_bytes_end(). NULL is
 * allowed. What this thread registered waits no longer (load_release()), whatever the bytes are.
 */
void load_bytes_free(struct load_bytes *bytes);

/*
 * The same for a load call that shows no bytes (precompiled code): what the engine registers on
 * this thread meanwhile waits for the load_announce() that names it, or for load_release(): it
 * failed.
 */
void load_hold(void);
void load_release(void);

/*
 * Of several loadings that this thread registered since load_hold() or load_bytes_begin(): the
 * first, which waits. 0 when there was only one, or none.
 */
uint32_t load_first_held(void);

/* ---- loadings ------------------------------------------------------------------------------- */

struct load_event {
	const char *engine;  /* "wasmtime"; static */
	const char *version; /* of it, where no image tells; NULL: unknown; copied, 31 bytes */
	const void *handle;  /* the host's handle of the module; NULL when seen otherwise */
	const void *owner;   /* the host's handle of the engine that made it; NULL: unknown */
	uintptr_t image;     /* an address in the image, at or after its ELF header; 0: unknown */
	/* There is no image and will be none: the engine interprets the bytes. See below. */
	bool is_interpreted;
	struct load_code *code;	  /* where its functions are, without an image; taken over; NULL */
	struct load_bytes *bytes; /* taken over; NULL: none */
	const char *given_name;	  /* the embedder's name for it; NULL; copied */
	const char *path;	  /* the file it was loaded from; NULL; copied */
	bool glue_comes_first;	  /* image_layout has it: of bare code */
};

/*
 * A module was loaded. Finds the image's header, publishes its code range, wakes us at the first
 * guest. With image 0 the image registered last on this thread (load_register_frame) is meant.
 * Returns the loading's id (symtab_entry.id), 0 when there is no code to sample (no functions,
 * refused; counted and logged once).
 *
 * Of an interpreted module nothing is published: its instances' samples are known by guest_enter()
 * alone (instance.h). An image says itself that it is one. Without an image each call that says
 * is_interpreted is a new loading; it ends when its handle, and every other of it, was forgotten
 * (load_forget()) and the stores of all its instances are gone (instance_forget_store()). At most
 * LOAD_INTERPRETED_MAX at a time: the rest is refused, counted and said once.
 */
enum { LOAD_INTERPRETED_MAX = 4096 };
uint32_t load_announce(const struct load_event *event);

/*
 * Code of which every function is known, and that has no image and no unwind tables; they are
 * copied. NULL: they are none (codeimage.h), or no memory. It goes with load_retire(), before it is
 * unmapped.
 */
struct code_function;
struct load_code *load_code_new(const struct code_function *functions, size_t count);

/* HANDLE is another handle of the same module (clone, shared, obtained). */
void load_alias(const void *handle, const void *other);

/* HANDLE is about to be deleted. Its code may live on in stores: names stay. */
void load_forget(const void *handle);

/* The loading behind HANDLE, 0 when unknown. */
uint32_t load_of_handle(const void *handle);

/* What became of the module behind a handle. */
enum load_verdict {
	LOAD_UNKNOWN,	  /* never seen, or deleted */
	LOAD_SEEN,	  /* has a loading; whether it defines a function, the symbol set knows */
	LOAD_EMPTY,	  /* no code */
	LOAD_GUEST_DEBUG, /* refused: its engine copies code for each store */
	LOAD_BROKEN,	  /* no image was found */
};

struct load_facts {
	enum load_verdict verdict;
	uint32_t loading; /* 0 but for LOAD_SEEN */
	uint32_t owner;	  /* number of the engine that made it, 0 unknown */
};
struct load_facts load_facts(const void *handle);

/* The number of the engine behind OWNER, 0 when no module of it was seen. */
uint32_t load_owner(const void *owner);

/* CLONE is another handle of the same engine; an engine's handle is about to be deleted. */
void load_owner_alias(const void *owner, const void *clone);
void load_owner_forget(const void *owner);

/* LOADING waits (load_first_held()): its embedder calls it NAME, which is copied. */
void load_name(uint32_t loading, const char *name);

/* Whether the code of loading ID is interpreted; false when it is unknown. */
bool load_is_interpreted(uint32_t loading);

/* Facts of a live loading, for wrappers. False when unknown. The first is of its code, the second
 * of the whole image. */
bool load_range(uint32_t loading, uintptr_t *start, uintptr_t *end);
bool load_image_range(uint32_t loading, uintptr_t *start, uintptr_t *end);
bool load_engine_version(uint32_t loading, char version[32]);

/* ---- frame registration --------------------------------------------------------------------- */

/*
 * Who registers: CALLER is an address in the object that does. ENGINE says which engine of wasm
 * that object holds, and its version: a static text, or NULL for what is none. It is called on our
 * thread, for code that came without an image and that no load_announce() named.
 */
struct load_maker {
	const void *caller;
	const char *(*engine)(const void *caller, char version[32]);
	bool has_no_image; /* known: none is looked for, page by page back from the code */
};

/*
 * BEGIN is the argument of __register_frame: a CIE or an FDE. Call after the real one. The code is
 * that of an image around it; else the functions that the registered FDEs describe, unless they lie
 * in an object that the loader knows: those register their own tables.
 */
void load_register_frame(const void *begin, const struct load_maker *maker);

/*
 * Code in an object that the loader knows, but of a module: its unwind tables begin at FRAMES. All
 * of EVENT but `image` is as for load_announce(); the tables are copied at once. Returns the
 * loading's id, 0: none. load_retire() says that the object is gone, or will be at once; it leaves
 * alone what is interpreted.
 */
uint32_t load_object(const void *frames, const struct load_event *event);
void load_retire(uint32_t loading);

/* Before the real __deregister_frame: takes a copy that is still waiting, then ends the range. */
void load_deregister_frame(const void *begin);

/* ---- our thread ------------------------------------------------------------------------------ */

/* What our thread wants to know of changes to the symbol set; called from within load_work(). */
struct load_observer {
	void (*added)(const struct symtab_entry *entry);
	void (*retired)(uint32_t loading, uint64_t died);
	/* A module whose functions come one by one; may be NULL. */
	void (*listed)(const struct module *module);
};

/*
 * Takes announced bytes and tables into the symbol set. Returns the generation up to which every
 * sample now resolves: a module whose load call has not ended yet keeps it below its own.
 */
uint64_t load_work(const struct load_observer *observer);

/* Whether functions were told of that load_work() has not seen: one load. Any thread. */
bool load_waits(void);

/*
 * Looks at /proc/self/maps for images nobody announced. True when one was found. UNKNOWN_PC is a
 * sampled address outside all ranges that asks for a look nearby, 0 for a full look.
 */
bool load_scan(uintptr_t unknown_pc);

/* The symbol set; our thread only. */
struct symtab *load_symtab(void);

/*
 * Frees what no sample can need any more: entries and range arrays that ended before generation
 * DRAINED, up to which all rings were emptied, and that no running handler uses.
 */
void load_reclaim(uint64_t drained);

/*
 * Around a fork, of this room's locks. In the child nothing is lost but bytes that other threads'
 * load calls were handing over; what our thread had begun is begun anew.
 */
void load_fork_prepare(void);
void load_fork_parent(void);
void load_fork_child(void);

#endif /* PRELOAD_LOAD_LOAD_H */
