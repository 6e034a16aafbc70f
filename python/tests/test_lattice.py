import inspect

import numpy as np
import pytest

import attune
from attune import _attune


def crystal(n=5, a=4.05, noise=0.08, seed=0):
    """fcc, with a tenth of the atoms missing."""
    rng = np.random.default_rng(seed)
    cells = np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), -1).reshape(-1, 1, 3)
    base = np.array([[0, 0, 0], [0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]])
    atoms = a * (cells + base).reshape(-1, 3)
    atoms = atoms[rng.random(len(atoms)) > 0.1]
    return atoms + rng.normal(size=atoms.shape) * noise


def test_structure_orientation_confidence():
    positions = crystal()
    atoms = attune.lattice(positions, models=["bcc", "fcc", "hcp"], device="host")
    assert len(atoms) == len(positions) and atoms.names == ["other", "bcc", "fcc", "hcp"]
    assert atoms.counts["fcc"] > 0.6 * len(positions)
    assert atoms.orientation.shape == (len(positions), 4)
    assert np.allclose(np.linalg.norm(atoms.orientation, axis=1), 1, atol=1e-4)
    assert 0 <= atoms.confidence.min() and atoms.confidence.max() <= 1
    assert abs(atoms.info["constant"][1] - 4.05) < 0.1
    assert "fcc" in repr(atoms) and "<table>" in atoms._repr_html_()


def test_a_list_of_devices():
    positions = crystal(n=4)
    one = attune.lattice(positions, models={"fcc": 4.05}, device="host")
    for device in (["host"], ("host", "opencl") if any(d.backend == "opencl" for d in attune.devices()) else ["host"]):
        atoms = attune.lattice(positions, models={"fcc": 4.05}, device=device)
        assert (atoms.structure == one.structure).mean() > 0.95 and atoms.names == one.names
    with pytest.raises(ValueError, match="named twice"):
        attune.lattice(positions, device=["host", "host"])


def test_units_models_and_orders(tmp_path):
    positions = crystal(n=4)
    plain = attune.lattice(positions, models={"fcc": 4.05}, device="host")
    nm = attune.lattice(np.asfortranarray(positions / 10), unit="nm", models=[("fcc", 4.05)], device="host")
    assert plain.counts == nm.counts and plain.names == ["other", "fcc"]
    around = 4.05 * np.array([[x, y, z] for x in (-0.5, 0, 0.5) for y in (-0.5, 0, 0.5) for z in (-0.5, 0, 0.5)
                              if abs(x) + abs(y) + abs(z) == 1])
    own = attune.lattice(positions, models=[("mine", around)], device="host", cutoff=3.4)
    assert own.names == ["other", "mine"] and own.counts["mine"] > 0.3 * len(positions)


@pytest.mark.parametrize("wrong, kind", [
    (dict(models=["iron"]), ValueError), (dict(unit="inch"), ValueError), (dict(noise="low"), TypeError),
    (dict(species=[1, 2]), ValueError), (dict(models=[("x", np.zeros((3, 2)))]), ValueError), (dict(models=[3]), TypeError),
])
def test_wrong_questions_are_refused(wrong, kind):
    with pytest.raises(kind):
        attune.lattice(crystal(n=3), device="host", **wrong)
    with pytest.raises(ValueError, match="NaN"):
        attune.lattice(np.full((5, 3), np.nan), device="host")


def test_settings_are_those_of_the_c_struct():
    theirs = {name for name in _attune.lattice_settings() if not name.startswith("has_")}
    assert theirs <= set(inspect.signature(attune.lattice).parameters)
