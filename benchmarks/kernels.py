"""From "start kernel" to "torch imported" in a notebook, cold and warm.

    python -m benchmarks.kernels

The same client, jupyter_client's, starts the kernelspecs `python3` and `warm` in turn; the first
warm one, which starts the template, stands apart.
"""

import os
import statistics
import tempfile
import time

from jupyter_client.manager import start_new_kernel

TIMES = 7


def main() -> None:
    """Prints the median seconds of both, and the ratio."""
    first = seconds("warm")  # and this process holds on to the template from now on
    cold, warm = [], []
    for _ in range(TIMES):
        cold.append(seconds("python3"))
        warm.append(seconds("warm"))
    cold, warm = statistics.median(cold), statistics.median(warm)
    print(f"start to torch imported, medians of {TIMES}: cold {cold:.2f} s, warm {warm:.2f} s")
    print(f"the first warm one, which starts the template: {first:.2f} s")
    print(f"ratio: {cold / warm:.1f}")


def seconds(name: str) -> float:
    """Until a kernel of that name has run `import torch`."""
    start = time.perf_counter()
    manager, client = start_new_kernel(kernel_name=name, startup_timeout=120)
    try:
        reply = client.execute_interactive("import torch", timeout=120)
        taken = time.perf_counter() - start
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert reply["content"]["status"] == "ok", reply
    return taken


if __name__ == "__main__":
    os.chdir(tempfile.gettempdir())
    main()
