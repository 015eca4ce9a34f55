/* SPDX-License-Identifier: MIT */
/*
 * namesakes.c - a host whose own functions are called as those of libraries that profilers use.
 * None of them may be called by anybody. Argument: the guest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "guest.h"

#define NOT_FOR_YOU(name)                                           \
	void name(void);                                            \
	void name(void)                                             \
	{                                                           \
		dprintf(STDERR_FILENO, "case: called " #name "\n"); \
		abort();                                            \
	}

NOT_FOR_YOU(xmalloc)
NOT_FOR_YOU(xrealloc)
NOT_FOR_YOU(xcalloc)
NOT_FOR_YOU(xstrdup)
NOT_FOR_YOU(xmalloc_failed)
NOT_FOR_YOU(concat)
NOT_FOR_YOU(cplus_demangle)
NOT_FOR_YOU(cplus_demangle_v3_callback)
NOT_FOR_YOU(rust_demangle)
NOT_FOR_YOU(rust_demangle_callback)
NOT_FOR_YOU(htab_create)
NOT_FOR_YOU(md5_init_ctx)
NOT_FOR_YOU(elf_begin)
NOT_FOR_YOU(dwarf_begin)
NOT_FOR_YOU(unw_step)
NOT_FOR_YOU(unw_init_local)
NOT_FOR_YOU(_Ux86_64_step)
NOT_FOR_YOU(_Ux86_64_init_remote)
NOT_FOR_YOU(deflateInit2_)
NOT_FOR_YOU(deflate)
NOT_FOR_YOU(crc32)
NOT_FOR_YOU(ring_commit)
NOT_FOR_YOU(log_line)
NOT_FOR_YOU(config_read)
NOT_FOR_YOU(symtab_new)
NOT_FOR_YOU(hook_real)

int main(int argc, char **argv)
{
	guest_expect(argc == 2, "usage: namesakes GUEST");
	guest_load(argv[1]);
	guest_burn(500);
	printf("nobody called\n");
	return 0;
}
