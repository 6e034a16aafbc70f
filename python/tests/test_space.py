import math

import pytest

import attune

LANAI = """
x = range(1, 9)
y = pow2(1, 16)
kind = ("rows", "columns")

@require
def small(x, y):
    return x * y <= 16
"""


def test_a_space_is_counted_listed_and_sampled(tmp_path):
    path = tmp_path / "mine.lanai"
    path.write_text(LANAI)
    for space in (attune.space(path), attune.space(LANAI)):
        allowed = [(x, y) for x in range(1, 9) for y in (1, 2, 4, 8, 16) if x * y <= 16]
        assert space.count == 2 * len(allowed) and space.product == 80
        assert list(space.parameters) == ["x", "y", "kind"] and space.constraints == ["small"]
        points = space.sample(10, seed=3)
        assert len(points) == 10 and all(p["x"] * p["y"] <= 16 for p in points) and points == space.sample(10, seed=3)
        assert len(space.list()) == space.count == len(list(space)) and len(space.list(5)) == 5
        assert space.why(dict(x=8, y=16, kind="rows")) == "small" and dict(x=1, y=1, kind="rows") in space
        assert dict(x=99, y=1, kind="rows") not in space
        assert "3 parameters" in repr(space) and "columns" in space._repr_html_()


def test_shipped_given_and_wrong_spaces():
    assert attune.space("example").count > 0
    assert attune.space("import kernel\nx = range(0, kernel.points)\n", given={"kernel.points": 7}).count == 7
    with pytest.raises(ValueError, match=":1:"):
        attune.space("x = rnge(1)\n")
    with pytest.raises(attune.Error, match="not a space that is shipped"):
        attune.space("nowhere.lanai")
    with pytest.raises(ValueError, match="no value"):
        attune.space(LANAI).why(dict(x=1))


def bowl(point):
    return 1 + abs(math.log2(point["bx"]) - 4) + abs(point["by"] - 3)


PARAMETERS = {"bx": [2**k for k in range(9)], "by": range(1, 9), "unroll": [False, True], "order": ["a", "b"]}


@pytest.mark.parametrize("strategy", [None, "model", "local", "evolutionary", "annealing", "random", "exhaustive"])
def test_strategies_find_the_least(strategy):
    found = attune.tune_space(["bx * by <= 1024"], PARAMETERS, bowl, strategy=strategy, evaluations=288, seed=1)
    assert found.best["bx"] == 16 and found.best["by"] == 3 and found.seconds == 1
    assert found.tried <= 288 and found.failed == 0
    seen = [tuple(p.values()) for p, _, _ in found.history]
    assert len(set(seen)) == len(seen)  # none twice


def test_functions_restrict_and_failures_are_survived():
    calls = []

    def objective(point):
        calls.append(point)
        if point["bx"] > 64:
            raise RuntimeError("too large")
        if point["by"] == 8:
            raise TimeoutError
        return math.nan if point["order"] == "b" else bowl(point)

    found = attune.tune_space([lambda p: not p["unroll"]], PARAMETERS, objective, strategy="random", evaluations=80)
    assert all(not p["unroll"] for p in calls) and found.failed > 0
    assert {o for _, _, o in found.history} == {"right", "wrong", "crash", "hang"} and found.best["order"] == "a"


def test_budgets_callbacks_and_wrong_questions():
    space = attune.space("x = range(1, 1000)\n")
    seen = []
    found = attune.tune_space(None, space, lambda p: p["x"], progress=lambda so_far: seen.append(so_far.tried) or len(seen) < 5)
    assert found.tried == 5 and seen == [1, 2, 3, 4, 5]
    assert attune.tune_space(None, space, lambda p: p["x"], budget=0.05).tried >= 1
    with pytest.raises(TypeError, match="the objective returned"):
        attune.tune_space(None, {"x": [1]}, lambda p: "fast")
    with pytest.raises(ValueError, match="there are portfolio"):
        attune.tune_space(None, {"x": [1]}, bowl, strategy="luck")
    with pytest.raises(ValueError, match="allows no point"):
        attune.tune_space(["x > 5"], {"x": [1]}, bowl)
    with pytest.raises(ValueError, match="there is no 'z'"):
        attune.tune_space(["z > 5"], {"x": [1]}, bowl)
    with pytest.raises(TypeError, match="restriction"):
        attune.tune_space([5], {"x": [1]}, bowl)
    with pytest.raises(TypeError, match="values of parameters"):
        attune.tune_space(None, {"x": [object()]}, bowl)
    with pytest.raises(KeyboardInterrupt):
        attune.tune_space(None, {"x": [1, 2]}, interrupt)


def interrupt(point):
    raise KeyboardInterrupt
