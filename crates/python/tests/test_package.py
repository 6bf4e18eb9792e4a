"""The installed package by itself."""

import subprocess
import sys

import pytest


def test_importing_is_quick_and_needs_nothing() -> None:
    program = """
import sys, time
before = set(sys.modules)
started = time.process_time()
import goldilocks_cbt
print(time.process_time() - started)
others = {name.split(".")[0] for name in set(sys.modules) - before} - {"goldilocks_cbt"}
print(*sorted(others - set(sys.stdlib_module_names)))
"""
    seconds = []
    for _ in range(5):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        first, others = done.stdout.split("\n")[:2]
        seconds.append(float(first))
        assert others == ""
    print(f"import: {1000 * min(seconds):.0f} ms of a processor")
    assert min(seconds) < 0.05


def test_types_are_those_of_the_native_module() -> None:
    pytest.importorskip("mypy")
    stubs = ["-m", "mypy.stubtest", "goldilocks_cbt._native", "--ignore-missing-stub"]
    done = subprocess.run([sys.executable, *stubs], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
