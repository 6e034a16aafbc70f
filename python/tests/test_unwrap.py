import inspect
import threading

import numpy as np
import pytest

import attune
from attune import _attune
from conftest import off, wrapped


def test_a_bowl_is_unwrapped_in_single_and_double():
    phase, bowl = wrapped()
    double = attune.unwrap(phase, device="host")
    single = attune.unwrap(phase.astype("f4"), device="host")
    assert double.dtype == "f8" and single.dtype == "f4"
    assert off(double, bowl) < 1e-6 and off(single, bowl) < 1e-2


def test_masks_holes_and_heights():
    phase, bowl = wrapped()
    mask = np.ones(phase.shape, bool)
    mask[10:20, 30:50] = False
    phase[70, 70] = np.nan
    height, result = attune.unwrap(phase, mask=mask, wavelength=632.8e-9, device="host", full_output=True)
    assert np.isnan(height[15, 40]) and np.isnan(height[70, 70])
    assert off(height * 4 * np.pi / 632.8e-9, bowl) < 1e-6
    assert result.converged and result.valid == mask.sum() - 1 and result.residues == 0
    for other in (mask.astype("i8"), mask.astype("f4"), np.asfortranarray(mask)):
        assert np.allclose(attune.unwrap(phase, mask=other, wavelength=632.8e-9, device="host"), height, equal_nan=True)


def test_orders_and_other_types():
    phase, bowl = wrapped()
    for given in (np.asfortranarray(phase), np.repeat(phase, 2, axis=1)[:, ::2], phase.tolist(), phase[::-1][::-1]):
        assert off(attune.unwrap(given, device="host"), bowl) < 1e-6


def test_an_unwrapper_serves_frames():
    phase, bowl = wrapped()
    with attune.Unwrapper(shape=phase.shape, device="host", bits=64) as unwrapper:
        for k in range(3):
            assert off(unwrapper(phase + 0.1 * k, warm=True, remove="piston"), bowl) < 1e-5
        out = np.empty(phase.shape)
        assert unwrapper(phase, out=out) is out and off(out, bowl) < 1e-6
        turned = np.empty(phase.shape[::-1]).T
        assert unwrapper(phase, out=turned) is turned and off(turned, bowl) < 1e-6
        assert unwrapper.result.converged and "grids" in unwrapper.explain()
        with pytest.raises(ValueError, match="out is read-only"):
            out.flags.writeable = False
            unwrapper(phase, out=out)
        with pytest.raises(ValueError, match="out is"):
            unwrapper(phase, out=np.empty((3, 3)))
        with pytest.raises(TypeError, match="out takes"):
            unwrapper(phase, out=[1.0])
        with pytest.raises(ValueError, match="where frames have"):
            unwrapper(phase[1:])
    with pytest.raises(ValueError, match="closed"):
        unwrapper(phase)
    with pytest.raises(attune.Error, match="closed"):
        unwrapper.explain()


def test_threads_take_turns():
    phase, bowl = wrapped()
    found = []
    with attune.Unwrapper(shape=phase.shape, device="host", bits=64) as unwrapper:

        def work():
            for _ in range(5):
                found.append(off(unwrapper(phase), bowl))

        threads = [threading.Thread(target=work) for _ in range(3)]
        [t.start() for t in threads]
        [t.join() for t in threads]
    assert len(found) == 15 and max(found) < 1e-6


@pytest.mark.parametrize("wrong, kind, says", [
    (dict(phase=np.zeros(5)), ValueError, r"expected \(rows, columns\)"),
    (dict(phase=np.zeros((4, 4), complex)), TypeError, "real numbers"),
    (dict(mask=np.ones((3, 3))), ValueError, "mask has the shape"),
    (dict(quality=np.full((96, 80), -1.0)), ValueError, None),
    (dict(weights="heavy"), ValueError, "weights cannot be 'heavy'; there are default, none"),
    (dict(bits=16), ValueError, "16"),
    (dict(wavelength=632.8), ValueError, "it is in metres"),
    (dict(tolerance="small"), TypeError, "tolerance takes a number"),
    (dict(method=None, smoother="rough"), ValueError, "smoother cannot be"),
])
def test_wrong_questions_are_refused(wrong, kind, says):
    given = dict(dict(phase=wrapped()[0], device="host"), **wrong)
    with pytest.raises(kind, match=says):
        attune.unwrap(given.pop("phase"), **given)


def test_settings_are_those_of_the_c_structs():
    options, settings = _attune.unwrap_settings()
    assert set(options) <= set(inspect.signature(attune.Unwrapper).parameters)
    assert set(settings) <= set(inspect.signature(attune.Unwrapper.__call__).parameters)
    assert set(options + settings) - {"warm"} <= set(inspect.signature(attune.unwrap).parameters)
