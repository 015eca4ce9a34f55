/* SPDX-License-Identifier: MIT */
/*
 * floor.h - binds the libc's functions to versions that glibc 2.28 has. Included into every object
 * of the library by the Makefile (-include), before all else.
 *
 * A preloaded object that asks for a version which the host's glibc lacks keeps the host from
 * starting. Linked on a newer system, functions that moved into libc.so (2.34, 2.33) would ask for
 * their new versions. Names that we define ourselves (dlsym, pthread_create) must not stand here:
 * a reference to one of ours has no version. What is new altogether since 2.28 cannot be bound
 * back: close_range, gettid and the like go through syscall().
 */
#ifndef PRELOAD_BASE_FLOOR_H
#define PRELOAD_BASE_FLOOR_H

#include <sys/stat.h>

#ifdef __x86_64__

#define FLOOR(name, version) __asm__(".symver " #name ", " #name "@GLIBC_" #version);

/* clang-format off */
FLOOR(__pthread_key_create, 2.2.5)
FLOOR(__pthread_register_cancel, 2.3.3)
FLOOR(__pthread_register_cancel_defer, 2.3.3)
FLOOR(__pthread_unregister_cancel, 2.3.3)
FLOOR(__pthread_unregister_cancel_restore, 2.3.3)
FLOOR(__pthread_unwind_next, 2.3.3)
FLOOR(dladdr, 2.2.5)
FLOOR(dladdr1, 2.3.3)
FLOOR(dlinfo, 2.3.3)
FLOOR(dlmopen, 2.3.4)
FLOOR(dlopen, 2.2.5)
FLOOR(exp, 2.2.5)
FLOOR(exp2, 2.2.5)
FLOOR(log, 2.2.5)
FLOOR(log2, 2.2.5)
FLOOR(pow, 2.2.5)
FLOOR(pthread_attr_getaffinity_np, 2.3.4)
FLOOR(pthread_attr_getguardsize, 2.2.5)
FLOOR(pthread_attr_getstack, 2.2.5)
FLOOR(pthread_attr_getstacksize, 2.2.5)
FLOOR(pthread_attr_setaffinity_np, 2.3.4)
FLOOR(pthread_attr_setguardsize, 2.2.5)
FLOOR(pthread_attr_setstack, 2.2.5)
FLOOR(pthread_attr_setstacksize, 2.2.5)
FLOOR(pthread_barrier_destroy, 2.2.5)
FLOOR(pthread_barrier_init, 2.2.5)
FLOOR(pthread_barrier_wait, 2.2.5)
FLOOR(pthread_cancel, 2.2.5)
FLOOR(pthread_condattr_setclock, 2.3.3)
FLOOR(pthread_condattr_setpshared, 2.2.5)
FLOOR(pthread_detach, 2.2.5)
FLOOR(pthread_getaffinity_np, 2.3.4)
FLOOR(pthread_getattr_np, 2.2.5)
FLOOR(pthread_getcpuclockid, 2.2.5)
FLOOR(pthread_getname_np, 2.12)
FLOOR(pthread_getspecific, 2.2.5)
FLOOR(pthread_join, 2.2.5)
FLOOR(pthread_key_create, 2.2.5)
FLOOR(pthread_key_delete, 2.2.5)
FLOOR(pthread_kill, 2.2.5)
FLOOR(pthread_mutex_consistent, 2.12)
FLOOR(pthread_mutex_timedlock, 2.2.5)
FLOOR(pthread_mutex_trylock, 2.2.5)
FLOOR(pthread_mutexattr_destroy, 2.2.5)
FLOOR(pthread_mutexattr_init, 2.2.5)
FLOOR(pthread_mutexattr_setprotocol, 2.4)
FLOOR(pthread_mutexattr_setpshared, 2.2.5)
FLOOR(pthread_mutexattr_setrobust, 2.12)
FLOOR(pthread_mutexattr_settype, 2.2.5)
FLOOR(pthread_once, 2.2.5)
FLOOR(pthread_rwlock_destroy, 2.2.5)
FLOOR(pthread_rwlock_init, 2.2.5)
FLOOR(pthread_rwlock_rdlock, 2.2.5)
FLOOR(pthread_rwlock_tryrdlock, 2.2.5)
FLOOR(pthread_rwlock_trywrlock, 2.2.5)
FLOOR(pthread_rwlock_unlock, 2.2.5)
FLOOR(pthread_rwlock_wrlock, 2.2.5)
FLOOR(pthread_setaffinity_np, 2.3.4)
FLOOR(pthread_setname_np, 2.12)
FLOOR(pthread_setspecific, 2.2.5)
FLOOR(pthread_sigqueue, 2.11)
FLOOR(pthread_spin_destroy, 2.2.5)
FLOOR(pthread_spin_init, 2.2.5)
FLOOR(pthread_spin_lock, 2.2.5)
FLOOR(pthread_spin_trylock, 2.2.5)
FLOOR(pthread_spin_unlock, 2.2.5)
FLOOR(pthread_testcancel, 2.2.5)
FLOOR(pthread_timedjoin_np, 2.3.3)
FLOOR(pthread_tryjoin_np, 2.3.3)
FLOOR(sem_destroy, 2.2.5)
FLOOR(sem_getvalue, 2.2.5)
FLOOR(sem_init, 2.2.5)
FLOOR(sem_post, 2.2.5)
FLOOR(sem_timedwait, 2.2.5)
FLOOR(sem_trywait, 2.2.5)
FLOOR(sem_wait, 2.2.5)
FLOOR(shm_open, 2.2.5)
FLOOR(shm_unlink, 2.2.5)
FLOOR(timer_create, 2.3.3)
FLOOR(timer_delete, 2.3.3)
FLOOR(timer_getoverrun, 2.3.3)
FLOOR(timer_gettime, 2.3.3)
FLOOR(timer_settime, 2.3.3)

/* Until 2.33 the stat functions were macros over these; 1 is the version of the structure. */
FLOOR(__fxstat, 2.2.5)
FLOOR(__fxstatat, 2.4)
FLOOR(__lxstat, 2.2.5)
FLOOR(__xstat, 2.2.5)
/* clang-format on */

#undef FLOOR

extern int __fxstat(int version, int descriptor, struct stat *status);
extern int __fxstatat(int version, int folder, const char *path, struct stat *status, int flags);
extern int __lxstat(int version, const char *path, struct stat *status);
extern int __xstat(int version, const char *path, struct stat *status);

#define fstat(descriptor, status) __fxstat(1, descriptor, status)
#define fstatat(folder, path, status, flags) __fxstatat(1, folder, path, status, flags)
#define lstat(path, status) __lxstat(1, path, status)
#define stat(path, status) __xstat(1, path, status)

#endif /* __x86_64__ */

#endif /* PRELOAD_BASE_FLOOR_H */
