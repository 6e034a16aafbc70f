import inspect
import warnings

import numpy as np
import pytest

import attune
from attune import _attune
from conftest import moved, surface


def test_any_pose_is_found(pair):
    source, target, truth = pair
    result = attune.register(source, target, init="auto", device="host")
    assert result.trusted and result.verdict == "trusted" and result.reason
    assert np.allclose(result.transform, truth, atol=1e-3)
    assert result.rmse < 0.01 and result.overlap > 0.95 and result.covariance.shape == (6, 6)
    assert np.allclose(result.apply(source), moved(source, truth), atol=5e-3)


def test_a_list_of_devices(pair):
    source, target, truth = pair
    for device in (["host"], ("host", "opencl") if any(d.backend == "opencl" for d in attune.devices()) else ["host"]):
        result = attune.register(source, target, init=truth, device=device, dense=True, no_covariance=True)
        assert np.allclose(result.transform, truth, atol=1e-3)
    with pytest.raises(ValueError, match="named twice"):
        attune.register(source, target, device=["host", "host"])
    with pytest.raises(ValueError, match="is empty"):
        attune.register(source, target, device=[])


@pytest.mark.parametrize("change", [
    lambda a: a.astype("f4"), lambda a: np.asfortranarray(a), lambda a: np.repeat(a, 2, axis=0)[::2], lambda a: a.tolist(),
    lambda a: a.astype(">f8"), lambda a: np.hstack([a, a])[:, :3], lambda a: memoryview(np.ascontiguousarray(a)),
])
def test_types_and_orders_do_not_matter(pair, change):
    source, target, truth = pair
    result = attune.register(change(source), target, init=truth, device="host", no_covariance=True)
    assert np.allclose(result.transform, truth, atol=1e-3)


def test_read_only_arrays_are_fine(pair):
    source, target, truth = pair
    source.flags.writeable = target.flags.writeable = False
    assert attune.register(source, target, init=truth, device="host").trusted


def test_files_clouds_and_open3d_objects(pair, tmp_path):
    source, target, truth = pair
    path = tmp_path / "source.npy"
    np.save(path, source)
    cloud = attune.read_cloud(path)
    assert np.array_equal(cloud.points, source) and cloud.normals is None and "NPY" in cloud.format

    class PointCloud:  # as Open3D's
        points, normals = list(target), []

        def has_normals(self):
            return False

    for given in (path, str(path), cloud):
        assert np.allclose(attune.register(given, PointCloud(), init=truth, device="host").transform, truth, atol=1e-3)


def test_normals_are_used(pair):
    _, target, _ = pair
    with_normals = attune.Cloud(target, np.tile(np.float32([0, 0, 1]), (len(target), 1)))
    result = attune.register(target + 0.001, with_normals, init="identity", method="icp-plane", device="host")
    assert np.allclose(result.transform[2, 3], -0.001, atol=1e-3)


def test_mismatched_clouds_are_a_verdict_not_an_exception(pair):
    source, _, _ = pair
    rng = np.random.default_rng(5)
    result = attune.register(source, rng.normal(size=(1000, 3)) * 40, device="host", init="identity")
    assert not result.trusted and result.verdict in ("refused", "doubtful") and result.reason


@pytest.mark.parametrize("wrong, kind, says", [
    (dict(source=np.zeros((4, 2))), ValueError, r"source has the shape \(4, 2\); expected \(n, 3\)"),
    (dict(source=np.zeros(3)), ValueError, "source has the shape"),
    (dict(source=np.zeros((4, 3), complex)), TypeError, "complex128; expected real numbers"),
    (dict(target=np.array([["a", "b", "c"]])), TypeError, "expected real numbers"),
    (dict(target=[object()]), TypeError, "not an array of numbers"),
    (dict(target=np.zeros((0, 3))), ValueError, None),
    (dict(source=np.full((9, 3), np.nan)), ValueError, None),
    (dict(method="icq"), ValueError, "method cannot be 'icq'; there are em-icp, icp"),
    (dict(method=3), TypeError, "method takes a name, not int"),
    (dict(precision=31), ValueError, "31"),
    (dict(precision=32.5), TypeError, "precision takes a whole number, not float"),
    (dict(trim="much"), TypeError, "trim takes a number, not str"),
    (dict(trim=float("nan")), ValueError, "trim is NaN"),
    (dict(trim=-1.0, method="icp"), ValueError, None),
    (dict(dense="yes"), TypeError, "dense takes True or False"),
    (dict(init="aut"), ValueError, "init cannot be 'aut'"),
    (dict(init=np.eye(3)), ValueError, r"init has the shape \(3, 3\)"),
    (dict(progress=5), TypeError, "progress takes"),
    (dict(device="nothing of that name"), ValueError, "no device has that name"),
    (dict(device=2.5), TypeError, "device takes"),
    (dict(colour="red"), TypeError, "colour"),
    (dict(source="nowhere.ply"), attune.Error, "nowhere.ply"),
])
def test_wrong_questions_are_refused(pair, wrong, kind, says):
    source, target, _ = pair
    given = dict(dict(source=source, target=target, device="host"), **wrong)
    with pytest.raises(kind, match=says) as raised:
        attune.register(given.pop("source"), given.pop("target"), **given)
    assert "\n" not in str(raised.value)


def test_invalid_points_can_be_dropped(pair):
    source, target, truth = pair
    source[7] = np.nan
    with pytest.raises(ValueError):
        attune.register(source, target, init=truth, device="host")
    assert attune.register(source, target, init=truth, device="host", drop_invalid=True).trusted


def test_marks_and_strays_do_not_decide(pair):
    """Nine tenths of the points at one place, a different one in each cloud; and one point that is far away from all."""
    source, target, truth = pair
    clean = attune.register(source, target, init=truth, device="host").transform
    marked = [np.concatenate([c, np.repeat(c[k : k + 1], 9 * len(c), 0)]) for c, k in ((source, 3), (target, 99))]
    result = attune.register(*marked, init=truth, device="host")
    assert result.trusted and np.allclose(result.transform, clean, atol=1e-3)
    with pytest.warns(RuntimeWarning, match="far from all others"):
        result = attune.register(source, np.concatenate([target, [[1e6, 0, 0]]]), device="host")
    assert result.trusted and np.allclose(result.transform, truth, atol=1e-3)


def test_progress_is_called_and_may_stop_it(pair, capfd):
    source, target, truth = pair
    steps = []
    attune.register(source, target, init=truth, device="host", progress=steps.append)
    assert [s["iteration"] for s in steps] == list(range(1, len(steps) + 1)) and steps[0]["source"] > 0
    with pytest.raises(attune.Error) as raised:
        attune.register(source, target, init=truth, device="host", progress=lambda step: False)
    assert raised.value.status == "cancelled"

    def fail(step):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        attune.register(source, target, init=truth, device="host", progress=fail)
    assert attune.register(source, target, init=truth, device="host", progress=True).trusted
    assert "iteration" in capfd.readouterr().err


def test_a_callback_may_register_itself(pair):
    source, target, truth = pair
    inner = []

    def watch(step):
        if not inner:
            inner.append(attune.register(source, target, init=truth, device="host"))

    assert attune.register(source, target, init=truth, device="host", progress=watch).trusted and inner[0].trusted


def test_it_prints_well(pair):
    source, target, truth = pair
    result = attune.register(source, target, init=truth, device="host", profile=True)
    assert "trusted" in repr(result) and result.profile and result.profile[0]["seconds"] >= 0
    page = result._repr_html_()
    assert page.startswith("<iframe") and "canvas" in page and "source" in page


def test_settings_are_those_of_the_c_struct():
    have = set(inspect.signature(attune.register).parameters)
    assert set(_attune.register_settings()) - {"start"} <= have
    extra = have - set(_attune.register_settings())
    assert extra == {"source", "target", "device", "progress", "drop_invalid"}


def test_methods_and_transforms(pair):
    source, target, truth = pair
    for method in ("icp", "gicp", "cpd"):
        assert np.allclose(attune.register(source, target, init=truth, method=method, device="host").transform, truth, atol=0.02)
    bigger = attune.register(source / 1.1, target, init=truth, transform="similarity", device="host")
    assert abs(bigger.scale - 1.1) < 0.01


def test_surfaces_of_conftest_differ():
    assert not np.allclose(surface(seed=1)[:10], surface(seed=2)[:10])


def test_warnings_of_the_library_are_warnings_here(pair):
    source, target, truth = pair
    far = np.vstack([source, source[:1] + 1e9])
    with pytest.warns(RuntimeWarning, match="1 of .* points of the source are far from all others"):
        result = attune.register(far, target, init=truth, device="host", no_covariance=True)
    assert np.allclose(result.transform, truth, atol=1e-2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert attune.register(source, target, init=truth, device="host", no_covariance=True).trusted
