/* SPDX-License-Identifier: MIT */
/*
 * lifecycle.c - constructor, first guest, end.
 *
 * The constructor only reads the environment: a process that loads no guest pays for nothing else.
 */
#include "preload/lifecycle.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/base/config.h"
#include "preload/base/log.h"
#include "preload/base/state.h"
#include "preload/control/control.h"
#include "preload/fork.h"
#include "preload/output.h"
#include "preload/runtime/opened.h"
#include "preload/runtime/wasmedge.h"
#include "preload/sampler/sampler.h"
#include "preload/session.h"
#include "preload/wake.h"
#include "preload/worker.h"

#define LAST_DRAIN_NS UINT64_C(2000000000)

extern char **environ;

static struct config config;
static pthread_once_t first_guest = PTHREAD_ONCE_INIT;
static pid_t our_pid; /* raw: a vfork child has another, and our memory */
static atomic_bool has_ended;

static void on_first_guest(void)
{
	int saved_errno = errno;

	pthread_once(&first_guest, session_first_guest);
	errno = saved_errno;
}

static void on_watch(void)
{
	worker_start();
	worker_watch();
}

static void complain(void *context, const char *line)
{
	(void)context;
	log_line(LOG_ERROR, "%s", line);
}

__attribute__((constructor)) static void start(void)
{
	int saved_errno = errno;

	if (getauxval(AT_SECURE))
		return;
	log_remember_standard_error();
	config_read(&config, environ, complain, NULL);
	log_configure(config.log_level, config.log_file);
	config_set_current(&config);
	our_pid = (pid_t)syscall(SYS_getpid);
	output_configure();
	session_configure(&config);
	control_configure(&config);
	fork_watch();
	state.wake = wake_up;
	state.on_watch = on_watch;
	state.on_first_guest = on_first_guest;
	state.on_opened = runtime_opened;
	state.on_looked_up = runtime_wasmedge_looked_up;
	atomic_store_explicit(&state.on, true, memory_order_release);
	errno = saved_errno;
}

void lifecycle_end(void)
{
	int saved_errno = errno;

	if ((pid_t)syscall(SYS_getpid) != our_pid || atomic_exchange(&has_ended, true))
		return;
	atomic_store(&state.on, false);
	session_end();
	worker_finish(LAST_DRAIN_NS);
	errno = saved_errno;
}

void lifecycle_restart_in_child(void)
{
	our_pid = (pid_t)syscall(SYS_getpid);
	if (!atomic_load(&state.sampling))
		return;
	sampler_after_fork();
	worker_start();
}

void lifecycle_give_up_in_child(void)
{
	bool was_sampling = atomic_exchange(&state.sampling, false);

	atomic_store(&state.on, false);
	state.adopt_thread = NULL;
	sampler_after_fork();
	sampler_stop();
	if (was_sampling)
		log_line(LOG_ERROR, "forked while our thread was busy: this child is not profiled");
}

__attribute__((destructor)) static void end(void)
{
	lifecycle_end();
}
