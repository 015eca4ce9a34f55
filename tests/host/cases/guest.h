/* SPDX-License-Identifier: MIT */
/*
 * guest.h - a guest for programs that show a fault: loaded once, run on any thread.
 *
 * What goes wrong ends the program with status 99 and a line on stderr.
 */
#ifndef TESTS_HOST_CASES_GUEST_H
#define TESTS_HOST_CASES_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Once, before all else: the module in the file PATH. */
void guest_load(const char *path);

/* The same; the engine compiles on the calling thread, and makes none that stay. */
void guest_load_without_threads(const char *path);

/* Calls its export `run` until the calling thread has used so much CPU time; own store, kept. */
void guest_burn(unsigned int cpu_ms);

/* Calls EXPORT(ARGUMENT), in the calling thread's store. True when it trapped. */
bool guest_traps(const char *export_name, int32_t argument);

/* IMPORT is what a guest with imports gets for its first; before guest_burn(). */
void guest_import(void (*import)(void));

/* Drops the module and the engine: at the end of a host that cleans up. */
void guest_drop(void);

/* CPU time and monotonic time in ms. */
uint64_t guest_cpu_ms(void);
uint64_t guest_now_ms(void);

/* Ends the program when CONDITION does not hold. */
void guest_expect(bool condition, const char *what);

#ifdef __cplusplus
}
#endif

#endif /* TESTS_HOST_CASES_GUEST_H */
