// SPDX-License-Identifier: MIT
// shapes.cc - methods, a template and a namespace, inlined and not.
namespace geometry
{
struct point {
	unsigned x, y;
};

class shape
{
      public:
	virtual unsigned area(unsigned i) const = 0;

      protected:
	point corner{ 3, 4 };
};

template <typename T> static inline __attribute__((always_inline)) T scaled(T a, T b)
{
	return a * b + (a >> 3);
}

class square : public shape
{
      public:
	unsigned area(unsigned i) const override
	{
		unsigned sum = 0;

		for (unsigned k = 0; k < 8; k++)
			sum += scaled<unsigned>(corner.x + i, corner.y ^ k);
		return sum;
	}
};
} // namespace geometry

static geometry::square one;
geometry::shape *volatile any = &one;

extern "C" __attribute__((export_name("run"))) unsigned run(unsigned n)
{
	unsigned h = 0;

	for (unsigned i = 0; i < n; i++)
		h += any->area(i);
	return h;
}
