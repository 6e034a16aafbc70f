"""The notebooks and the README's lines run, and what they show shows itself."""

import ast
import json
import os
import pathlib
import re

import pytest

from conftest import needs_compiler

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "python" / "notebooks").glob("*.ipynb"))


def run_cell(text, names):
    """As a notebook does: the value of a last expression is shown."""
    tree = ast.parse(text)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        return value._repr_html_() if hasattr(value, "_repr_html_") else repr(value)
    return ""


def test_there_are_four():
    assert [n.stem for n in NOTEBOOKS] == ["lattice", "own_kernel", "register", "unwrap"]


def case(path):
    return pytest.param(path, id=path.stem, marks=[needs_compiler] if path.stem == "own_kernel" else [])


@pytest.mark.parametrize("path", [case(path) for path in NOTEBOOKS])
def test_notebooks_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    shown = []
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], "outputs are not kept in the repository"
            shown.append(run_cell("".join(cell["source"]), names))
    checks = {
        "register": lambda: names["result"].trusted and not names["other"].trusted and "<iframe" in shown[1],
        "unwrap": lambda: abs(names["error"] - names["np"].median(names["error"])).max() < 1e-7,
        "lattice": lambda: names["found"].counts["fcc"] > 0.6 * len(names["positions"]),
        "own_kernel": lambda: abs(names["out"] - names["plain"]).max() < 1e-5,
    }
    assert checks[path.stem]()


def test_the_lines_of_the_readme_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert names["result"].trusted and "(200, 200)" in capsys.readouterr().out
    assert not os.listdir(tmp_path)
