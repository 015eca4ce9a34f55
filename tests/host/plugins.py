# SPDX-License-Identifier: MIT
"""plugins.py - a program on the `extism` package: two threads, a plugin each. Arguments: the guest; how the plugins
are made, both of one `compiled`, or each from a manifest with its `path`; seconds of CPU per thread.
"""

import pathlib
import random
import sys
import threading
import time

from extism import Plugin
from extism.extism import CompiledPlugin

def serve(plugin, seconds, results):
    # Sizes differ: calls that all took equally long could fall into step with a sampling clock.
    sizes = random.Random(1)
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        plugin.call("run", b"x" * sizes.randrange(500, 1501))
    results.append(plugin)


def main():
    path, way, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    source = {"wasm": [{"path": path}]} if way == "path" else CompiledPlugin(pathlib.Path(path).read_bytes())
    plugins = [Plugin(source) for _ in range(2)]
    results = []
    threads = [threading.Thread(target=serve, args=(plugin, seconds, results)) for plugin in plugins]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"plugins: {len(results)} threads, done")


if __name__ == "__main__":
    main()
