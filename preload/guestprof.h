/* SPDX-License-Identifier: MIT */
/*
 * guestprof.h - for hosts that want control: prepared module sets, profiles from them, labels.
 *
 * Header only, C and C++. Finds the preloaded library by one dlsym; without it every function
 * answers GUESTPROF_NOT_LOADED and does nothing, so a host can be built with this and run without.
 * Other languages read `guestprof_api`, a struct of function pointers (see struct guestprof_api):
 * dlsym(RTLD_DEFAULT, "guestprof_api"), check version and size, call through it.
 *
 *   guestprof_module_set *set;
 *   guestprof_set_new(engine, names, modules, 2, &set, NULL, 0);
 *   guestprof_profile_new("request", 10000000, set, &profile);
 *   ... in the engine's epoch callback: guestprof_profile_sample(profile, cpu_delta_ns);
 *   guestprof_profile_finish(profile, "request.pb.gz");
 *   guestprof_set_unref(set);
 *
 * The rules are those of wasmtime's GuestProfilerModules and GuestProfiler: preparing happens once
 * per module, however many profiles use the set; a set is reference-counted and outlives modules,
 * engine and store; profiles from one set are independent; only listed modules appear; modules that
 * define no function are skipped; a module whose engine has guest debugging on, or that was made by
 * another engine, is refused.
 *
 * Errors are negative: GUESTPROF_NOT_LOADED, -EINVAL, -ENOMEM, -ENOTSUP (guest debugging), -EXDEV
 * (another engine's module), -ENOENT (a handle we never saw), -ETIMEDOUT (our
 * thread did not answer in time), -EIO or what the system said (the file). Where WHY is given
 * (WHY_SIZE bytes) it gets one line, always terminated. Threads: any, unless said otherwise.
 * Signals: no function may be called from a signal handler.
 */
#ifndef GUESTPROF_H
#define GUESTPROF_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GUESTPROF_API_VERSION 1
#define GUESTPROF_NOT_LOADED (-4096) /* below every errno */

/* What an instance's handle is (guestprof_instance_label). */
enum guestprof_handle {
	GUESTPROF_INSTANCE = 1,		  /* const wasmtime_instance_t * */
	GUESTPROF_COMPONENT_INSTANCE = 2, /* const wasmtime_component_instance_t * */
	GUESTPROF_WASM_INSTANCE = 3,	  /* const wasm_instance_t * */
	GUESTPROF_STORE = 4,		  /* none: all instances of the store */
};

/* A prepared, immutable selection of modules. */
typedef struct guestprof_module_set guestprof_module_set;
/* One profile: a name, an interval, a set, and the samples so far. */
typedef struct guestprof_profile guestprof_profile;

/*
 * The library's table. Later versions only add members at the end: a caller may use what lies
 * within SIZE. All pointers are set.
 */
struct guestprof_api {
	uint32_t version; /* GUESTPROF_API_VERSION of the library */
	uint32_t size;	  /* of this struct in the library */

	/*
	 * Prepares a set of COUNT modules. MODULES are the engine's own handles (wasmtime_module_t
	 * *, wasm_module_t *, wasmtime_component_t *: a component brings all its static modules),
	 * NAMES (NULL, or NULL members: the module's own name) how they are called in the profile;
	 * ENGINE (wasm_engine_t *, NULL: not checked) must have made them all. Nothing is kept of
	 * the arrays. *SET has one reference. The handles may be deleted at any time after. Modules
	 * without functions are skipped: a set may be empty.
	 */
	int (*set_new)(const void *engine, const char *const *names, const void *const *modules,
		       size_t count, guestprof_module_set **set, char *why, size_t why_size);
	/* A clone is a counter. Returns SET. */
	guestprof_module_set *(*set_ref)(guestprof_module_set *set);
	/* Frees the set with its last reference, profiles' references included. NULL is allowed. */
	void (*set_unref)(guestprof_module_set *set);
	/* Number of modules in the set. */
	size_t (*set_count)(const guestprof_module_set *set);

	/*
	 * Starts a profile NAME (copied) that expects a sample each INTERVAL_NS (1 ns to an hour).
	 * Takes a reference to SET. No per-module work is done. Finish or drop it.
	 */
	int (*profile_new)(const char *name, uint64_t interval_ns, guestprof_module_set *set,
			   guestprof_profile **profile);
	/*
	 * Adds a sample of the calling thread's guest frames, from within a host function or an
	 * epoch callback that a guest called, with the CPU time since the thread's last one (ns).
	 * Frames of modules that are not in the set are left out. Returns 1 when a stack was added,
	 * 0 when no listed module's frame is on the stack (counted, not stored). Two threads may
	 * sample into one profile.
	 */
	int (*profile_sample)(guestprof_profile *profile, uint64_t cpu_delta_ns);
	/*
	 * Marks that the guest on this thread called NAME in the host (BEGIN 1) or that it returned
	 * (0): an interval in the profile. Calls nest by thread. NAME is copied; it is used at
	 * begin only.
	 */
	int (*profile_host_call)(guestprof_profile *profile, int begin, const char *name);
	/*
	 * Writes the profile to PATH: a recording as `guestprof record` writes them (pprof),
	 * gzipped when PATH ends in ".gz"; an existing file is replaced. Frees PROFILE, also on
	 * error.
	 */
	int (*profile_finish)(guestprof_profile *profile, const char *path);
	/* Frees PROFILE without writing. NULL is allowed. */
	void (*profile_drop)(guestprof_profile *profile);

	/*
	 * From now on samples of an instance carry the label KEY=VALUE, in the process's own
	 * recording and in all profiles; samples from before do not, whenever they are written. The
	 * module's numbers are kept apart for each combination of labels. Another VALUE of the same
	 * KEY replaces, NULL or "" takes the label away; a label of GUESTPROF_LABEL or
	 * GUESTPROF_NAMES with that KEY gives way. Labels end with the store.
	 *
	 * KIND (enum guestprof_handle) says what INSTANCE is; STORE is its wasmtime_context_t *, or
	 * the wasm_store_t *. With GUESTPROF_STORE, INSTANCE is not used: all instances that STORE
	 * has and will have; one that STORE has must have been made before. An instance of wasm.h
	 * is known once the host has listed its exports.
	 *
	 * KEY: letters, digits, `_`, `.` and `-`, at most 63, none of guestprof's own (wasm_module,
	 * thread_id, ...). VALUE: at most 255 bytes; what is not printable UTF-8 is shown as
	 * `\x0a`. Eight keys an instance (-E2BIG); -ENAMETOOLONG. Values should be few (tenants,
	 * not requests): beyond 800 combinations in a process, samples count for the module without
	 * labels. Both texts are copied.
	 */
	int (*instance_label)(int kind, const void *store, const void *instance, const char *key,
			      const char *value);
};

/* The preloaded library's table, or NULL. Looked up once: a preload cannot come later. */
static inline const struct guestprof_api *guestprof_get(void)
{
	static const struct guestprof_api *found;
	static int has_looked;
	const struct guestprof_api *api;

	/* acquire and release: FOUND before has_looked. Two threads that look both find the same.
	 */
	if (__atomic_load_n(&has_looked, __ATOMIC_ACQUIRE))
		return found;
	api = (const struct guestprof_api *)dlsym(RTLD_DEFAULT, "guestprof_api");
	/* what came after profile_drop is looked for where it is used */
	if (api != NULL && api->version >= GUESTPROF_API_VERSION &&
	    api->size >= offsetof(struct guestprof_api, instance_label))
		__atomic_store_n(&found, api, __ATOMIC_RELAXED);
	__atomic_store_n(&has_looked, 1, __ATOMIC_RELEASE);
	return found;
}

static inline int guestprof_set_new(const void *engine, const char *const *names,
				    const void *const *modules, size_t count,
				    guestprof_module_set **set, char *why, size_t why_size)
{
	const struct guestprof_api *api = guestprof_get();

	if (api != NULL)
		return api->set_new(engine, names, modules, count, set, why, why_size);
	*set = NULL;
	if (why_size > 0)
		*why = '\0';
	return GUESTPROF_NOT_LOADED;
}

static inline guestprof_module_set *guestprof_set_ref(guestprof_module_set *set)
{
	const struct guestprof_api *api = guestprof_get();

	return api != NULL ? api->set_ref(set) : set;
}

static inline void guestprof_set_unref(guestprof_module_set *set)
{
	const struct guestprof_api *api = guestprof_get();

	if (api != NULL)
		api->set_unref(set);
}

static inline int guestprof_profile_new(const char *name, uint64_t interval_ns,
					guestprof_module_set *set, guestprof_profile **profile)
{
	const struct guestprof_api *api = guestprof_get();

	if (api != NULL)
		return api->profile_new(name, interval_ns, set, profile);
	*profile = NULL;
	return GUESTPROF_NOT_LOADED;
}

static inline int guestprof_profile_sample(guestprof_profile *profile, uint64_t cpu_delta_ns)
{
	const struct guestprof_api *api = guestprof_get();

	return api != NULL ? api->profile_sample(profile, cpu_delta_ns) : GUESTPROF_NOT_LOADED;
}

static inline int guestprof_profile_host_call(guestprof_profile *profile, int begin,
					      const char *name)
{
	const struct guestprof_api *api = guestprof_get();

	return api != NULL ? api->profile_host_call(profile, begin, name) : GUESTPROF_NOT_LOADED;
}

static inline int guestprof_profile_finish(guestprof_profile *profile, const char *path)
{
	const struct guestprof_api *api = guestprof_get();

	return api != NULL ? api->profile_finish(profile, path) : GUESTPROF_NOT_LOADED;
}

static inline void guestprof_profile_drop(guestprof_profile *profile)
{
	const struct guestprof_api *api = guestprof_get();

	if (api != NULL)
		api->profile_drop(profile);
}

/* GUESTPROF_NOT_LOADED also from an older library, which has no labels. */
static inline int guestprof_instance_label(enum guestprof_handle kind, const void *store,
					   const void *instance, const char *key, const char *value)
{
	const struct guestprof_api *api = guestprof_get();

	if (api == NULL || api->size < offsetof(struct guestprof_api, instance_label) +
					       sizeof(api->instance_label))
		return GUESTPROF_NOT_LOADED;
	return api->instance_label((int)kind, store, instance, key, value);
}

#ifdef __cplusplus
}
#endif

#endif /* GUESTPROF_H */
