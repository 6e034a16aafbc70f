"""attune: 3D point set registration and optical metrology, with kernels that tune themselves.

    >>> import numpy, attune
    >>> rng = numpy.random.default_rng(1)
    >>> target = rng.normal(size=(500, 3)) * (1, 2, 3)
    >>> result = attune.register(target - (0.02, 0, 0.01), target, init="identity", device="host")
    >>> numpy.allclose(result.transform[:3, 3], (0.02, 0, 0.01), atol=1e-4)
    True

Arrays go in as they are (NumPy, anything with ``__array_interface__``, the buffer protocol or DLPack), results are
NumPy arrays. Work runs without the interpreter's lock, and Ctrl-C stops it.
"""

from ._align import Poses, register_many
from ._arrays import DeviceArray
from ._attune import Error, InputError
from ._attune import version as __version__
from ._batch import register_batch
from ._clouds import Cloud, read_cloud
from ._devices import Device, devices
from ._kernel import Kernel, Tuned, kernel
from ._lattice import Atoms, lattice
from ._needle import NeedlePose, needle
from ._register import Registration, register
from ._space import Space, SpaceTuned, space, tune_space
from ._stream import unwrap_stream
from ._unwrap import Unwrapped, Unwrapper, unwrap
from ._wisdom import Wisdom, WisdomEntry, wisdom

__all__ = [
    "Atoms",
    "Cloud",
    "Device",
    "DeviceArray",
    "Error",
    "InputError",
    "Kernel",
    "NeedlePose",
    "Poses",
    "Registration",
    "Space",
    "SpaceTuned",
    "Tuned",
    "Unwrapped",
    "Unwrapper",
    "Wisdom",
    "WisdomEntry",
    "__version__",
    "devices",
    "kernel",
    "lattice",
    "needle",
    "read_cloud",
    "register",
    "register_batch",
    "register_many",
    "space",
    "tune_space",
    "unwrap",
    "unwrap_stream",
    "wisdom",
]
