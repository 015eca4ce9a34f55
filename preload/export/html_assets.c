/* SPDX-License-Identifier: MIT */
/* html_assets.c - takes the files in html/ into the program, as they are. The assembler finds them
 * from the root of the project; the Makefile names them as what this depends on. */
#include "preload/export/html_assets.h"

#define HIDDEN __attribute__((visibility("hidden")))

/* The bytes of FILE between two symbols that only this file sees. */
#define ASSET(symbol, file)                                     \
	__asm__(".pushsection .rodata.html, \"a\", @progbits\n" \
		"html_asset_" #symbol ":\n"                     \
		".incbin \"preload/export/html/" file "\"\n"    \
		"html_asset_" #symbol "_end:\n"                 \
		".popsection\n");                               \
	extern const char html_asset_##symbol[] HIDDEN, html_asset_##symbol##_end[] HIDDEN;

#define BYTES(symbol, file)                                                                  \
	{                                                                                    \
		.name = file, .begin = html_asset_##symbol, .end = html_asset_##symbol##_end \
	}
#define ROW(symbol, file) BYTES(symbol, file),

#define SCRIPTS(EACH)                 \
	EACH(format, "format.js")     \
	EACH(data, "data.js")         \
	EACH(selected, "select.js")   \
	EACH(tree, "tree.js")         \
	EACH(search, "search.js")     \
	EACH(flame, "flame.js")       \
	EACH(describe, "describe.js") \
	EACH(table, "table.js")       \
	EACH(source, "source.js")     \
	EACH(heads, "heads.js")       \
	EACH(controls, "page.js")

ASSET(page, "page.html")
ASSET(style, "page.css")
SCRIPTS(ASSET)

const struct html_asset html_assets_page = BYTES(page, "page.html");
const struct html_asset html_assets_style = BYTES(style, "page.css");
const struct html_asset html_assets_scripts[HTML_ASSET_SCRIPTS] = { SCRIPTS(ROW) };
