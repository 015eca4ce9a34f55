/* SPDX-License-Identifier: MIT */
/*
 * tenants.h - a recording with samples of two tenants, for the tests of what may be shared of it.
 */
#ifndef TESTS_UNIT_ENCODE_TENANTS_H
#define TESTS_UNIT_ENCODE_TENANTS_H

#include "preload/share/shared.h"
#include "tests/unit/encode/recordings.h"

#define ACME_IDENTITY SMALL_IDENTITY
#define RIVAL_IDENTITY EVIL_IDENTITY

/* How the recordings of two hosts may differ. */
struct neighbours {
	const char *name, *thread, *host_function; /* of the neighbour; NULL name: there is none */
	bool come_first;			   /* their rows are made before acme's */
	uint64_t load;				   /* their samples */
	uint64_t start_ns;			   /* of acme's first sample */
};

struct tenant_places {
	uint64_t serve, render, glue, grow, fetch, host, jit, rival;
};

/* As built_function() and built_location(), but nothing depends on the rows before. */
static inline uint64_t tenant_function(struct built *built, const char *name, const char *filename)
{
	uint64_t name_index = built_string(built, name), file_index = built_string(built, filename);
	size_t mark = pb_begin(&built->out, 5);

	pb_varint(&built->out, 1, ++built->functions);
	pb_varint(&built->out, 2, name_index);
	pb_varint(&built->out, 4, file_index);
	pb_varint(&built->out, FUNCTION_WASM_INDEX, strlen(name));
	pb_end(&built->out, mark);
	return built->functions;
}

static inline uint64_t tenant_location(struct built *built, uint64_t mapping, uint64_t address,
				       enum frame_kind kind, uint64_t function)
{
	size_t mark = pb_begin(&built->out, 4), line;

	pb_varint(&built->out, 1, ++built->locations);
	pb_varint(&built->out, 2, mapping);
	pb_varint(&built->out, 3, address);
	line = pb_begin(&built->out, 4);
	pb_varint(&built->out, 1, function);
	pb_varint(&built->out, 2, address / 2);
	pb_end(&built->out, line);
	pb_varint(&built->out, LOCATION_KIND, kind);
	pb_varint(&built->out, LOCATION_ADDRESS_IS_WASM, 1);
	pb_end(&built->out, mark);
	return built->locations;
}

/* What built_location() makes, of a host call that is an import of MAPPING. */
static inline uint64_t built_import(struct built *built, uint64_t mapping, uint64_t function)
{
	size_t mark = pb_begin(&built->out, 4), line;

	pb_varint(&built->out, 1, ++built->locations);
	line = pb_begin(&built->out, 4);
	pb_varint(&built->out, 1, function);
	pb_end(&built->out, line);
	pb_varint(&built->out, LOCATION_KIND, FRAME_HOST);
	pb_varint(&built->out, LOCATION_IMPORTER, mapping);
	pb_end(&built->out, mark);
	return built->locations;
}

static inline void build_acme(struct built *built, struct tenant_places *at)
{
	uint64_t app = built_mapping(built, "acme-app", ACME_IDENTITY);
	uint64_t serve = tenant_function(built, "serve", "acme-app");
	uint64_t render = tenant_function(built, "acme::render", "src/render.rs");
	uint64_t glue = tenant_function(built, "[guest to host]", "acme-app");
	uint64_t grow = tenant_function(built, "memory.grow", "");
	uint64_t fetch = tenant_function(built, "platform.fetch", "");

	at->serve = tenant_location(built, app, 300, FRAME_GUEST, serve);
	at->render = tenant_location(built, app, 512, FRAME_GUEST, render);
	at->glue = tenant_location(built, app, 20, FRAME_TRAMPOLINE, glue);
	at->grow = tenant_location(built, app, 77, FRAME_BUILTIN, grow);
	at->fetch = built_import(built, app, fetch);
}

static inline void build_rival(struct built *built, const struct neighbours *neighbours,
			       struct tenant_places *at)
{
	uint64_t host = built_mapping(built, "[host]", "");
	uint64_t code = tenant_function(built, neighbours->host_function, "");

	at->host = tenant_location(built, host, 0, FRAME_HOST, code);
	at->jit = tenant_location(built, 0, 0x7f0012345000, FRAME_JIT, code);
	at->rival = at->host;
	if (neighbours->name != NULL) {
		uint64_t rival = built_mapping(built, neighbours->name, RIVAL_IDENTITY);
		uint64_t charge = tenant_function(built, "rival::charge_card", neighbours->name);

		at->rival = tenant_location(built, rival, 8, FRAME_GUEST, charge);
	}
}

/* With the label tenant=OWNER, and tier=free. */
static inline void built_tenant_sample(struct built *built, const char *owner,
				       const struct built_sample *sample)
{
	static const char *const keys[] = { "wasm_module", "wasm_instance", "wasm_state",
					    "thread_name", "tenant",	    "tier" };
	const char *texts[] = { sample->module, sample->instance,
				sample->state,	sample->thread_name,
				owner,		"free" };
	uint64_t key_index[8], text_index[6], values[] = { sample->count, sample->cpu_ns };
	size_t count = 0, mark;

	for (int i = 0; i < 6; i++) {
		key_index[i] = built_string(built, keys[i]);
		text_index[i] = built_string(built, texts[i]);
	}
	key_index[6] = built_string(built, "thread_id");
	key_index[7] = built_string(built, "time");
	while (sample->locations[count] != 0)
		count++;
	mark = pb_begin(&built->out, 2);
	pb_packed(&built->out, 1, sample->locations, count);
	pb_packed(&built->out, 2, values, 2);
	for (int i = 0; i < 6; i++)
		built_label(built, key_index[i], text_index[i], 0);
	built_label(built, key_index[6], 0, sample->thread_id);
	built_label(built, key_index[7], 0, sample->time_ns);
	pb_end(&built->out, mark);
}

static inline void build_acme_samples(struct built *built, const struct neighbours *neighbours,
				      const struct tenant_places *at)
{
	struct built_sample sample = {
		.module = "acme-app",
		.instance = "acme-app#12",
		.state = "guest",
		.thread_name = neighbours->thread,
		.thread_id = 4243,
		.count = 10,
		.cpu_ns = 100000000,
		.time_ns = neighbours->start_ns,
		/* called by a neighbour */
		.locations = { at->render, at->serve, at->host, at->rival },
	};

	built_tenant_sample(built, "acme", &sample);
	sample.state = "host";
	sample.instance = "acme-app#2.7";
	sample.time_ns += 1234567890;
	memcpy(sample.locations,
	       (uint64_t[]){ at->host, at->jit, at->fetch, at->glue, at->serve, 0 },
	       6 * sizeof(uint64_t));
	built_tenant_sample(built, "acme", &sample);
	sample.state = "builtin";
	sample.instance = "acme-app#*";
	memcpy(sample.locations, (uint64_t[]){ at->grow, at->render, at->serve, 0 },
	       4 * sizeof(uint64_t));
	built_tenant_sample(built, "acme", &sample);
}

static inline void build_tenants(struct built *built, const struct neighbours *neighbours)
{
	static const uint64_t states[STATE_COUNT] = { 10, 10, 10, 0 };
	struct tenant_places at = { 0 };

	built_begin(built);
	built_info(built, true);
	if (neighbours->come_first)
		build_rival(built, neighbours, &at);
	build_acme(built, &at);
	if (!neighbours->come_first)
		build_rival(built, neighbours, &at);
	if (neighbours->name != NULL)
		built_tenant_sample(built, "rival",
				    &(struct built_sample){
					    .module = neighbours->name,
					    .instance = "rival-app#1",
					    .state = "guest",
					    .thread_name = neighbours->thread,
					    .locations = { at.rival, at.serve },
					    .count = neighbours->load,
					    .cpu_ns = neighbours->load * 10000000,
				    });
	build_acme_samples(built, neighbours, &at);
	built_group(built, "acme-app", ACME_IDENTITY, 3, 30, 300000000, states);
	built_stats(built, neighbours->load);
	pb_varint(&built->out, 10, 60000000000);
}

static inline void tenant_selection(struct selection *selection)
{
	*selection = (struct selection){ 0 };
	if (selection_set_label(selection, "tenant=acme") != 0)
		abort();
}

/* BYTES, a profile, as it may be shared; to be freed with pb_free(). */
static inline struct pb_writer share_bytes(const void *bytes, size_t size,
					   const struct selection *selection,
					   const struct shared_options *options)
{
	char *path = write_bytes(NULL, bytes, size), *why = NULL;
	struct recording *recording = recording_read(path, &why);
	struct pb_writer out = { 0 };
	struct shared shared;

	if (recording == NULL || shared_build(&shared, recording, selection, options) != 0)
		abort();
	shared_encode(&shared, &out);
	shared_free(&shared);
	recording_free(recording);
	unlink(path);
	free(path);
	return out;
}

/* What acme gets of a host with NEIGHBOURS. */
static inline struct pb_writer share_with_acme(const struct neighbours *neighbours,
					       const struct shared_options *options)
{
	struct built *built = calloc(1, sizeof(*built));
	struct selection selection;
	struct pb_writer out;

	tenant_selection(&selection);
	build_tenants(built, neighbours);
	out = share_bytes(built->out.bytes, built->out.size, &selection, options);
	selection_free(&selection);
	built_free(built);
	return out;
}

static const struct neighbours quiet_host = {
	.thread = "worker",
	.host_function = "billing::charge",
	.start_ns = 5000000,
};
static const struct neighbours busy_host = {
	.name = "rival-app",
	.thread = "rival-worker",
	.host_function = "crm::lookup",
	.come_first = true,
	.load = 777,
	.start_ns = 987654321,
};

#endif /* TESTS_UNIT_ENCODE_TENANTS_H */
