/* SPDX-License-Identifier: MIT */
/*
 * interpose.c - libc's functions by which a host makes threads and takes signals.
 *
 * pthread_create: a thread tells us of its birth and end itself, while sampling is on; all others
 * are found in /proc/self/task. sigaction and signal: the host's use of our signal goes on as if we
 * were not there, and an engine that takes SIGILL or SIGFPE (wasmtime does at its first engine,
 * crates/wasmtime/src/runtime/vm/sys/unix/signals.rs) makes our thread look for images.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "preload/base/state.h"
#include "preload/hook/hook.h"
#include "preload/sampler/sampler.h"
#include "preload/sampler/signal.h"

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*function)(void *), void *argument);
EXPORT int sigaction(int signo, const struct sigaction *action, struct sigaction *old);
EXPORT sighandler_t signal(int signo, sighandler_t handler);

struct start {
	void *(*function)(void *);
	void *argument;
	struct inheritance *inherited; /* NULL: nothing */
	bool is_sampled;
};

static void thread_ends(void *unused)
{
	(void)unused;
	sampler_thread_ends();
}

static void *start_thread(void *argument)
{
	struct start start = *(struct start *)argument;
	void *result;

	free(argument);
	if (start.is_sampled)
		sampler_thread_started();
	/* Also on pthread_exit() and cancellation. */
	pthread_cleanup_push(thread_ends, NULL);
	result = start.inherited != NULL
			 ? start.inherited->run(start.inherited, start.function, start.argument)
			 : start.function(start.argument);
	pthread_cleanup_pop(1);
	return result;
}

HOOK_PLAIN(pthread_create);
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
		   void *argument)
{
	__typeof__(&pthread_create) real = REAL(pthread_create);
	bool is_sampled = atomic_load_explicit(&state.sampling, memory_order_acquire);
	struct start *start = NULL;
	int error;

	if ((!is_sampled && state_inheritance == NULL) || !hook_begin())
		return real(thread, attributes, function, argument);
	start = malloc(sizeof(*start));
	if (start != NULL) {
		*start = (struct start){
			.function = function,
			.argument = argument,
			.inherited = state_inheritance,
			.is_sampled = is_sampled,
		};
		state_inheritance = NULL;
	}
	hook_end();
	if (start == NULL)
		return real(thread, attributes, function, argument);
	error = real(thread, attributes, start_thread, start);
	if (error != 0) {
		state_inheritance = start->inherited;
		free(start);
	}
	return error;
}

static bool is_engines_signal(int signo, const struct sigaction *action)
{
	return (signo == SIGILL || signo == SIGFPE) && action != NULL &&
	       action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

HOOK_PLAIN(sigaction);
int sigaction(int signo, const struct sigaction *action, struct sigaction *old)
{
	__typeof__(&sigaction) real = REAL(sigaction);
	int result;

	if (!hook_begin())
		return real(signo, action, old);
	if (atomic_load(&state.sampling) && signal_host_action(signo, action, old)) {
		hook_end();
		return 0;
	}
	hook_end();
	result = real(signo, action, old);
	if (result == 0 && is_engines_signal(signo, action) && hook_begin()) {
		if (state.on_watch != NULL)
			state.on_watch();
		hook_end();
	}
	return result;
}

HOOK_PLAIN(signal);
sighandler_t signal(int signo, sighandler_t handler)
{
	__typeof__(&signal) real = REAL(signal);
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART }, old;
	bool is_ours;

	if (!hook_begin())
		return real(signo, handler);
	sigemptyset(&action.sa_mask);
	is_ours = atomic_load(&state.sampling) && signal_host_action(signo, &action, &old);
	hook_end();
	return is_ours ? old.sa_handler : real(signo, handler);
}
