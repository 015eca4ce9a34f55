/* SPDX-License-Identifier: MIT */
/*
 * dl_test.c - a host must not see the difference: programs run with and without the hooks.
 *
 * Builds small hosts, engines and a preload library out of the hook room's own sources, in a folder
 * of its own, and compares standard output. The preload counts what it observed on standard error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/guestprof-dl-XXXXXX";

static void write_file(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

__attribute__((format(printf, 1, 2))) static int shell(const char *format, ...)
{
	char command[2048];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	return WEXITSTATUS(system(command));
}

/* Compiles SOURCE to FOLDER/NAME with FLAGS. */
static void build(const char *name, const char *source, const char *flags)
{
	char file[128];

	snprintf(file, sizeof(file), "%s.c", name);
	write_file(file, source);
	assert_int_equal(
		shell("cd %s && cc -w -g -D_GNU_SOURCE -o %s %s.c -L. -Wl,-rpath,'$ORIGIN' "
		      "-Wl,--no-as-needed %s",
		      folder, name, name, flags),
		0);
}

#define LIBRARY "-shared -fPIC "

static const char probe_source[] =
	"#include <stdio.h>\n"
	"#include <pthread.h>\n"
	"#include \"preload/hook/hook.h\"\n"
	"static atomic_int calls;\n"
	"EXPORT int engine_tag(void);\n"
	"HOOK(engine_tag);\n"
	"int engine_tag(void)\n"
	"{\n"
	"	int (*real)(void) = REAL(engine_tag);\n"
	"	if (hook_begin()) { calls++; errno = 99; hook_end(); }\n"
	"	return real();\n"
	"}\n"
	"EXPORT int engine_absent(void);\n"
	"HOOK(engine_absent);\n"
	"int engine_absent(void) { return REAL(engine_absent)(); }\n"
	"EXPORT void __register_frame(const void *begin);\n"
	"HOOK(__register_frame);\n"
	"void __register_frame(const void *begin) { REAL(__register_frame)(begin); calls++; }\n"
	"__attribute__((constructor)) static void on(void)\n"
	"{ state.on = true; pthread_atfork(NULL, NULL, hook_fork_child); }\n"
	"__attribute__((destructor)) static void off(void)\n"
	"{ fprintf(stderr, \"observed %d\\n\", calls); }\n";

/* The hooks alone, as a preload library, for each way to build it. */
static const struct {
	const char *name, *flags;
} builds[] = {
	{ "probe-O0.so", "-O0" },
	{ "probe-O2.so", "-O2" },
	{ "probe-pg.so", "-O1 -pg -fno-optimize-sibling-calls -fstack-protector-all" },
	{ "probe-ubsan.so", "-O1 -fsanitize=undefined -fsanitize-undefined-trap-on-error" },
};

static int set_up(void **context)
{
	char root[512];

	(void)context;
	if (access("preload/hook/hook.c", R_OK) != 0 || getcwd(root, sizeof(root)) == NULL) {
		print_message("skipped: not run from the top of the source tree\n");
		exit(77);
	}
	if (mkdtemp(folder) == NULL)
		return -1;
	write_file("probe.c", probe_source);
	write_file("probe.map", "{ global: dlsym; dlvsym; dlclose; dlerror; engine_*; "
				"__register_frame; local: *; };\n");
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++)
		if (shell("cc -std=gnu11 %s -g -fPIC -fvisibility=hidden -D_GNU_SOURCE -I. -shared "
			  "-o %s/%s %s/probe.c preload/hook/*.c preload/base/log.c "
			  "preload/base/state.c "
			  "preload/base/stats.c -Wl,--version-script=%s/probe.map -Wl,-z,defs "
			  "-Wl,-z,now",
			  builds[i].flags, folder, builds[i].name, folder, folder) != 0)
			return -1;
	build("libone.so", "int engine_tag(void) { return 1; } int other(void) { return 11; }",
	      LIBRARY);
	build("libtwo.so", "int engine_tag(void) { return 2; } int other(void) { return 22; }",
	      LIBRARY);
	return 0;
}

static int tear_down(void **context)
{
	(void)context;
	return getenv("KEEP") ? 0 : shell("rm -rf %s", folder);
}

/* Runs HOST with PRELOAD (NULL: none); its standard output goes to OUT. Returns the observed calls.
 */
static int run(const char *host, const char *preload, char *out, size_t size)
{
	char path[256];
	size_t length;
	FILE *file;
	int observed = -1;

	assert_int_equal(shell("cd %s && %s%s%s ./%s >out 2>err", folder,
			       preload ? "LD_PRELOAD=./" : "", preload ? preload : "",
			       preload ? "" : "", host),
			 0);
	snprintf(path, sizeof(path), "%s/out", folder);
	file = fopen(path, "r");
	assert_non_null(file);
	length = fread(out, 1, size - 1, file);
	out[length] = '\0';
	fclose(file);
	snprintf(path, sizeof(path), "%s/err", folder);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(path, sizeof(path), file) != NULL)
		sscanf(path, "observed %d", &observed);
	fclose(file);
	return observed;
}

/* HOST prints EXPECTED alone and under every build of the hooks, which observe OBSERVED calls. */
static void same_everywhere(const char *host, const char *expected, int observed)
{
	char out[4096];

	run(host, NULL, out, sizeof(out));
	assert_string_equal(out, expected);
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		int seen = run(host, builds[i].name, out, sizeof(out));

		assert_string_equal(out, expected);
		assert_int_equal(seen, observed);
	}
}

#define HOST_HEAD                                                                                \
	"#include <dlfcn.h>\n#include <errno.h>\n#include <stdio.h>\n#include <string.h>\n"      \
	"#define TAG(h) ((int (*)(void))dlsym(h, \"engine_tag\"))()\n"                           \
	"static void *open_one(void) { return dlopen(\"libone.so\", RTLD_NOW | RTLD_LOCAL); }\n" \
	"static void *open_two(void) { return dlopen(\"libtwo.so\", RTLD_NOW | RTLD_LOCAL); }\n" \
	"__attribute__((unused)) static void *(*openers[])(void) = { open_one, open_two };\n"

/* RTLD_NEXT from a library means the one after that library. */
static void next_keeps_the_caller(void **context)
{
	(void)context;
	build("libb.so", "int foo(void) { return 1; }", LIBRARY);
	build("liba.so",
	      "#include <dlfcn.h>\nint foo(void) { int (*next)(void) = dlsym(RTLD_NEXT, \"foo\");\n"
	      "return next == foo ? -99 : 10 + next(); }",
	      LIBRARY);
	build("next",
	      "#include <stdio.h>\nint foo(void);\nint main(void) { printf(\"%d\", foo()); }",
	      "-la -lb");
	same_everywhere("next", "11", 0);
}

/* RTLD_DEFAULT from a local library finds that library's own dependencies. */
static void default_keeps_the_caller(void **context)
{
	(void)context;
	build("libdep.so", "int only_here(void) { return 5; }", LIBRARY);
	build("libplug.so",
	      "#include <dlfcn.h>\nint ask(void) { int (*f)(void) = dlsym(RTLD_DEFAULT, "
	      "\"only_here\");\n"
	      "return f ? f() : -1; }\n"
	      "int ask_engine(void) { int (*f)(void) = dlsym(RTLD_DEFAULT, \"engine_tag\");\n"
	      "return f ? f() : -1; }\n",
	      LIBRARY "-ldep -lone");
	build("defaults",
	      HOST_HEAD "int main(void) { void *h = dlopen(\"libplug.so\", RTLD_NOW);\n"
			"printf(\"%d %d %d\", ((int (*)(void))dlsym(h, \"ask\"))(),\n"
			"((int (*)(void))dlsym(h, \"ask_engine\"))(), dlsym(RTLD_DEFAULT, "
			"\"only_here\") != 0); }",
	      "");
	same_everywhere("defaults", "5 1 0", 1);
}

/* Names that we hook and nobody defines: NULL, and the loader's own words. */
static void undefined_names_stay_undefined(void **context)
{
	(void)context;
	build("libasker.so",
	      "#include <dlfcn.h>\nvoid *ask_absent(void) { return dlsym(RTLD_DEFAULT, "
	      "\"engine_absent\"); }",
	      LIBRARY);
	build("undefined",
	      HOST_HEAD "void *ask_absent(void);\n"
			"static void show(void *p) { char *e = dlerror(); printf(\"%d %s\\n\", p "
			"!= 0, e ? e : \"-\");\n"
			"	printf(\"%s\\n\", dlerror() ? \"again\" : \"once\"); }\n"
			"int main(void) { void *h = open_one();\n"
			"show(dlsym(RTLD_DEFAULT, \"engine_absent\")); show(dlsym(RTLD_DEFAULT, "
			"\"engine_tag\"));\n"
			"show(dlsym(dlopen(NULL, RTLD_NOW), \"engine_absent\")); show(dlsym(h, "
			"\"engine_absent\"));\n"
			"show(ask_absent()); show(dlsym(h, \"nothing\")); show(dlvsym(h, "
			"\"engine_tag\", \"V1\"));\n"
			"show(dlvsym(RTLD_DEFAULT, \"engine_absent\", \"V1\")); show(dlsym(h, "
			"\"engine_tag\"));\n"
			"dlsym(h, \"nothing\"); dlsym(h, \"engine_tag\"); show(0);\n"
			"dlsym(RTLD_DEFAULT, \"engine_absent\"); dlsym(h, \"other\"); show(0); }\n",
	      "-lasker");
	{
		char alone[4096], hooked[4096];

		run("undefined", NULL, alone, sizeof(alone));
		assert_non_null(
			strstr(alone, "0 ./undefined: undefined symbol: engine_absent\nonce\n"));
		for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
			run("undefined", builds[i].name, hooked, sizeof(hooked));
			assert_string_equal(hooked, alone);
		}
	}
}

/* A text that waits for dlerror survives a call that makes us look things up. */
static void pending_error_survives_a_call(void **context)
{
	(void)context;
	build("libuse.so", "int engine_tag(void); int use(void) { return engine_tag(); }",
	      LIBRARY "-ltwo");
	build("pending",
	      HOST_HEAD "int use(void);\nint main(void) { open_one(); dlopen(\"/nothing.so\", "
			"RTLD_NOW); errno = 5;\n"
			"int tag = use(); int e = errno; char *t = dlerror(); printf(\"%d %d %s\", "
			"tag, e, t ? t : \"-\"); }",
	      "-luse");
	same_everywhere(
		"pending",
		"2 5 /nothing.so: cannot open shared object file: No such file or directory", 1);
}

/* Local engines, reached by handle, in turn, and after one of them is gone. */
static void two_engines_by_handle(void **context)
{
	(void)context;
	build("handles",
	      HOST_HEAD "int main(void) { void *a = open_one(), *b = open_two();\n"
			"int (*one)(void) = dlsym(a, \"engine_tag\"), (*two)(void) = dlsym(b, "
			"\"engine_tag\");\n"
			"printf(\"%d %d %d %d \", one(), two(), one(), two()); errno = 7;\n"
			"dlclose(a); printf(\"%d %d \", two(), errno); a = open_one(); printf(\"%d "
			"%d %d\", TAG(a), TAG(b), two()); }",
	      "");
	same_everywhere("handles", "1 2 1 2 2 7 1 2 2", 8);
}

static void two_engines_on_two_threads(void **context)
{
	(void)context;
	build("threads",
	      HOST_HEAD
	      "#include <pthread.h>\nstatic void *loop(void *o) { long wrong = 0;\n"
	      "void *(*open)(void) = o; int want = open == open_one ? 1 : 2;\n"
	      "for (int i = 0; i < 2000; i++) { void *h = open(); int (*tag)(void) = dlsym(h, "
	      "\"engine_tag\");\n"
	      "wrong += tag() != want; wrong += tag() != want; dlclose(h); } return (void *)wrong; "
	      "}\n"
	      "int main(void) { pthread_t t[4]; long wrong = 0; void *r;\n"
	      "for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, loop, openers[i & 1]);\n"
	      "for (int i = 0; i < 4; i++) { pthread_join(t[i], &r); wrong += (long)r; } "
	      "printf(\"%ld\", wrong); }",
	      "-lpthread");
	same_everywhere("threads", "0", 16000);
}

/* One engine linked, one opened: whose calls go where is the loader's business. */
static void linked_and_opened_engines(void **context)
{
	(void)context;
	build("libuser2.so", "int engine_tag(void); int use(void) { return engine_tag(); }",
	      LIBRARY "-ltwo");
	build("linked",
	      HOST_HEAD
	      "int engine_tag(void);\nint main(void) { void *b = open_two(), *u = "
	      "dlopen(\"libuser2.so\", RTLD_NOW);\n"
	      "printf(\"%d %d %d \", engine_tag(), TAG(b), ((int (*)(void))dlsym(u, \"use\"))());\n"
	      "dlclose(b); printf(\"%d %d %d\", engine_tag(), ((int (*)(void))dlsym(u, "
	      "\"use\"))(), TAG(RTLD_DEFAULT)); }",
	      "-lone");
	same_everywhere("linked", "1 2 1 1 1 1", 6);
}

/* A plugin keeps the engine that it was bound to when another becomes global later. */
static void later_global_engine_changes_nothing(void **context)
{
	(void)context;
	build("libuser3.so", "int engine_tag(void); int use(void) { return engine_tag(); }",
	      LIBRARY "-ltwo -Wl,-z,now");
	build("later",
	      HOST_HEAD "int main(void) { void *u = dlopen(\"libuser3.so\", RTLD_NOW); int "
			"(*use)(void) = dlsym(u, \"use\");\n"
			"printf(\"%d \", use()); void *g = dlopen(\"libone.so\", RTLD_NOW | "
			"RTLD_GLOBAL); dlclose(open_two());\n"
			"printf(\"%d %d \", use(), TAG(RTLD_DEFAULT)); u = dlopen(\"libdep.so\", "
			"RTLD_NOW); dlclose(u); printf(\"%d\", use()); }",
	      "");
	same_everywhere("later", "2 2 1 2", 4);
}

/* The executable is the engine, and exports its API. */
static void engine_in_the_executable(void **context)
{
	(void)context;
	build("libcaller.so", "int engine_tag(void); int use(void) { return engine_tag(); }",
	      LIBRARY);
	build("static",
	      HOST_HEAD "int use(void); int engine_tag(void) { return 3; }\n"
			"int main(void) { void *a = open_one(); printf(\"%d %d %d %d\", "
			"engine_tag(), use(), TAG(RTLD_DEFAULT), TAG(a)); }",
	      "-rdynamic -lcaller");
	same_everywhere("static", "3 3 3 1", 2);
	/* A fixed executable that takes the address has an entry of its own for the name. */
	build("fixed",
	      HOST_HEAD "int engine_tag(void); int (*volatile tag)(void) = engine_tag;\n"
			"int main(void) { int (*found)(void) = dlsym(RTLD_DEFAULT, "
			"\"engine_tag\"); printf(\"%d %d\", tag(), found()); }",
	      "-fno-pie -no-pie -lone");
	same_everywhere("fixed", "1 1", 2);
}

/* dlsym under both its versions, and dlsym asked for dlsym. */
static void dlsym_finds_itself(void **context)
{
	(void)context;
	build("itself",
	      HOST_HEAD
	      "typedef void *(*ds)(void *, const char *); typedef void *(*dv)(void *, const char "
	      "*, const char *);\n"
	      "extern void *old_dlsym(void *, const char *); __asm__(\".symver old_dlsym, "
	      "dlsym@GLIBC_2.2.5\");\n"
	      "int main(void) { void *a = open_one(), *c = dlopen(\"libc.so.6\", RTLD_NOW);\n"
	      "ds s = dlsym(RTLD_DEFAULT, \"dlsym\"), l = dlsym(c, \"dlsym\"), n = "
	      "dlsym(RTLD_NEXT, \"dlsym\");\n"
	      "dv v = dlsym(c, \"dlvsym\"); ds w = v(c, \"dlsym\", \"GLIBC_2.2.5\");\n"
	      "ds all[] = { s, l, w, old_dlsym };\n"
	      "for (int i = 0; i < 4; i++) printf(\"%d \", ((int (*)(void))all[i](a, "
	      "\"engine_tag\"))());\n"
	      "printf(\"%d %d %d\", n(a, \"other\") != 0, dlsym(RTLD_DEFAULT, \"dlclose\") != 0, "
	      "v(c, \"dlsym\", \"V\") != 0); }",
	      "");
	same_everywhere("itself", "1 1 1 1 1 1 0", 4);
}

/* More engines than slots: the last are unobserved, and right; closing makes room. */
static void more_engines_than_slots(void **context)
{
	(void)context;
	build("many",
	      HOST_HEAD "#include <stdlib.h>\nint main(void) { int sum = 0; void *h[10]; char "
			"name[32], command[64];\n"
			"for (int round = 0; round < 3; round++) {\n"
			"for (int i = 0; i < 10; i++) { sprintf(name, \"./many%d.so\", i); h[i] = "
			"dlopen(name, RTLD_NOW); sum += TAG(h[i]); }\n"
			"for (int i = 0; i < 10; i++) dlclose(h[i]); } printf(\"%d\", sum); }",
	      "");
	for (int i = 0; i < 10; i++)
		assert_int_equal(shell("cp %s/libone.so %s/many%d.so", folder, folder, i), 0);
	same_everywhere("many", "30", 24);
}

/*
 * Plugins that are linked with an engine and jump to it, or hand its address out: the return
 * address is the host's. Bound at once (words that are read only then), or at the first call; one
 * is used before the other comes, and its function's address is kept.
 */
static void plugins_that_jump(void **context)
{
	static const char plugin[] =
		"int engine_tag(void); int use(void) { return engine_tag(); }\n"
		"int (*give(void))(void) { return engine_tag; }\n"
		"int (*const kept)(void) = engine_tag; int use_kept(void) { return kept(); }";
	static const char host[] =
		"#define GET(h, f, type) ((type)dlsym(h, f))\ntypedef int (*tag)(void);\n"
		"int main(void) { void *a = dlopen(\"libjump1.so\", MODE), *b, *c;\n"
		"tag one = GET(a, \"use\", tag), one_given = GET(a, \"give\", tag (*)(void))(), "
		"one_kept = GET(a, \"use_kept\", tag), two;\n"
		"printf(\"%d%d%d \", one(), one_given(), one_kept()); b = dlopen(\"libjump2.so\", "
		"MODE);\n"
		"two = GET(b, \"use\", tag); printf(\"%d%d%d%d%d \", one(), two(), one_given(), "
		"GET(b, \"give\", tag (*)(void))()(), GET(b, \"use_kept\", tag)());\n"
		"dlclose(b); printf(\"%d%d%d \", one(), one_given(), one_kept());\n"
		"b = dlopen(\"libjump2.so\", MODE); c = open_one(); two = GET(b, \"use\", tag);\n"
		"dlclose(a); printf(\"%d%d%d\", two(), TAG(c), GET(b, \"use_kept\", tag)()); }";
	static const char *const modes[] = { "RTLD_NOW", "RTLD_LAZY", "RTLD_LAZY | RTLD_DEEPBIND" };
	static const char *const links[] = { "-Wl,-z,relro,-z,now", "-Wl,-z,lazy", "-Wl,-z,lazy" };
	char text[2048], flags[128];

	(void)context;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		snprintf(flags, sizeof(flags), LIBRARY "-O2 -lone %s", links[i]);
		build("libjump1.so", plugin, flags);
		snprintf(flags, sizeof(flags), LIBRARY "-O2 -ltwo %s", links[i]);
		build("libjump2.so", plugin, flags);
		snprintf(text, sizeof(text), "#define MODE (%s)\n" HOST_HEAD "%s", modes[i], host);
		build("jumps", text, "");
		/* what is bound to the engine itself goes past us, but for the call by handle */
		same_everywhere("jumps", "111 12122 111 212", i < 2 ? 14 : 1);
	}
}

/* The program's own engine comes first for a plugin that is linked with another, unless deep. */
static void plugins_beside_a_linked_engine(void **context)
{
	static const char plugin[] = "int engine_tag(void); int use(void) { return engine_tag(); }";
	static const char host[] =
		"int engine_tag(void);\nint main(void) { void *a = dlopen(\"libbeside.so\", "
		"RTLD_LAZY), *b;\n"
		"int (*use)(void) = dlsym(a, \"use\"); printf(\"%d%d \", use(), engine_tag()); "
		"dlclose(a);\n"
		"b = dlopen(\"libbeside.so\", RTLD_LAZY | RTLD_DEEPBIND); use = dlsym(b, "
		"\"use\");\n"
		"printf(\"%d%d\", use(), engine_tag()); }";
	char text[1024];

	(void)context;
	build("libbeside.so", plugin, LIBRARY "-O2 -ltwo -Wl,-z,lazy");
	snprintf(text, sizeof(text), HOST_HEAD "%s", host);
	build("beside", text, "-lone");
	same_everywhere("beside", "11 21", 3);
}

/* A thread of the parent walks over the objects while it forks: the child's lookups do not wait. */
static void children_do_not_wait_for_a_walk(void **context)
{
	(void)context;
	build("walkers",
	      HOST_HEAD
	      "#include <link.h>\n#include <pthread.h>\n#include <sys/wait.h>\n#include "
	      "<unistd.h>\n"
	      "static volatile int is_inside, may_end;\n"
	      "static int visit(struct dl_phdr_info *i, size_t s, void *d) { is_inside = 1; while "
	      "(!may_end) usleep(1000); return 1; }\n"
	      "static void *walk(void *a) { dl_iterate_phdr(visit, 0); return 0; }\n"
	      "int main(void) { pthread_t t; int status = -1; pthread_create(&t, 0, walk, 0); "
	      "while "
	      "(!is_inside) usleep(1000);\n"
	      "if (fork() == 0) { alarm(20); _exit(dlsym(RTLD_DEFAULT, \"printf\") != 0 ? 7 : 8); "
	      "}\n"
	      "wait(&status); may_end = 1; pthread_join(t, 0); printf(\"%d\", "
	      "WEXITSTATUS(status)); }",
	      "-lpthread");
	same_everywhere("walkers", "7", 0);
}

/* Two engines with versions of the name: each version is what it was. */
static void versions_by_dlvsym(void **context)
{
	(void)context;
	write_file("versions.map",
		   "V1 { global: engine_tag; local: *; }; V2 { global: engine_tag; } V1;\n");
	build("libver3.so",
	      "int tag_old(void) { return 3; } int tag_new(void) { return 4; }\n"
	      "__asm__(\".symver tag_old, engine_tag@V1\\n.symver tag_new, engine_tag@@V2\");",
	      LIBRARY "-Wl,--version-script=versions.map");
	build("libver5.so",
	      "int tag_old(void) { return 5; } int tag_new(void) { return 6; }\n"
	      "__asm__(\".symver tag_old, engine_tag@V1\\n.symver tag_new, engine_tag@@V2\");",
	      LIBRARY "-Wl,--version-script=versions.map");
	build("versions",
	      HOST_HEAD
	      "#define BY(h, v) ((int (*)(void))dlvsym(h, \"engine_tag\", v))\n"
	      "int main(void) { void *a = dlopen(\"libver3.so\", RTLD_NOW), *b = "
	      "dlopen(\"libver5.so\", RTLD_NOW);\n"
	      "int (*a1)(void) = BY(a, \"V1\"), (*a2)(void) = BY(a, \"V2\"), (*b1)(void) = "
	      "BY(b, \"V1\"), (*b2)(void) = BY(b, \"V2\");\n"
	      "printf(\"%d%d%d%d%d%d%d\", a1(), b1(), a2(), b2(), TAG(a), TAG(b), BY(a, "
	      "\"V3\") != 0); }",
	      "");
	/* an old version is passed on, unobserved */
	same_everywhere("versions", "3546460", 4);
}

/* Nothing to call: zero, one line, the host goes on. */
static void missing_function_returns_zero(void **context)
{
	char out[64];

	(void)context;
	build("missing",
	      "#include <stdio.h>\n__attribute__((weak)) int engine_absent(void);\n"
	      "int main(void) { int a = engine_absent ? engine_absent() : 0, b = engine_absent ? "
	      "engine_absent() : 0;\n"
	      "printf(\"%d %d\", a, b); }",
	      "");
	run("missing", "probe-O2.so", out, sizeof(out));
	assert_string_equal(out, "0 0");
	assert_int_equal(shell("test $(grep -c 'engine_absent was called' %s/err) = 1", folder), 0);
}

/*
 * As in Python: the unwinder came as a dependency of a library opened locally, and RTLD_NEXT does
 * not find it. A second library brings another unwinder; a third uses the first's without naming
 * it.
 */
static void local_unwinders_get_their_own_calls(void **context)
{
	const char *const jit = "void __register_frame(const void *); void jit(long n) { "
				"__register_frame((void *)n); }";

	(void)context;
	build("libreg1.so",
	      "#include <stdio.h>\nvoid __register_frame(const void *p) { printf(\"1:%p \", p); }",
	      LIBRARY);
	build("libreg2.so",
	      "#include <stdio.h>\nvoid __register_frame(const void *p) { printf(\"2:%p \", p); }",
	      LIBRARY);
	build("libjit1.so", jit, LIBRARY "-lreg1");
	build("libjit2.so", jit, LIBRARY "-lreg2");
	build("libunder.so",
	      "void __register_frame(const void *); void under(long n) { __register_frame((void "
	      "*)n); }",
	      LIBRARY);
	build("libjit3.so", "void under(long); void jit(long n) { under(n); }",
	      LIBRARY "-lunder -lreg1");
	build("python",
	      HOST_HEAD
	      "static void jit(const char *file, long n) { void *h = dlopen(file, RTLD_NOW);\n"
	      "if (h) ((void (*)(long))dlsym(h, \"jit\"))(n); else puts(dlerror()); }\n"
	      "int main(void) { printf(\"%d \", dlsym(RTLD_DEFAULT, \"__register_frame\") != 0);\n"
	      "jit(\"libjit1.so\", 17); jit(\"libjit2.so\", 18); jit(\"libjit1.so\", 19); "
	      "jit(\"libjit3.so\", 20); }",
	      "");
	same_everywhere("python", "0 1:0x11 2:0x12 1:0x13 1:0x14 ", 4);
}

/* What a library brings is bound in its scope, whatever the dependency itself depends on. */
static void dependencies_are_bound_in_their_roots_scope(void **context)
{
	(void)context;
	build("libhelp.so", "int engine_tag(void); int help(void) { return engine_tag(); }",
	      LIBRARY "-lone");
	build("libroot.so", "int help(void); int use(void) { return help(); }",
	      LIBRARY "-ltwo -lhelp");
	build("roots",
	      HOST_HEAD "int main(void) { void *h = dlopen(\"libroot.so\", RTLD_NOW);\n"
			"printf(\"%d\", ((int (*)(void))dlsym(h, \"use\"))()); }",
	      "");
	same_everywhere("roots", "2", 1);
}

/* A constructor inside dlopen waits for a thread whose first call makes us look things up. */
static void constructor_may_wait_for_a_call(void **context)
{
	(void)context;
	build("libwait.so",
	      "#include <pthread.h>\nint engine_tag(void); static void *call(void *r) { *(int *)r "
	      "= engine_tag(); return 0; }\n"
	      "static int tag; int waited(void) { return tag; }\n"
	      "__attribute__((constructor)) static void init(void) { pthread_t t; "
	      "pthread_create(&t, 0, call, &tag); pthread_join(t, 0); }",
	      LIBRARY "-lone -lpthread -Wl,-z,now");
	build("waits",
	      HOST_HEAD "int main(void) { void *h = dlopen(\"libwait.so\", RTLD_NOW); "
			"printf(\"%d\", ((int (*)(void))dlsym(h, \"waited\"))()); }",
	      "");
	same_everywhere("waits", "1", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(next_keeps_the_caller),
		cmocka_unit_test(default_keeps_the_caller),
		cmocka_unit_test(undefined_names_stay_undefined),
		cmocka_unit_test(pending_error_survives_a_call),
		cmocka_unit_test(two_engines_by_handle),
		cmocka_unit_test(two_engines_on_two_threads),
		cmocka_unit_test(linked_and_opened_engines),
		cmocka_unit_test(later_global_engine_changes_nothing),
		cmocka_unit_test(engine_in_the_executable),
		cmocka_unit_test(dlsym_finds_itself),
		cmocka_unit_test(more_engines_than_slots),
		cmocka_unit_test(plugins_that_jump),
		cmocka_unit_test(plugins_beside_a_linked_engine),
		cmocka_unit_test(versions_by_dlvsym),
		cmocka_unit_test(children_do_not_wait_for_a_walk),
		cmocka_unit_test(missing_function_returns_zero),
		cmocka_unit_test(dependencies_are_bound_in_their_roots_scope),
		cmocka_unit_test(constructor_may_wait_for_a_call),
		cmocka_unit_test(local_unwinders_get_their_own_calls),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
