/* SPDX-License-Identifier: MIT */
/*
 * push.h - a recording as the requests that servers of profiles take: one or more pprof profiles,
 * each within their bounds, in JSON.
 *
 * Pyroscope: push.v1.PushRequest of POST /push.v1.PusherService/Push (Connect, JSON). Parca:
 * parca.profilestore.v1alpha1.WriteRawRequest of POST /api/profiles/writeraw. Both make series of
 * string labels, so a sample has none but wasm_module and the user's, and wasm_instance on request,
 * and there are few of them (pprof.h).
 */
#ifndef PRELOAD_EXPORT_PUSH_H
#define PRELOAD_EXPORT_PUSH_H

#include "preload/read/reader.h"

enum push_api { PUSH_PYROSCOPE, PUSH_PARCA };

/* Pyroscope takes 16,000 samples and 4 MiB. */
enum { PUSH_SAMPLES_MAX = 12000, PUSH_SIZE_MAX = 3 << 20, PUSH_LABELS_MAX = 32 };

struct push_options {
	enum push_api api;
	bool by_instance;
	const char *service;				/* service_name; borrowed, as all texts */
	struct recording_label labels[PUSH_LABELS_MAX]; /* of every profile */
	size_t label_count;
};

/* Calls SEND with each body, which is taken over. Stops at an error of it, and returns that. */
typedef int push_send(void *context, uint8_t *body, size_t size, size_t samples);

/*
 * Makes the bodies of RECORDING. 0, the error of SEND, -ENOMEM; -E2BIG: one sample alone is over
 * the bound; the others were sent.
 */
int push_make(const struct recording *recording, const struct push_options *options,
	      push_send *send, void *context);

/* Where a request goes, below the server's address. */
const char *push_path(enum push_api api);

#endif /* PRELOAD_EXPORT_PUSH_H */
