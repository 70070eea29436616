"""One notebook through nbval, with the cold and with the warm kernel.

    python -m benchmarks.notebooks

Both are whole runs of pytest on the solved lesson 1. A process that holds on to the template plays
the part of a suite that is running already.
"""

import subprocess
import sys
import time
from pathlib import Path

from jupyter_client.manager import start_new_kernel

ROOT = Path(__file__).resolve().parents[1]
LESSON = "solutions/01-averaging"
TIMES = 3


def main() -> None:
    """Prints the seconds of both, and the ratio."""
    manager, client = start_new_kernel(kernel_name="warm", startup_timeout=120)
    try:
        pairs = [(seconds("python3"), seconds("warm")) for _ in range(TIMES)]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    cold, warm = (min(each) for each in zip(*pairs, strict=True))
    print(f"nbval on {LESSON}, the best of {TIMES}: cold {cold:.1f} s, warm {warm:.1f} s")
    print(f"ratio: {cold / warm:.1f}")


def seconds(kernel: str) -> float:
    """A run of pytest with that kernel, which must pass."""
    options = ["-q", "-p", "no:cacheprovider", "--nbval-lax", f"--nbval-kernel-name={kernel}"]
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, LESSON], cwd=ROOT, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(done.stdout)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
