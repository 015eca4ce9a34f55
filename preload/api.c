/* SPDX-License-Identifier: MIT */
/*
 * api.c - guestprof.h's table: what a host may ask of us.
 *
 * Checks what came from outside, and sends to our thread what only it may touch.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/base/state.h"
#include "preload/errand.h"
#include "preload/guestprof.h"
#include "preload/hook/hook.h"
#include "preload/intake.h"
#include "preload/load/instance.h"
#include "preload/load/load.h"
#include "preload/manual.h"
#include "preload/profile/label_rules.h"
#include "preload/runtime/wasmtime_instance.h"
#include "preload/worker.h"
#include "symtab/symtab.h"

#define PATIENCE_NS UINT64_C(5000000000)
#define LONGEST_INTERVAL_NS UINT64_C(3600000000000)

/* The host's types are ours. */
static struct module_set *set_of(guestprof_module_set *set)
{
	return (struct module_set *)(void *)set;
}

static struct manual *manual_of(guestprof_profile *profile)
{
	return (struct manual *)(void *)profile;
}

struct reason {
	char *text;
	size_t size;
};

PRINTF_LIKE(3, 4) static int refuse(const struct reason *why, int error, const char *format, ...)
{
	va_list arguments;

	if (why->text != NULL && why->size > 0) {
		va_start(arguments, format);
		vsnprintf(why->text, why->size, format, arguments);
		va_end(arguments);
	}
	return error;
}

/* ---- sets -------------------------------------------------------------------------------------
 */

/* What is the matter with the module behind a handle; 0: nothing, its loading is *LOADING (0: skip
 * it). */
static int check_module(const void *module, const void *engine, size_t number,
			const struct reason *why, uint32_t *loading)
{
	struct load_facts facts = load_facts(module);

	*loading = facts.loading;
	/* an engine of which no module was seen made none of those that were */
	if (engine != NULL && facts.owner != 0 && facts.owner != load_owner(engine))
		return refuse(why, -EXDEV, "module %zu was made by another engine", number);
	switch (facts.verdict) {
	case LOAD_SEEN:
	case LOAD_EMPTY:
		return 0;
	case LOAD_GUEST_DEBUG:
		return refuse(
			why, -ENOTSUP,
			"module %zu: its engine has guest debugging on, which copies the code "
			"for each store",
			number);
	case LOAD_BROKEN:
	case LOAD_UNKNOWN:
		break;
	}
	return refuse(why, -ENOENT, "module %zu was not seen when it was loaded", number);
}

struct set_errand {
	const char *const *names;
	const uint32_t *loadings;
	size_t count;
	struct module_set *set;
};

static void make_set(void *argument)
{
	struct set_errand *errand = argument;

	intake_loads();
	errand->set = set_new(load_symtab(), errand->loadings, errand->names, errand->count);
}

static int set_from_loadings(struct set_errand *errand, const struct reason *why)
{
	int error;

	worker_start();
	error = errand_send(make_set, errand, PATIENCE_NS);
	if (error != 0)
		return refuse(why, error, "our thread did not answer");
	return errand->set != NULL ? 0 : refuse(why, -ENOMEM, "out of memory");
}

static int set_of_modules(const void *engine, const char *const *names, const void *const *modules,
			  size_t count, struct module_set **set, const struct reason *why)
{
	uint32_t *loadings = calloc(count + 1, sizeof(*loadings));
	struct set_errand errand = { .names = names, .loadings = loadings, .count = count };
	int error = loadings != NULL ? 0 : refuse(why, -ENOMEM, "out of memory");

	for (size_t i = 0; error == 0 && i < count; i++)
		error = check_module(modules[i], engine, i, why, &loadings[i]);
	if (error == 0)
		error = set_from_loadings(&errand, why);
	free(loadings);
	*set = errand.set;
	return error;
}

static int api_set_new(const void *engine, const char *const *names, const void *const *modules,
		       size_t count, guestprof_module_set **set, char *text, size_t text_size)
{
	const struct reason why = { text, text_size };
	struct module_set *made = NULL;
	int error;

	*set = NULL;
	refuse(&why, 0, "%s", "");
	if ((modules == NULL && count != 0) || count > UINT32_MAX)
		return refuse(&why, -EINVAL, "no modules are given");
	if (!atomic_load(&state.on))
		return refuse(&why, -ENOTSUP, "guestprof is off");
	if (!hook_begin())
		return refuse(&why, -EINVAL, "called from within guestprof");
	error = set_of_modules(engine, names, modules, count, &made, &why);
	hook_end();
	*set = (guestprof_module_set *)(void *)made;
	return error;
}

static guestprof_module_set *api_set_ref(guestprof_module_set *set)
{
	set_ref(set_of(set));
	return set;
}

static void api_set_unref(guestprof_module_set *set)
{
	set_unref(set_of(set));
}

static size_t api_set_count(const guestprof_module_set *set)
{
	return set_count((const struct module_set *)(const void *)set);
}

/* ---- profiles ---------------------------------------------------------------------------------
 */

static int api_profile_new(const char *name, uint64_t interval_ns, guestprof_module_set *set,
			   guestprof_profile **profile)
{
	struct manual *manual;

	*profile = NULL;
	if (name == NULL || set == NULL || interval_ns == 0 || interval_ns > LONGEST_INTERVAL_NS)
		return -EINVAL;
	manual = manual_new(name, interval_ns, set_of(set));
	*profile = (guestprof_profile *)(void *)manual;
	return manual != NULL ? 0 : -ENOMEM;
}

static int api_profile_sample(guestprof_profile *profile, uint64_t cpu_delta_ns)
{
	int result;

	if (profile == NULL)
		return -EINVAL;
	if (!hook_begin())
		return 0;
	result = manual_sample(manual_of(profile), cpu_delta_ns);
	hook_end();
	return result;
}

static int api_profile_host_call(guestprof_profile *profile, int begin, const char *name)
{
	int result;

	if (profile == NULL || (begin && name == NULL))
		return -EINVAL;
	if (!hook_begin())
		return 0;
	result = manual_host_call(manual_of(profile), begin != 0, name);
	hook_end();
	return result;
}

struct write_errand {
	struct manual *manual;
	const char *path;
	int error;
};

static void write_profile(void *argument)
{
	struct write_errand *errand = argument;

	errand->error = manual_write(errand->manual, errand->path, intake_prepare);
}

/* Our thread has our descriptors but the host's working directory; it may change meanwhile. */
static int absolute(const char *path, char *out)
{
	char directory[PATH_MAX];
	int length;

	if (*path == '/')
		length = snprintf(out, PATH_MAX, "%s", path);
	else if (getcwd(directory, sizeof(directory)) != NULL)
		length = snprintf(out, PATH_MAX, "%s/%s", directory, path);
	else
		return -errno;
	return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* The writer would go elsewhere where the process's recording may; a host that names a file means
 * it. */
static int check_folder(const char *path)
{
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s", path);
	*strrchr(folder, '/') = '\0';
	return access(*folder != '\0' ? folder : "/", W_OK | X_OK) == 0 ? 0 : -errno;
}

static int finish(struct manual *manual, const char *path)
{
	char full[PATH_MAX];
	struct write_errand errand = { .manual = manual, .path = full, .error = -EIO };
	int error = absolute(path, full);

	if (error == 0)
		error = check_folder(full);
	if (error != 0)
		return error;
	unlink(full); /* it is to be replaced; the writer would step aside */
	worker_start();
	error = errand_send(write_profile, &errand, PATIENCE_NS);
	return error != 0 ? error : errand.error;
}

static int api_profile_finish(guestprof_profile *profile, const char *path)
{
	int error = -EINVAL;

	if (profile == NULL)
		return -EINVAL;
	if (path != NULL && *path != '\0' && hook_begin()) {
		error = finish(manual_of(profile), path);
		hook_end();
	}
	manual_free(manual_of(profile));
	return error;
}

static void api_profile_drop(guestprof_profile *profile)
{
	manual_free(manual_of(profile));
}

/* ---- labels -----------------------------------------------------------------------------------
 */

static uint32_t instance_behind(int kind, const void *store, const void *instance)
{
	if (instance == NULL)
		return 0;
	switch (kind) {
	case GUESTPROF_INSTANCE:
		return runtime_instance_behind(store, instance);
	case GUESTPROF_COMPONENT_INSTANCE:
		return runtime_component_instance_behind(store, instance);
	case GUESTPROF_WASM_INSTANCE:
		return runtime_wasm_instance_behind(instance);
	default:
		return 0;
	}
}

static int label(int kind, const void *store, const void *instance, const char *key,
		 const char *value)
{
	uint64_t store_id;
	uint32_t id;

	if (kind == GUESTPROF_STORE) {
		store_id = runtime_store_behind(store);
		return store_id != 0 ? instance_label_store(store_id, key, value) : -ENOENT;
	}
	id = instance_behind(kind, store, instance);
	return id != 0 ? instance_label(id, key, value) : -ENOENT;
}

static int api_instance_label(int kind, const void *store, const void *instance, const char *key,
			      const char *value)
{
	int error;

	if (kind < GUESTPROF_INSTANCE || kind > GUESTPROF_STORE || key == NULL ||
	    !namelist_key_is_good(key, strlen(key)))
		return -EINVAL;
	if (!hook_begin())
		return -ENOENT; /* off: no instance is known */
	error = label(kind, store, instance, key, value != NULL ? value : "");
	hook_end();
	return error;
}

extern EXPORT const struct guestprof_api guestprof_api;
const struct guestprof_api guestprof_api = {
	.version = GUESTPROF_API_VERSION,
	.size = sizeof(struct guestprof_api),
	.set_new = api_set_new,
	.set_ref = api_set_ref,
	.set_unref = api_set_unref,
	.set_count = api_set_count,
	.profile_new = api_profile_new,
	.profile_sample = api_profile_sample,
	.profile_host_call = api_profile_host_call,
	.profile_finish = api_profile_finish,
	.profile_drop = api_profile_drop,
	.instance_label = api_instance_label,
};
