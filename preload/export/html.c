/* SPDX-License-Identifier: MIT */
/* html.c - the page: its template with policy, style, script and data put in. Threads: one at a
 * time. */
#include "preload/export/html.h"

#include "preload/export/html_assets.h"
#include "preload/export/html_data.h"
#include "symtab/sha256.h"

#include <errno.h>
#include <string.h>

/* 4 characters for each 3 bytes begun (RFC 4648, 4), and the end. */
enum { HASH_TEXT_SIZE = (SHA256_SIZE + 2) / 3 * 4 + 1 };

static size_t asset_size(const struct html_asset *asset)
{
	return (size_t)(asset->end - asset->begin);
}

static void write_asset(const struct html_asset *asset, struct output *output)
{
	output_bytes(output, asset->begin, asset_size(asset));
}

static void encode_base64(const uint8_t digest[SHA256_SIZE], char text[HASH_TEXT_SIZE])
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < SHA256_SIZE; i += 3) {
		uint32_t three = 0;

		for (size_t j = i; j < i + 3; j++)
			three = three << 8 | (j < SHA256_SIZE ? digest[j] : 0);
		for (size_t j = 0; j < 4; j++)
			*text++ = letters[three >> (18 - 6 * j) & 63];
	}
	text[-1] = '='; /* 32 is 2 more than a multiple of 3 */
	*text = '\0';
}

/* The hash of the COUNT ASSETS put together, as a policy names it. */
static void write_hash(const struct html_asset *assets, size_t count, struct output *output)
{
	struct sha256 sha;
	uint8_t digest[SHA256_SIZE];
	char text[HASH_TEXT_SIZE];

	sha256_init(&sha);
	for (size_t i = 0; i < count; i++)
		sha256_add(&sha, assets[i].begin, asset_size(&assets[i]));
	sha256_end(&sha, digest);
	encode_base64(digest, text);
	output_text(output, text);
}

/* ---- what is put into the template ------------------------------------------------------------
 */

static int put_script_hash(const struct html_data *data, struct output *output)
{
	(void)data;
	write_hash(html_assets_scripts, HTML_ASSET_SCRIPTS, output);
	return 0;
}

static int put_style_hash(const struct html_data *data, struct output *output)
{
	(void)data;
	write_hash(&html_assets_style, 1, output);
	return 0;
}

static int put_script(const struct html_data *data, struct output *output)
{
	(void)data;
	for (size_t i = 0; i < HTML_ASSET_SCRIPTS; i++)
		write_asset(&html_assets_scripts[i], output);
	return 0;
}

static int put_style(const struct html_data *data, struct output *output)
{
	(void)data;
	write_asset(&html_assets_style, output);
	return 0;
}

static int put_data(const struct html_data *data, struct output *output)
{
	struct json json = { .output = output, .is_in_html = true };

	return html_data_write(data, &json);
}

static const struct part {
	const char *mark;
	int (*put)(const struct html_data *data, struct output *output);
} parts[] = {
	{ "{{script-hash}}", put_script_hash },
	{ "{{style-hash}}", put_style_hash },
	{ "{{script}}", put_script },
	{ "{{style}}", put_style },
	{ "{{data}}", put_data },
};

static const struct part *find_part(const char *at, const char *end)
{
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		size_t length = strlen(parts[i].mark);

		if (length <= (size_t)(end - at) && memcmp(at, parts[i].mark, length) == 0)
			return &parts[i];
	}
	return NULL;
}

static int write_page(const struct html_data *data, struct output *output)
{
	const char *at = html_assets_page.begin, *end = html_assets_page.end, *from = at;
	int error = 0;

	while (error == 0 && at < end) {
		const struct part *part = find_part(at, end);

		if (part == NULL) {
			at++;
			continue;
		}
		output_bytes(output, from, (size_t)(at - from));
		error = part->put(data, output);
		at += strlen(part->mark);
		from = at;
	}
	output_bytes(output, from, (size_t)(at - from));
	return error;
}

int html_write_change(const struct recording *before, const struct recording *after,
		      struct html_options *options, struct output *output)
{
	struct html_data data = {
		.recordings = { before, after },
		.tree.is_change = after != NULL,
		.names = { options->module_name, options->context },
	};
	int error = html_tree_add(&data.tree, before, 0, &data.names);

	if (error == 0 && after != NULL)
		error = html_tree_add(&data.tree, after, 1, &data.names);
	if (error == 0 && options->sources != NULL)
		error = html_sources_read(&data.sources, options->sources, &data.tree);
	options->sources_named = data.sources.named;
	options->sources_found = data.sources.count;
	if (error == 0)
		error = write_page(&data, output);
	html_sources_free(&data.sources);
	html_tree_free(&data.tree);
	return error;
}

int html_write(const struct recording *recording, struct html_options *options,
	       struct output *output)
{
	return html_write_change(recording, NULL, options, output);
}
