/* SPDX-License-Identifier: MIT */
/* hostcall.c - names of host calls. Threads: ours. */
#include "preload/profile/hostcall.h"

#include <string.h>

#include "preload/load/callbacks.h"
#include "preload/profile/hostnames.h"
#include "preload/profile/plumbing.h"

enum { MAX_NAME = 256 };

static const char *keep_name(struct resolved *out, const char *name, size_t length)
{
	char *kept = out->names + out->names_used;

	if (length >= sizeof(out->names) - out->names_used)
		return NULL;
	memcpy(kept, name, length);
	kept[length] = '\0';
	out->names_used += length + 1;
	return kept;
}

const char *hostcall_from_site(struct resolver *self, uint64_t guest_pc)
{
	const struct symtab_entry *entry;
	char name[MAX_NAME];
	size_t length = 0;

	if (self->site == guest_pc)
		return self->site_name;
	entry = symtab_find(self->symtab, guest_pc - 1, self->sample->generation);
	if (entry != NULL)
		length = module_called_import(entry->module, guest_pc - 1 - entry->text, name,
					      sizeof(name));
	self->site = guest_pc;
	self->site_name = length == 0 ? NULL : keep_name(self->out, name, length);
	self->site_entry = self->site_name != NULL ? entry : NULL;
	return self->site_name;
}

/*
 * `wasmtime_wasi::p1::wasi_snapshot_preview1::random_get` is how wiggle calls the import
 * `wasi_snapshot_preview1.random_get`, which is what NAME becomes.
 */
static void make_wasi_name(char *name)
{
	static const char module[] = "wasi_snapshot_preview1::";
	char *found = strstr(name, module), *function;
	size_t length;

	if (found == NULL)
		return;
	function = found + sizeof(module) - 1;
	length = strspn(function, "abcdefghijklmnopqrstuvwxyz_0123456789");
	if (length == 0 || function[length] != '\0')
		return;
	memmove(name, found, sizeof(module) - 3);
	name[sizeof(module) - 3] = '.';
	memmove(name + sizeof(module) - 2, function, length + 1);
}

/* From the guest's side on: the first frame that is the host's own. */
static const char *from_host_frames(struct resolver *self, size_t depth)
{
	char given[CALLBACKS_NAME];
	struct hostname name;

	for (size_t i = depth; i-- > 0;) {
		uint64_t pc = resolver_lookup(self, i);

		if (resolver_is_ours(pc))
			continue;
		if (callbacks_find((uintptr_t)unwind_function_start(pc), given))
			return keep_name(self->out, given, strlen(given));
		hostnames_find(pc, &name);
		if (plumbing_is(name.object, name.is_symbol ? name.shown : NULL))
			continue;
		make_wasi_name(name.shown);
		return keep_name(self->out, name.shown, strlen(name.shown));
	}
	return NULL;
}

struct frame hostcall_frame(struct resolver *self, uint64_t guest_pc, size_t depth)
{
	struct frame frame = { .kind = FRAME_HOST, .call = hostcall_from_site(self, guest_pc) };

	if (frame.call != NULL)
		frame.importer = self->site_entry;
	/* Whole stacks show the host's frames themselves. */
	else if (self->stacks != STACKS_FULL)
		frame.call = from_host_frames(self, depth);
	return frame;
}
