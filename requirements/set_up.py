"""Makes a virtual environment hold what a lock names; does nothing when it already does.

    python3 requirements/set_up.py LOCK FOLDER [--exact-python]

Runs before anything is installed, so it knows the standard library only. A folder of another Python version is kept, unless
`--exact-python` asks for the version of the Python that runs this.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
import venv
from pathlib import Path

OLDEST = (3, 11)
_NAMED = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==", re.MULTILINE)


def version_of(folder: Path) -> str:
    """Give "3.11" for a folder whose Python runs and has pip, "" for any other."""
    asked = "import pip, sys; sys.stdout.write('%d.%d' % sys.version_info[:2])"
    try:
        told = subprocess.run([str(folder / "bin" / "python"), "-c", asked], capture_output=True, text=True, check=False)  # noqa: S603
    except OSError:
        return ""
    return told.stdout if told.returncode == 0 else ""


def make_folder(folder: Path) -> None:
    """Make an empty environment of the running Python; whatever stood in `folder` goes."""
    sys.stderr.write(f"Making {folder} with Python {sys.version.split()[0]} …\n")
    try:
        venv.create(folder, clear=True, with_pip=True, symlinks=True)
    except subprocess.CalledProcessError:
        raise SystemExit("This Python cannot make virtual environments with pip. Debian and Ubuntu: apt-get install python3-venv") from None


def install(lock: Path, folder: Path) -> None:
    """Install what `lock` names, wheels with the named hashes only; exits with pip's code when pip fails."""
    count = len(set(_NAMED.findall(lock.read_text("utf-8"))))
    sys.stderr.write(f"Installing {count} packages of {lock} into {folder}, half a minute or so …\n")
    command = [str(folder / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "-q", "-q"]
    done = subprocess.run([*command, "--require-hashes", "--only-binary", ":all:", "-r", str(lock)], check=False)  # noqa: S603
    if done.returncode:
        raise SystemExit(done.returncode)


def main() -> None:
    """Bring the folder that the arguments name up to the lock that they name."""
    if sys.version_info < OLDEST:
        raise SystemExit(
            f"memoryui needs Python 3.11 or newer, this is {sys.version.split()[0]}. Say which to use: make … PYTHON=python3.12"
        )
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("lock", type=Path)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--exact-python", action="store_true", help="make the folder anew when it has another Python version")
    given = arguments.parse_args()
    lock, folder = given.lock, given.folder
    wanted = "{}.{}".format(*sys.version_info[:2])
    found = version_of(folder)
    if not found or (given.exact_python and found != wanted):
        make_folder(folder)
    stamp = folder / f"{lock.stem}-{hashlib.sha256(lock.read_bytes()).hexdigest()}"
    if stamp.exists():
        return
    install(lock, folder)
    for old in folder.glob(f"{lock.stem}-*"):
        old.unlink()
    stamp.touch()


if __name__ == "__main__":
    main()
