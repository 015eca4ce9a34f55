/* SPDX-License-Identifier: MIT */
/*
 * audit_fuzz.c - libFuzzer entry: any bytes as a file to be audited, by itself and against itself.
 *
 *	scripts/fuzz 600 audit
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "preload/share/audit.h"
#include "preload/share/audit_texts.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void note(void *context, const char *where, const char *what)
{
	size_t *count = context;

	/* Both are terminated texts. */
	*count += where[0] != '\0' && what[0] != '\0';
}

static void look(const struct selection *selection, const struct audit_texts *texts,
		 const uint8_t *bytes, size_t size)
{
	size_t count = 0;
	struct audit audit = {
		.selection = selection,
		.texts = texts,
		.found = note,
		.context = &count,
	};
	int error = audit_bytes(&audit, bytes, size);

	if (count > audit.found_count || (error != 0 && error != -EBADMSG && error != -ENOMEM))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const struct selection by_label = { .by = SELECTION_LABEL,
					    .key = "tenant",
					    .value = "acme" };
	const struct selection by_module = { .by = SELECTION_MODULE, .value = "acme-app" };
	const struct selection by_instance = { .by = SELECTION_INSTANCE, .value = "acme-app#1" };
	struct audit_texts *texts = audit_texts_new();

	look(&by_label, NULL, bytes, size);
	look(&by_module, NULL, bytes, size);
	if (texts != NULL && audit_texts_add(texts, bytes, size, bytes, size / 2) == 0 &&
	    audit_texts_finish(texts) == 0)
		look(&by_instance, texts, bytes, size);
	audit_texts_free(texts);
	return 0;
}
