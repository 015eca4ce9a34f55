// SPDX-License-Identifier: MIT
// plugin.cc - a library that comes and goes, and throws into its caller.
#include <stdexcept>

extern "C" int plugin_throw(int depth)
{
	if (depth == 0)
		throw std::runtime_error("from the plugin");
	return plugin_throw(depth - 1) + 1;
}
