/* SPDX-License-Identifier: MIT */
/* main.c - the `guestprof` command: finds the subcommand and runs it. */
#include "preload/cmd/command.h"
#include "preload/cmd/say.h"
#include "preload/encode/recording.h"

#include <stdio.h>
#include <string.h>

static const struct subcommand {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *usage, *meaning;
} subcommands[] = {
	{ "record", record_command,
	  "[-o FILE] [-F HZ] [--stacks guest|hostcalls|full] [--] CMD [ARGS]",
	  "run CMD and record its WebAssembly guests" },
	{ "report", report_command, "[--json] [-n N] [--by instance] [FILE...]",
	  "who used the CPU, then the hottest functions" },
	{ "export", export_command, "--to firefox|folded [-o OUT] [--by instance] [FILE]",
	  "for the Firefox Profiler, or as folded stacks" },
	{ "lib", lib_command, "", "path of the library, for LD_PRELOAD" },
};

static int print_help(FILE *out)
{
	fputs("guestprof: CPU profiles of WebAssembly guests inside unmodified hosts\n\n", out);
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++)
		fprintf(out, "  guestprof %s %s\n      %s\n", subcommands[i].name,
			subcommands[i].usage, subcommands[i].meaning);
	fputs("  guestprof --version | --help\n\n"
	      "FILE is a recording, or any pprof profile; without one it is the newest recording "
	      "here.\n",
	      out);
	return fflush(out) == 0 ? COMMAND_OK : COMMAND_BAD;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		print_help(stderr);
		return COMMAND_BAD;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0)
		return print_help(stdout);
	if (strcmp(argv[1], "--version") == 0) {
		puts("guestprof " RECORDING_LIBRARY_VERSION);
		return COMMAND_OK;
	}
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++) {
		if (strcmp(argv[1], subcommands[i].name) == 0)
			return subcommands[i].run(argc - 1, argv + 1);
	}
	say_line("%s: no such subcommand; guestprof --help names them", argv[1]);
	return COMMAND_BAD;
}
