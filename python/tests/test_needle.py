import inspect
import json

import numpy as np
import pytest

import attune
from attune import _attune


@pytest.fixture
def sample(needle_folder):
    return needle_folder, json.loads((needle_folder / "truth.json").read_text())


def test_its_pose_in_a_folder_of_scans(sample):
    folder, truth = sample
    pose = attune.needle(folder / "model.stl", folder / "scan", device="host")
    t = np.array(truth["transform"]).reshape(4, 4)
    tip = t[:3, :3] @ truth["tip_model"] + t[:3, 3]
    assert pose.found and np.linalg.norm(pose.tip - tip) < 0.05
    assert pose.covariance.shape == (6, 6) and pose.transform.shape == (4, 4)
    assert "found" in repr(pose) and "tip" in pose._repr_html_()


def test_its_pose_in_points_from_the_last_pose(sample):
    folder, truth = sample
    t = np.array(truth["transform"]).reshape(4, 4)
    model = attune.read_cloud(folder / "model.stl")
    scan = model.points @ t[:3, :3].T + t[:3, 3]
    pose = attune.needle(folder / "model.stl", scan, init=t, track=True, device="host")
    assert pose.found and np.allclose(pose.transform[:3, 3], t[:3, 3], atol=0.05)


@pytest.mark.parametrize("wrong, kind, says", [
    (dict(volume=np.zeros((2, 3, 4))), TypeError, "uint8 or uint16"),
    (dict(volume=np.zeros((2, 2, 3, 4), "u1")), ValueError, "scans, rows, columns"),
    (dict(spacing=(1, 2)), ValueError, "spacing takes 3 numbers"),
    (dict(count="both"), ValueError, "count cannot be 'both'; there are scan, model"),
    (dict(init=np.eye(3)), ValueError, "init"),
    (dict(volume="no such folder"), attune.Error, "no such folder"),
])
def test_wrong_questions_are_refused(sample, wrong, kind, says):
    folder, _ = sample
    given = dict(dict(volume=np.zeros((2, 8, 8), "u1"), spacing=(0.01, 0.01, 0.01), device="host"), **wrong)
    with pytest.raises(kind, match=says):
        attune.needle(folder / "model.stl", given.pop("volume"), **given)


def test_an_empty_volume_has_no_needle(sample):
    folder, _ = sample
    pose = attune.needle(folder / "model.stl", np.zeros((20, 60, 60), "u1"), spacing=(0.01, 0.01, 0.02), device="host")
    assert not pose.found and pose.reason


def test_settings_are_those_of_the_c_structs():
    for names in _attune.needle_settings():
        assert set(names) - {"has_start", "start"} <= set(inspect.signature(attune.needle).parameters)
