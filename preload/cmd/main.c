/* SPDX-License-Identifier: MIT */
/* main.c - the `guestprof` command: finds the subcommand and runs it. */
#include "preload/cmd/command.h"
#include "preload/cmd/reading.h"
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
	  "[-o FILE] [-F HZ] [--stacks guest|hostcalls|full] [--wall] [--] CMD [ARGS] | -p PID -d "
	  "30s",
	  "run CMD and record its WebAssembly guests; or those of a preloaded process that runs" },
	{ "report", report_command,
	  "[--by group|module|label:KEY|instance|thread|function|line] [--tree] [--cum] [--lines] "
	  "[-n ROWS] [--json] [--names FILE] [--wasm FILE|DIR] [FILTERS] [FILE...]",
	  "who used the CPU, then the hottest functions" },
	{ "diff", diff_command,
	  "[--fail-above POINTS] [--json | --to folded|html [-o OUT]] [-n ROWS] [FILTERS] BEFORE "
	  "AFTER",
	  "what changed, by share of the CPU time, and what is only noise" },
	{ "export", export_command,
	  "--to firefox|speedscope|folded|pprof|html [-o OUT] [--by instance] [--value wall] "
	  "[--groups N] [--sources DIR] [--wasm FILE|DIR] [FILTERS] [FILE...]",
	  "for the Firefox Profiler, speedscope, flame graphs, pprof's readers, browsers" },
	{ "merge", merge_command, "-o OUT [FILTERS] [FILE...]",
	  "several recordings, or a part of one, as one recording" },
	{ "view", view_command,
	  "[--to html|firefox] [--sources DIR] [--once] [--timeout SECONDS] [--no-open] [FILTERS] "
	  "[FILE...]",
	  "in the browser: a flame graph, and the Firefox Profiler; the data stays here" },
	{ "id", id_command, "[--json] FILE... | --match FILE.wasm FILE... | --names FILE",
	  "which modules files are; whether a wasm file is what ran; what functions are called" },
	{ "symbolize", symbolize_command,
	  "[--wasm FILE|DIR] [--source-map FROM=TO] [-o OUT] [FILE]",
	  "the same recording with names, lines and inlined callers from wasm files" },
	{ "share", share_command,
	  "--label KEY=VALUE|--module NAME|--instance NAME [--keep-label KEY] [--no-time] "
	  "[--with-debug] -o OUT FILE...",
	  "a file that is safe to hand to a tenant" },
	{ "audit", audit_command,
	  "--label KEY=VALUE|--module NAME|--instance NAME [--keep-label KEY] [--with-debug] "
	  "[--against REC]... FILE",
	  "is there anything in FILE that is not the tenant's? 1: yes, and what" },
	{ "list", list_command, "[--dir DIR] [--json]",
	  "processes that guestprof is preloaded into, and which of them record" },
	{ "status", status_command, "[--json] [--dir DIR] [PID|SOCKET...]",
	  "what a preloaded process records, since when, and who started it" },
	{ "start", start_command,
	  "[--duration 30s] [--hz HZ] [--stacks guest|hostcalls|full] [--dir DIR] [PID|SOCKET...]",
	  "let a preloaded process record" },
	{ "stop", stop_command, "[--dir DIR] [PID|SOCKET...]", "end its recording" },
	{ "dump", dump_command, "[--last 60s] [-o FILE] [--dir DIR] [PID|SOCKET]",
	  "get what it recorded, or the last minute of it" },
	{ "top", top_command, "[-n COUNT] [--dir DIR] [PID|SOCKET]",
	  "who uses the CPU now, again each second" },
	{ "serve", serve_command,
	  "[--dir DIR]... [--listen 127.0.0.1:6060] [--token-file FILE] [PID|SOCKET...]",
	  "profiles of running processes over HTTP, for pprof, Parca, Pyroscope, Alloy, "
	  "Prometheus" },
	{ "push", push_command,
	  "--to URL [--api pyroscope|parca] [--label KEY=VALUE]... [--by instance] [--token-file "
	  "FILE] [--header-file FILE] [--follow DIR [--every 15s] | FILE...]",
	  "send recordings, or what running processes write into DIR, to Pyroscope or Parca" },
	{ "doctor", doctor_command, "[--json] PID | -- CMD [ARGS]",
	  "what will be seen of a program or process, what not, and why; 3: nothing" },
	{ "lib", lib_command, "", "path of the library, for LD_PRELOAD" },
};

static void print_subcommand(const struct subcommand *subcommand, FILE *out)
{
	fprintf(out, "  guestprof %s %s\n      %s\n", subcommand->name, subcommand->usage,
		subcommand->meaning);
}

static int print_help(FILE *out)
{
	fputs("guestprof: CPU profiles of WebAssembly guests inside unmodified hosts\n\n", out);
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++)
		print_subcommand(&subcommands[i], out);
	fputs("  guestprof --version | --help\n\n"
	      "FILE is a recording, or any pprof profile, a directory of them, a glob, or - ; "
	      "without "
	      "one it is\nthe newest recording here. Several are read as one.\n" READING_HELP,
	      out);
	return fflush(out) == 0 ? COMMAND_OK : COMMAND_BAD;
}

/* As the first word only: what follows may be the host's. */
static bool asks_for_help(int argc, char **argv)
{
	return argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
}

static int run(const struct subcommand *subcommand, int argc, char **argv)
{
	char title[64];

	if (!asks_for_help(argc, argv)) {
		/* What getopt_long() puts before its own lines. */
		snprintf(title, sizeof(title), "guestprof: %s", subcommand->name);
		argv[0] = title;
		return subcommand->run(argc, argv);
	}
	print_subcommand(subcommand, stdout);
	if (strstr(subcommand->usage, "FILTERS") != NULL)
		fputs(READING_HELP, stdout);
	return fflush(stdout) == 0 ? COMMAND_OK : COMMAND_BAD;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		print_help(stderr);
		return COMMAND_BAD;
	}
	if (asks_for_help(argc, argv) || strcmp(argv[1], "help") == 0)
		return print_help(stdout);
	if (strcmp(argv[1], "--version") == 0) {
		puts("guestprof " RECORDING_LIBRARY_VERSION);
		return COMMAND_OK;
	}
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++) {
		if (strcmp(argv[1], subcommands[i].name) == 0)
			return run(&subcommands[i], argc - 1, argv + 1);
	}
	say_line("%s: no such subcommand; guestprof --help names them", argv[1]);
	return COMMAND_BAD;
}
