// SPDX-License-Identifier: MIT
// progress.h - how far a thread is, and how long it stood still; for torture.cc.
//
// Threads: a thread writes its own, with those that it waits for; any other reads.
#ifndef TESTS_TORTURE_PROGRESS_H
#define TESTS_TORTURE_PROGRESS_H

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

using clock_type = std::chrono::steady_clock;

inline double seconds_since(clock_type::time_point start)
{
	return std::chrono::duration<double>(clock_type::now() - start).count();
}

const clock_type::time_point started = clock_type::now();

constexpr double LOOK_SECONDS = 0.01;

// Seconds that a thread has waited for a CPU: the second number of its schedstat (the kernel's
// Documentation/scheduler/sched-stats.rst). 0 where that is not to be had.
inline double seconds_waited(int file)
{
	char text[96] = "";
	unsigned long long used = 0, waited = 0;

	if (file < 0 || pread(file, text, sizeof(text) - 1, 0) <= 0 ||
	    std::sscanf(text, "%llu %llu", &used, &waited) != 2)
		return 0;
	return static_cast<double>(waited) / 1e9;
}

// How far a thread is: it writes, the watch reads.
class progress
{
      public:
	// By the thread itself.
	void begin()
	{
		schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
		waited = seconds_waited(schedstat);
		looked = last = seconds_since(started);
	}
	void operator++(int)
	{
		const double now = seconds_since(started);
		double gap = now - last;

		// Not each time: it would be most of what some do.
		if (now - looked > LOOK_SECONDS) {
			const double own = seconds_waited(schedstat);

			gap -= own - waited + others_waited.exchange(0);
			waited = own;
			looked = now;
		}
		last = now;
		count++;
		if (gap > longest)
			longest = gap;
	}
	// A thread that this one waits for is about to end.
	void helper_ends()
	{
		timespec used;

		add_waits_of("/proc/thread-self/schedstat");
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
		others_used_ns += used.tv_sec * 1000000000 + used.tv_nsec;
	}
	// A child that this one waited for has ended, and is there until its status is taken.
	void child_ended(pid_t child)
	{
		char path[32];

		std::snprintf(path, sizeof(path), "/proc/%d/schedstat", child);
		add_waits_of(path);
	}
	// For the watch: how long it stands still by now.
	double stands_still() const
	{
		return seconds_since(started) - last - (seconds_waited(schedstat) - waited);
	}
	std::atomic<uint64_t> count{ 0 }, others_used_ns{ 0 };
	std::atomic<double> last{ 0 }, longest{ 0 }; // in seconds since the start; seconds

      private:
	void add_waits_of(const char *path)
	{
		const int file = open(path, O_RDONLY | O_CLOEXEC);

		others_waited = others_waited + seconds_waited(file);
		if (file >= 0)
			close(file);
	}
	std::atomic<int> schedstat{ -1 };
	std::atomic<double> looked{ 0 }, waited{ 0 }, others_waited{ 0 };
};

#endif // TESTS_TORTURE_PROGRESS_H
