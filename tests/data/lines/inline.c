/* SPDX-License-Identifier: MIT */
/* inline.c - a hot loop in inlined calls; `dead` is dropped by the linker. */
static inline __attribute__((always_inline)) unsigned mix(unsigned a, unsigned b)
{
	a ^= b * 2654435761u;
	a = (a << 13) | (a >> 19);
	return a * 5 + 0xe6546b64;
}

static inline __attribute__((always_inline)) unsigned twice(unsigned a, const unsigned *table,
							    unsigned i)
{
	a = mix(a, table[i % 64]);
	return mix(a, ~i);
}

unsigned dead(unsigned x)
{
	for (unsigned i = 0; i < x; i++)
		x = mix(x, i * 3);
	return x;
}

static unsigned table[64];

__attribute__((noinline)) static void fill(unsigned seed)
{
	for (unsigned i = 0; i < 64; i++)
		table[i] = mix(seed, i);
}

__attribute__((export_name("run"))) unsigned run(unsigned n)
{
	unsigned h = n;

	fill(n);
	for (unsigned i = 0; i < n; i++)
		h = twice(h, table, i);
	return h;
}
