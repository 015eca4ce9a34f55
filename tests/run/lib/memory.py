# SPDX-License-Identifier: MIT
"""memory.py - follows a process's resident memory while it runs."""

import pathlib
import threading
import time


class ResidentMemory(threading.Thread):
    """Follows the resident memory of the first process that runs PROGRAM."""

    def __init__(self, program):
        super().__init__(daemon=True)
        self.program, self.sizes, self.is_over = program, [], False

    def run(self):
        pid = None
        while not self.is_over:
            time.sleep(0.25)  # the interval of the measurement
            pid = pid or self._find()
            try:
                with open(f"/proc/{pid}/status", encoding="ascii") as file:
                    self.sizes += [int(line.split()[1]) for line in file if line.startswith("VmRSS")]
            except OSError:
                pass

    def _find(self):
        for status in pathlib.Path("/proc").glob("[0-9]*/exe"):
            try:
                if str(status.readlink()) == self.program:
                    return status.parent.name
            except OSError:
                continue
        return None

    def growth_kib(self):
        """From the end of the first quarter to the end."""
        quarter = self.sizes[len(self.sizes) // 4:]
        return max(quarter) - quarter[0] if quarter else 0
