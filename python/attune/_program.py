"""The program attune, as pip puts it on the PATH."""

from __future__ import annotations

import os
import sys

from ._engines import program


def main() -> None:
    """Becomes the program that comes with the package."""
    path = program()
    os.execv(path, ["attune", *sys.argv[1:]])
