/* SPDX-License-Identifier: MIT */
/*
 * v8.c - V8 (node 20 to 26): its code events, of the isolates of all threads. All of its ABI is
 * here.
 *
 * Calls within node do not pass the PLT, so nothing of V8 can be interposed; but what it exports
 * can be called. A thread's isolate is asked for when libc is called from places where V8 is at
 * rest: a script's file was opened, or libuv is about to wait for events. Earlier calls crash:
 * while an isolate is being made (node opens its own binary then, to map the builtins near the
 * code) it is current, but has no logger yet.
 *
 * Hearing of new code is cheap; hearing of what is there already walks the heap (12 to 15 ms with
 * node 20 and 26). So a thread only listens until wasm is in sight: a .wasm file was opened, or a
 * function of wasm was compiled. The walk is made where V8 itself says that it may be: in an
 * interrupt, as its inspector starts profiles, or while no script is on the stack.
 */
#include "preload/runtime/v8.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "preload/base/log.h"
#include "preload/hook/hook.h"
#include "preload/load/codequeue.h"
#include "preload/runtime/v8_name.h"

EXPORT int epoll_pwait(int epoll, struct epoll_event *events, int count, int timeout,
		       const sigset_t *mask);

/* include/v8-callbacks.h of V8 11.3 (node 20.20), 12.4 (22), 13.6 (24) and 14.6 (26). */
enum { MAJOR_LEAST = 11, MAJOR_MOST = 14 };
enum event_type { ADDED, MOVED, REMOVED }; /* and three for line numbers */
enum code_type { BYTE_CODE, JIT_CODE, WASM_CODE };
/* src/execution/frame-constants.h, InterpreterFrameConstants::kBytecodeArrayFromFp, 11.3 to 14.6 */
enum { BYTECODE_BELOW_FP = 32 };
enum event_options { ONLY_NEW, ENUMERATE_EXISTING };

struct jit_code_event {
	int type, code_type;
	uintptr_t start;
	size_t size;
	void *script, *user_data, *wasm_source_info;
	union {
		struct {
			const char *text; /* not terminated */
			size_t length;
		} name;		     /* ADDED */
		uintptr_t new_start; /* MOVED */
	} of;
};

/* v8::Isolate::TryGetCurrent(), v8::Isolate::SetJitCodeEventHandler(), v8::V8::GetVersion() */
#define CURRENT "_ZN2v87Isolate13TryGetCurrentEv"
#define SET_HANDLER                                                                      \
	"_ZN2v87Isolate22SetJitCodeEventHandlerENS_19JitCodeEventOptionsEPFvPKNS_12JitC" \
	"odeEventEE"
/* v8::Isolate::RequestInterrupt() */
#define INTERRUPT "_ZN2v87Isolate16RequestInterruptEPFvPS0_PvES2_"
#define VERSION "_ZN2v82V810GetVersionEv"
/*
 * v8::internal::Isolate::embedded_blob_code() const and its size (exported by node 20): where the
 * builtins run, which may be a second mapping of them (src/heap/code-range.cc,
 * RemapEmbeddedBuiltins), while events tell the first. Newer versions tell the second.
 */
#define BLOB "_ZNK2v88internal7Isolate18embedded_blob_codeEv"
#define FIRST_BLOB "_ZN2v88internal7Isolate23CurrentEmbeddedBlobCodeEv"

enum engine_state { UNKNOWN, ABSENT, LOOKING, PRESENT };

static struct {
	atomic_int state;
	void *(*current)(void);
	void (*set_handler)(void *isolate, int options,
			    void (*handler)(const struct jit_code_event *));
	void (*interrupt)(void *isolate, void (*callback)(void *isolate, void *unused),
			  void *unused);
	uintptr_t (*blob)(const void *isolate);
	uintptr_t (*first_blob)(void);
	uintptr_t object_start, object_end; /* that V8 is in */
	atomic_bool is_wasm_seen;
	atomic_uint last_owner;
	pthread_key_t thread_key; /* its destructor: the thread's isolate is gone */
	bool has_thread_key;
} self;

struct extent {
	uintptr_t low, high; /* high 0: none */
};

static HOOK_TLS struct {
	void *isolate;
	int options;		  /* what it was told to tell */
	uint32_t owner;		  /* what its code is known by */
	bool is_asked;		  /* to let us walk its heap */
	struct extent blob;	  /* builtins in V8's object that were told */
	struct extent handlers;	  /* of bytecodes; they follow each other */
	struct extent trampoline; /* by which functions without compiled code are entered */
	intptr_t moved;		  /* from there to where they run */
} here;

/* ---- events, on the isolate's thread or one that collects ----------------------------------- */

static bool is_in_object(uintptr_t address)
{
	return address >= self.object_start && address < self.object_end;
}

static void widen(struct extent *extent, const struct code_event *told)
{
	if (extent->high == 0 || told->start < extent->low)
		extent->low = told->start;
	if (told->start + told->size > extent->high)
		extent->high = told->start + told->size;
}

static void note_interpreter(const struct code_event *told, const char *name, size_t length)
{
	static const char trampoline[] = "Builtin:InterpreterEntryTrampoline";
	static const char handler[] = "BytecodeHandler:";

	if (told->kind == CODE_BUILTIN && length > sizeof(handler) &&
	    memcmp(name, handler, sizeof(handler) - 1) == 0)
		widen(&here.handlers, told);
	else if (length == sizeof(trampoline) - 1 && memcmp(name, trampoline, length) == 0)
		widen(&here.trampoline, told);
}

static void tell_added(const struct jit_code_event *event)
{
	struct code_event told = {
		.what = CODE_ADDED,
		.owner = event->code_type == WASM_CODE ? 0 : here.owner,
		.start = event->start,
		.size = event->size,
	};

	if (event->of.name.text == NULL || event->size == 0)
		return;
	v8_name_read(event->of.name.text, event->of.name.length, event->code_type == WASM_CODE,
		     &told);
	if (event->code_type == JIT_CODE)
		note_interpreter(&told, event->of.name.text, event->of.name.length);
	/* data to the processor: the interpreter's frames name it */
	told.is_covered = event->code_type == BYTE_CODE;
	if (!is_in_object(told.start)) {
		codequeue_tell(&told);
		return;
	}
	told.is_covered = true;
	told.owner = CODE_FOR_EVER;
	widen(&here.blob, &told);
	codequeue_tell(&told);
	if (here.moved != 0) {
		told.start += (uintptr_t)here.moved;
		codequeue_tell(&told);
	}
}

static void listen(void *isolate, int options);

static void on_interrupt(void *isolate, void *unused)
{
	(void)unused;
	if (hook_begin()) {
		listen(isolate, ENUMERATE_EXISTING);
		hook_end();
	}
}

/* False: this V8 does not let us; there will be another moment. */
static bool ask_for_existing(void)
{
	if (self.interrupt == NULL || here.isolate == NULL)
		return false;
	if (here.options == ONLY_NEW && !here.is_asked) {
		here.is_asked = true;
		self.interrupt(here.isolate, on_interrupt, NULL);
	}
	return true;
}

static void tell(const struct jit_code_event *event)
{
	if (event->type == ADDED && event->code_type == WASM_CODE) {
		atomic_store_explicit(&self.is_wasm_seen, true, memory_order_relaxed);
		ask_for_existing();
	}
	/* What there was before is told when the thread asks for it. */
	if (!atomic_load_explicit(&self.is_wasm_seen, memory_order_relaxed) &&
	    here.options == ONLY_NEW)
		return;
	if (event->type == ADDED)
		tell_added(event);
	else if (event->type == MOVED)
		codequeue_tell(&(struct code_event){
			.what = CODE_MOVED,
			.is_covered = event->code_type == BYTE_CODE,
			.start = event->start,
			.size = event->size,
			.to = event->of.new_start,
		});
	else if (event->type == REMOVED)
		codequeue_tell(&(struct code_event){ .what = CODE_REMOVED, .start = event->start });
}

/* V8 calls it also from within what we call. */
static void on_event(const struct jit_code_event *event)
{
	bool is_outside;

	if (event->type > REMOVED || !atomic_load_explicit(&state.on, memory_order_relaxed))
		return;
	is_outside = hook_begin();
	tell(event);
	if (is_outside)
		hook_end();
}

/* ---- isolates ------------------------------------------------------------------------------- */

static void owner_gone(uint32_t owner)
{
	if (owner != 0 && atomic_load_explicit(&self.is_wasm_seen, memory_order_relaxed))
		codequeue_tell(&(struct code_event){ .what = CODE_OWNER_GONE, .owner = owner });
}

static void thread_ends(void *owner)
{
	if (hook_begin()) {
		owner_gone((uint32_t)(uintptr_t)owner);
		hook_end();
	}
}

static void begin_isolate(void *isolate)
{
	owner_gone(here.owner);
	here.isolate = isolate;
	here.options = -1;
	here.owner = atomic_fetch_add_explicit(&self.last_owner, 1, memory_order_relaxed) + 1;
	here.blob = here.handlers = here.trampoline = (struct extent){ 0 };
	here.moved = 0;
	here.is_asked = false;
	if (self.has_thread_key)
		pthread_setspecific(self.thread_key, (void *)(uintptr_t)here.owner);
}

static void find_moved(const void *isolate)
{
	uintptr_t blob, first;

	if (self.blob == NULL || self.first_blob == NULL)
		return;
	blob = self.blob(isolate);
	first = self.first_blob();
	if (blob != 0 && is_in_object(first) && !is_in_object(blob))
		here.moved = (intptr_t)(blob - first);
}

static void tell_builtins(uintptr_t moved)
{
	if (here.blob.high != 0)
		codequeue_range(here.blob.low + moved, here.blob.high + moved);
	if (here.handlers.high != 0)
		codequeue_interpreter(here.handlers.low + moved, here.handlers.high + moved,
				      BYTECODE_BELOW_FP);
	if (here.trampoline.high != 0)
		codequeue_interpreter(here.trampoline.low + moved, here.trampoline.high + moved,
				      BYTECODE_BELOW_FP);
}

static void listen(void *isolate, int options)
{
	if (here.isolate != isolate)
		begin_isolate(isolate);
	if (here.options >= options)
		return;
	here.options = options;
	if (options == ENUMERATE_EXISTING)
		find_moved(isolate);
	self.set_handler(isolate, options, on_event);
	tell_builtins(0);
	if (here.moved != 0)
		tell_builtins((uintptr_t)here.moved);
}

/* ---- the engine ----------------------------------------------------------------------------- */

static bool is_known_version(const char *version)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	long major = strtol(version, NULL, 10);

	if (major >= MAJOR_LEAST && major <= MAJOR_MOST)
		return true;
	log_once(&said, "V8 %.31s is not one that we know (%d to %d): its code is not looked at",
		 version, MAJOR_LEAST, MAJOR_MOST);
	return false;
}

static void *exported(const char *name)
{
	return hook_symbol(RTLD_DEFAULT, name);
}

static bool find_engine(void)
{
	const char *(*version)(void) = (__typeof__(version))exported(VERSION);

	self.current = (__typeof__(self.current))exported(CURRENT);
	self.set_handler = (__typeof__(self.set_handler))exported(SET_HANDLER);
	if (version == NULL || self.current == NULL || self.set_handler == NULL ||
	    !is_known_version(version()))
		return false;
	self.interrupt = (__typeof__(self.interrupt))exported(INTERRUPT);
	self.blob = (__typeof__(self.blob))exported(BLOB);
	self.first_blob = (__typeof__(self.first_blob))exported(FIRST_BLOB);
	if (!hook_object_range((const void *)self.set_handler, &self.object_start,
			       &self.object_end))
		self.object_start = self.object_end = 0;
	self.has_thread_key = pthread_key_create(&self.thread_key, thread_ends) == 0;
	codequeue_engine("v8", version(), "js");
	return true;
}

static bool has_engine(void)
{
	int found = UNKNOWN;

	/* acquire: pairs with the release below */
	if (atomic_load_explicit(&self.state, memory_order_acquire) == PRESENT)
		return true;
	if (!atomic_compare_exchange_strong(&self.state, &found, LOOKING))
		return false;
	found = find_engine() ? PRESENT : ABSENT;
	atomic_store_explicit(&self.state, found, memory_order_release);
	return found == PRESENT;
}

/* IS_WASM: this thread has to do with wasm. IS_AT_REST: no script is on the stack. */
static void look(bool is_wasm, bool is_at_rest)
{
	void *isolate;

	is_wasm |= atomic_load_explicit(&self.is_wasm_seen, memory_order_relaxed);
	if (!has_engine())
		return;
	isolate = self.current();
	if (isolate == NULL)
		return;
	listen(isolate, is_wasm && is_at_rest ? ENUMERATE_EXISTING : ONLY_NEW);
	if (is_wasm && !is_at_rest && !ask_for_existing())
		listen(isolate, ENUMERATE_EXISTING);
}

static bool may_be_present(void)
{
	return atomic_load_explicit(&self.state, memory_order_relaxed) != ABSENT;
}

bool runtime_v8_is_there(void)
{
	return may_be_present() && has_engine();
}

void runtime_v8_opened(const char *path)
{
	static const char *const endings[] = { ".js", ".mjs", ".cjs", ".json", ".wasm", ".node" };
	const char *ending;

	if (!may_be_present() || path == NULL || (ending = strrchr(path, '.')) == NULL)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		if (strcmp(ending, endings[i]) != 0)
			continue;
		if (hook_begin()) {
			look(strcmp(ending, ".wasm") == 0, false);
			hook_end();
		}
		return;
	}
}

HOOK_PLAIN(epoll_pwait);
int epoll_pwait(int epoll, struct epoll_event *events, int count, int timeout, const sigset_t *mask)
{
	__typeof__(&epoll_pwait) real = REAL(epoll_pwait);

	if (may_be_present() && hook_begin()) {
		look(false, true);
		hook_end();
	}
	return real(epoll, events, count, timeout, mask);
}
