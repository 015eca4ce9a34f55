/* SPDX-License-Identifier: MIT */
/*
 * odd.c - hosts that do what hardly any does. Arguments: the guest, the way; see ways[]. Each ends
 * with status 4 and a line that says what it computed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

enum { BURN_MS = 150, STACK = 64 << 10, THREADS = 20 };

static const char *guest;

static void spin(unsigned int cpu_ms)
{
	uint64_t end = guest_cpu_ms() + cpu_ms;

	while (guest_cpu_ms() < end)
		;
}

static void run_guest(void)
{
	guest_load(guest);
	guest_burn(BURN_MS);
}

/* ---- loaders ----------------------------------------------------------------------------------
 */

static void in_a_namespace(void)
{
	void *library = dlmopen(LM_ID_NEWLM, "libz.so.1", RTLD_NOW);
	const char *(*version)(void);
	Lmid_t space;

	guest_expect(library != NULL, "no namespace");
	run_guest();
	version = (const char *(*)(void))dlsym(library, "zlibVersion");
	guest_expect(version != NULL && version()[0] == '1', "zlibVersion");
	guest_expect(dlinfo(library, RTLD_DI_LMID, &space) == 0 && space != LM_ID_BASE, "dlinfo");
	guest_expect(dlvsym(library, "zlibVersion", "NONE") == NULL && dlerror() != NULL, "dlvsym");
	guest_expect(dlclose(library) == 0, "dlclose");
	guest_burn(BURN_MS);
}

/* ---- stacks -----------------------------------------------------------------------------------
 */

static void *on_a_small_stack(void *unused)
{
	spin(BURN_MS / THREADS);
	return unused;
}

static void small_stacks(void)
{
	pthread_t threads[THREADS];
	pthread_attr_t attributes;

	run_guest();
	pthread_attr_init(&attributes);
	guest_expect(
		pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)) == 0,
		"the smallest stack");
	for (int i = 0; i < THREADS; i++)
		guest_expect(pthread_create(&threads[i], &attributes, on_a_small_stack, NULL) == 0,
			     "a thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static volatile sig_atomic_t handled;

static void on_user_signal(int signo)
{
	(void)signo;
	spin(BURN_MS);
	handled++;
}

/* Its first byte follows a page that is not there. */
static void alternate_stack(void)
{
	uint8_t *memory = mmap(NULL, STACK + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = { .ss_sp = memory + 4096, .ss_size = STACK };
	struct sigaction action = { .sa_handler = on_user_signal, .sa_flags = SA_ONSTACK };

	guest_expect(mprotect(memory + 4096, STACK, PROT_READ | PROT_WRITE) == 0, "a stack");
	run_guest();
	guest_expect(sigaltstack(&stack, NULL) == 0, "sigaltstack");
	guest_expect(sigaction(SIGUSR1, &action, NULL) == 0, "sigaction");
	raise(SIGUSR1);
	guest_expect(handled == 1, "the handler did not run");
}

/* ---- limits -----------------------------------------------------------------------------------
 */

static void limit(int which, rlim_t value)
{
	struct rlimit now;

	guest_expect(getrlimit(which, &now) == 0, "getrlimit");
	now.rlim_cur = value;
	guest_expect(setrlimit(which, &now) == 0, "setrlimit");
}

static void few_descriptors(void)
{
	guest_load(guest);
	limit(RLIMIT_NOFILE, 3);
	guest_burn(BURN_MS);
}

static void few_descriptors_before(void)
{
	/* The guest's own file needs one. */
	limit(RLIMIT_NOFILE, 5);
	run_guest();
}

static void small_files(void)
{
	limit(RLIMIT_FSIZE, 4096);
	run_guest();
	guest_burn(1200);
}

static void little_memory(void)
{
	char line[256];
	FILE *status;
	unsigned long size_kb = 0;

	run_guest();
	status = fopen("/proc/self/status", "r");
	while (status != NULL && size_kb == 0 && fgets(line, sizeof(line), status) != NULL)
		sscanf(line, "VmSize: %lu", &size_kb);
	if (status != NULL)
		fclose(status);
	limit(RLIMIT_AS, (rlim_t)size_kb * 1024 + (64 << 10));
	guest_burn(BURN_MS);
}

static volatile sig_atomic_t is_over;

static void on_limit(int signo)
{
	is_over = signo == SIGXCPU;
}

/* The signal comes when the host's own time is over: one second of it, and not much later. */
static void little_cpu_time(void)
{
	uint64_t start = guest_now_ms();

	signal(SIGXCPU, on_limit);
	limit(RLIMIT_CPU, 1);
	guest_load(guest);
	while (!is_over && guest_now_ms() < start + 60000)
		guest_burn(20);
	guest_expect(is_over, "no signal at the limit");
	guest_expect(guest_cpu_ms() > 500 && guest_cpu_ms() < 2000, "another time");
}

/* ---- code that may not be read ----------------------------------------------------------------
 */

/* With protection keys in the CPU the kernel takes one for it (pkeys(7)). */
static void execute_only(void)
{
	char line[512], access[8], path[256];
	uintptr_t start, end;
	int count = 0;
	FILE *maps;

	guest_load(guest);
	maps = fopen("/proc/self/maps", "r");
	guest_expect(maps != NULL, "maps");
	while (fgets(line, sizeof(line), maps) != NULL) {
		/* Memory of no file. */
		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &start, &end, access, path) !=
			    3 ||
		    strcmp(access, "r-xp") != 0)
			continue;
		guest_expect(mprotect((void *)start, end - start, PROT_EXEC) == 0, "mprotect");
		count++;
	}
	fclose(maps);
	guest_expect(count > 0, "no code");
	guest_burn(BURN_MS);
}

/* ---- filters ----------------------------------------------------------------------------------
 */

static void refuse(int number)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	guest_expect(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
	guest_expect(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0, "seccomp");
}

static void without(int number)
{
	refuse(number);
	run_guest();
}

static void no_perf_event(void)
{
	without(SYS_perf_event_open);
}
static void no_timer(void)
{
	without(SYS_timer_create);
}
static void no_close_range(void)
{
	without(SYS_close_range);
}
static void no_process_vm(void)
{
	without(SYS_process_vm_readv);
}
static void no_tgsigqueue(void)
{
	without(SYS_rt_tgsigqueueinfo);
}

static void no_clock_at_all(void)
{
	refuse(SYS_perf_event_open);
	without(SYS_timer_create);
}

static void no_table_of_its_own(void)
{
	refuse(SYS_unshare);
	without(SYS_close_range);
}

/* ---- processes --------------------------------------------------------------------------------
 */

static int status_of(pid_t child)
{
	int status = 0;

	guest_expect(child > 0 && waitpid(child, &status, 0) == child, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The parents leave at once; the daemon's end is seen by a pipe. */
static void daemon_by_two_forks(void)
{
	int ends[2];
	char byte = 0;

	guest_expect(pipe(ends) == 0, "pipe");
	run_guest();
	if (fork() == 0) {
		setsid();
		if (fork() == 0) {
			guest_burn(BURN_MS);
			guest_expect(write(ends[1], "d", 1) == 1, "write");
			exit(0);
		}
		_exit(0);
	}
	close(ends[1]);
	while (wait(NULL) > 0)
		;
	guest_expect(read(ends[0], &byte, 1) == 1 && byte == 'd', "the daemon did not end well");
	guest_expect(read(ends[0], &byte, 1) == 0, "the daemon is still there");
}

static int shares_memory(void *unused)
{
	(void)unused;
	spin(BURN_MS);
	handled++;
	syscall(SYS_exit, 9);
	return 0;
}

static void clone_with_our_memory(void)
{
	static uint8_t stack[STACK] __attribute__((aligned(16)));

	run_guest();
	guest_expect(status_of(clone(shares_memory, stack + STACK, CLONE_VM | SIGCHLD, NULL)) == 9,
		     "the child ended otherwise");
	guest_expect(handled == 1, "the child did not run");
	guest_burn(BURN_MS);
}

static void *becomes_another(void *unused)
{
	char *const words[] = { "sh", "-c", "echo becomes: done; exit 4", NULL };

	guest_burn(BURN_MS);
	execv("/bin/sh", words);
	return unused;
}

static void exec_on_a_thread(void)
{
	pthread_t thread;

	guest_load(guest);
	guest_expect(pthread_create(&thread, NULL, becomes_another, NULL) == 0, "a thread");
	guest_burn(60000);
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{ "dlmopen", in_a_namespace },
	{ "small-stacks", small_stacks },
	{ "alternate-stack", alternate_stack },
	{ "nofile", few_descriptors },
	{ "nofile-before", few_descriptors_before },
	{ "fsize", small_files },
	{ "as", little_memory },
	{ "cpu", little_cpu_time },
	{ "execute-only", execute_only },
	{ "perf_event_open", no_perf_event },
	{ "timer_create", no_timer },
	{ "close_range", no_close_range },
	{ "process_vm_readv", no_process_vm },
	{ "rt_tgsigqueueinfo", no_tgsigqueue },
	{ "clocks", no_clock_at_all },
	{ "table", no_table_of_its_own },
	{ "daemon", daemon_by_two_forks },
	{ "clone", clone_with_our_memory },
	{ "exec-on-thread", exec_on_a_thread },
};

int main(int argc, char **argv)
{
	guest_expect(argc == 3, "usage: odd GUEST WAY");
	guest = argv[1];
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(argv[2], ways[i].name) != 0)
			continue;
		ways[i].run();
		printf("%s: done\n", ways[i].name);
		return 4;
	}
	guest_expect(false, "no such way");
	return 0;
}
