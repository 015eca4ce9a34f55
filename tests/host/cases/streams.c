/* SPDX-License-Identifier: MIT */
/*
 * streams.c - a host that closes its standard streams, has its data file in their place, goes to
 * another directory and takes the one it came from away. Arguments: the guest, the data file, a
 * directory to remove, and what else: none, umask, chroot, nobody (another user), sandbox, killing
 * (seccomp filters).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"

#define REFUSE(number, how) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, how)

/* open and the timers are refused; `killing`: making a timer is deadly. */
static void enter_sandbox(bool kills)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		REFUSE(SYS_setitimer, SECCOMP_RET_ERRNO | EPERM),
		REFUSE(SYS_openat, SECCOMP_RET_ERRNO | EPERM),
		REFUSE(SYS_timer_create,
		       kills ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	guest_expect(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
	guest_expect(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0, "seccomp");
}

static void apply(const char *what)
{
	if (strcmp(what, "umask") == 0)
		umask(0777);
	if (strcmp(what, "chroot") == 0)
		guest_expect(chroot(".") == 0, "chroot");
	if (strcmp(what, "nobody") == 0)
		guest_expect(setgid(65534) == 0 && setuid(65534) == 0, "setuid");
	if (strcmp(what, "sandbox") == 0 || strcmp(what, "killing") == 0)
		enter_sandbox(strcmp(what, "killing") == 0);
}

int main(int argc, char **argv)
{
	int fd;

	guest_expect(argc == 5, "usage: streams GUEST DATA DIRECTORY WHAT");
	guest_load(argv[1]);
	guest_burn(150);
	for (int i = 0; i < 3; i++)
		close(i);
	fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
	guest_expect(fd == 0 && dup(fd) == 1 && dup(fd) == 2, "descriptors");
	mkdir("/tmp/guestprof-empty", 0755);
	guest_expect(chdir("/tmp/guestprof-empty") == 0, "chdir");
	if (strcmp(argv[3], "-") != 0)
		guest_expect(rmdir(argv[3]) == 0, "rmdir");
	apply(argv[4]);
	for (int i = 0; i < 40; i++) {
		guest_burn(20);
		guest_expect(write(2, "data\n", 5) == 5, "write");
	}
	return 5;
}
