"""The package itself: its examples, its types, its program."""

import doctest
import importlib
import os
import pkgutil
import shutil
import subprocess
import sys

import pytest

import attune
from attune import _attune
from attune._engines import program


@pytest.mark.parametrize("name", ["attune"] + [f"attune.{m.name}" for m in pkgutil.iter_modules(attune.__path__) if m.name != "_attune"])
def test_examples_in_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_everything_public_is_documented():
    for name in attune.__all__:
        assert name == "__version__" or getattr(attune, name).__doc__, name


USER = """
import attune

result: attune.Registration = attune.register([[0.0, 0.0, 0.0]], "target.ply", init="auto", progress=True)
good: bool = result.trusted
rmse: float = result.rmse
attune.register("a.ply", "b.ply", methd="icp")
"""


def test_types(tmp_path):
    """Of the package, and of a program that uses it: its one mistake is found."""
    mypy = [sys.executable, "-m", "mypy"]
    if subprocess.run([*mypy, "--version"], capture_output=True).returncode != 0:
        pytest.skip("mypy is not installed")
    shutil.copytree(os.path.dirname(attune.__file__), tmp_path / "attune", ignore=shutil.ignore_patterns("bin", "*.so"))
    (tmp_path / "user.py").write_text(USER)
    done = subprocess.run([*mypy, "--strict", "--cache-dir", os.devnull, "attune", "user.py"], cwd=tmp_path, capture_output=True, text=True)
    wrong = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert len(wrong) == 1 and 'user.py:7: error: Unexpected keyword argument "methd"' in wrong[0], done.stdout


def test_the_lines_of_the_readme(tmp_path):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "README.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    lines = text[text.index("```python") + 9 :]
    done = subprocess.run([sys.executable, "-c", lines[: lines.index("```")]], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "True" in done.stdout, done.stderr


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


def test_errors_have_a_kind():
    assert issubclass(attune.InputError, attune.Error) and issubclass(attune.InputError, ValueError)
    with pytest.raises(attune.Error) as raised:
        attune.read_cloud("nowhere.ply")
    assert raised.value.status == "io" and "nowhere.ply" in str(raised.value)
