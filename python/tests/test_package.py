"""The package itself: its examples, its types, its program."""

import doctest
import importlib
import os
import pkgutil
import subprocess
import sys

import pytest

import attune
from attune import _attune
from attune._engines import program
from conftest import needs_compiler


@pytest.mark.parametrize("name", ["attune"] + [f"attune.{m.name}" for m in pkgutil.iter_modules(attune.__path__) if m.name != "_attune"])
def test_examples_in_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_everything_public_is_documented():
    for name in attune.__all__:
        assert name == "__version__" or getattr(attune, name).__doc__, name


def test_types():
    mypy = [sys.executable, "-m", "mypy"]
    if subprocess.run([*mypy, "--version"], capture_output=True).returncode != 0:
        pytest.skip("mypy is not installed")
    done = subprocess.run([*mypy, "--strict", "--cache-dir", os.devnull, os.path.dirname(attune.__file__)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_stubs_name_what_the_module_has():
    path = os.path.join(os.path.dirname(attune.__file__), "_attune.pyi")
    with open(path) as file:
        text = file.read()
    for name in dir(_attune):
        if not name.startswith("__"):
            assert f"def {name}(" in text or f"class {name}" in text or f"{name}:" in text, name


def test_one_binary_for_all_versions():
    assert _attune.__file__.endswith(".abi3.so")
    assert not hasattr(_attune, "atn_ctx_create")


def test_the_program_comes_along():
    done = subprocess.run([program(), "help"], capture_output=True, text=True)
    assert done.returncode == 0 and "register" in done.stdout


def test_devices():
    found = attune.devices()
    assert found[0].backend == "host" and found[0].cores >= 1 and "host" in repr(found) and "<table>" in found._repr_html_()
    with pytest.raises(ValueError, match="no such index"):
        attune.kernel("gemm", device=99)


@needs_compiler
def test_peaks_are_measured():
    assert attune.devices()[0].peaks()["fp32"] > 0


def test_errors_have_a_kind():
    assert issubclass(attune.InputError, attune.Error) and issubclass(attune.InputError, ValueError)
    with pytest.raises(attune.Error) as raised:
        attune.read_cloud("nowhere.ply")
    assert raised.value.status == "io" and "nowhere.ply" in str(raised.value)
