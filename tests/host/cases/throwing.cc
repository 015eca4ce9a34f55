// SPDX-License-Identifier: MIT
//
// throwing.cc - a library that throws through code it made and registered: the program that uses it
// is C, so that nothing brings an unwinder into the global scope before it.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <sys/mman.h>

extern "C" void __register_frame(void *);
extern "C" void __deregister_frame(void *);

namespace
{

constexpr int TIMES = 3000;

// push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret
const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };

__attribute__((noinline)) void thrower()
{
	throw std::runtime_error("through");
}

class tables
{
      public:
	explicit tables(uint64_t start)
	{
		const uint8_t cie[] = { 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1 };
		// After 1 byte: CFA 16, rbp at -16. After 4: CFA by rbp. At the end: by rsp again.
		const uint8_t steps[] = { 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x43, 0x0c, 7, 8 };
		size_t begin = open();

		number(0, 4);
		put(cie, sizeof(cie));
		close(begin);
		begin = open();
		number(begin + 4, 4);
		number(start, 8);
		number(sizeof(code), 8);
		put(steps, sizeof(steps));
		close(begin);
		number(0, 4);
	}
	uint8_t bytes[256] = {};

      private:
	void put(const void *from, size_t size)
	{
		std::memcpy(bytes + at, from, size);
		at += size;
	}
	void number(uint64_t value, size_t size)
	{
		put(&value, size);
	}
	size_t open()
	{
		const size_t begin = at;

		number(0, 4);
		return begin;
	}
	void close(size_t begin)
	{
		while ((at - begin) % 8 != 4)
			bytes[at++] = 0;
		const uint32_t length = static_cast<uint32_t>(at - begin - 4);
		std::memcpy(bytes + begin, &length, 4);
	}
	size_t at = 0;
};

} // namespace

extern "C" int throwing_run(void)
{
	void *page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static tables made(reinterpret_cast<uint64_t>(page));
	int caught = 0;

	std::memcpy(page, code, sizeof(code));
	__register_frame(made.bytes);
	for (int i = 0; i < TIMES; i++) {
		try {
			reinterpret_cast<void (*)(void (*)())>(page)(thrower);
		} catch (const std::exception &) {
			caught++;
		}
	}
	__deregister_frame(made.bytes);
	munmap(page, 4096);
	std::printf("caught %d of %d\n", caught, TIMES);
	return caught == TIMES ? 0 : 1;
}
