// SPDX-License-Identifier: MIT
// dying.cc - a host that ends in each way that there is. Arguments: the guest, the way, CPU ms.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"

namespace
{

void on_terminate(int)
{
	_exit(21);
}

void on_alarm_exit(int)
{
	exit(22); // not async-signal-safe, and done all the same
}

void *burn_on(void *unused)
{
	guest_burn(60000);
	return unused;
}

void *exit_here(void *unused)
{
	guest_burn(100);
	exit(23);
	return unused;
}

void at_exit_guest()
{
	guest_burn(30);
}

void second_thread(void *(*body)(void *))
{
	pthread_t thread;

	guest_expect(pthread_create(&thread, nullptr, body, nullptr) == 0, "no thread");
}

int end(const std::string &way)
{
	if (way == "return")
		return 7;
	if (way == "exit")
		exit(8);
	if (way == "atexit") {
		atexit(at_exit_guest);
		exit(9);
	}
	if (way == "quick_exit")
		quick_exit(10);
	if (way == "_exit")
		_exit(11);
	if (way == "_Exit")
		_Exit(12);
	if (way == "exit_group")
		syscall(SYS_exit_group, 13);
	if (way == "abort")
		abort();
	if (way == "throw")
		throw std::runtime_error("nobody catches it");
	if (way == "SIGTERM" || way == "SIGINT" || way == "SIGKILL")
		raise(way == "SIGTERM" ? SIGTERM : way == "SIGINT" ? SIGINT : SIGKILL);
	if (way == "SIGSEGV")
		*reinterpret_cast<volatile int *>(strtoul("4096", nullptr, 0)) = 1;
	if (way == "handler") {
		signal(SIGTERM, on_terminate);
		raise(SIGTERM);
	}
	if (way == "handler-exit") {
		signal(SIGTERM, on_alarm_exit);
		raise(SIGTERM);
	}
	if (way == "thread") {
		second_thread(exit_here);
		guest_burn(60000);
	}
	return 97;
}

} // namespace

int main(int argc, char **argv)
{
	guest_expect(argc == 4, "usage: dying GUEST WAY CPU_MS");
	guest_load(argv[1]);
	second_thread(burn_on);
	guest_burn(static_cast<unsigned int>(atoi(argv[3])));
	return end(argv[2]);
}
