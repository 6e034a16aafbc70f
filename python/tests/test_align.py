import numpy as np
import pytest

import attune
from conftest import moved, pose, surface


def strips():
    """Three overlapping parts of one surface, each in a frame of its own."""
    whole = surface(9000, noise=0.001)
    poses = [np.eye(4), pose(0.5, (1, 0, 0.3)), pose(-0.8, (0, 2, 0))]
    parts = [whole[whole[:, 0] < 0.8], whole[abs(whole[:, 0]) < 2.2], whole[whole[:, 0] > -0.8]]
    return [moved(part, np.linalg.inv(t)) for part, t in zip(parts, poses)], poses


def test_scans_into_one_frame():
    scans, truth = strips()
    steps = []
    poses = attune.register_many(scans, device="host", progress=steps.append)
    assert poses.placed.all() and len(poses) == 3 and poses.anchor == 0 and steps
    for found, t in zip(poses.transforms, truth):
        assert np.allclose(found, truth[0] @ t, atol=0.02)
    assert poses.covariances.shape == (3, 6, 6) and any(edge["used"] for edge in poses.edges)
    assert "3 of 3" in repr(poses) and "<iframe" in poses._repr_html_()


def test_wrong_questions_are_refused():
    scans, _ = strips()
    with pytest.raises(ValueError, match="two"):
        attune.register_many(scans[:1], device="host")
    with pytest.raises(ValueError, match=r"scans\[1\]"):
        attune.register_many([scans[0], np.zeros((3, 2))], device="host")
    with pytest.raises(TypeError, match="unknown setting 'colour'"):
        attune.register_many(scans, pairs={"colour": 1}, device="host")
    with pytest.raises(attune.Error):
        attune.register_many(scans, device="host", progress=lambda step: False)
    with pytest.raises(TypeError, match="progress"):
        attune.register_many(scans, device="host", progress=3)
