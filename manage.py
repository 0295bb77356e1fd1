#!/usr/bin/env python3
"""Command line of memoryui: every management command starts here."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from memoryui import demo_place
from memoryui.secret_key import KeyUnusable


def main() -> None:
    """Run the management command named on the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryui.settings")
    demo_place.move_in(os.environ, sys.argv)
    try:
        from django.core.management import execute_from_command_line
        from django.db import OperationalError
        from environs import EnvValidationError
    except ImportError as err:
        raise SystemExit("Django is not installed for this Python. Run `make setup`, then `.venv/bin/python manage.py …`.") from err
    try:
        execute_from_command_line(sys.argv)
    except KeyUnusable as err:
        sys.stderr.write(f"{err}\n")
        sys.exit(2)
    except PermissionError as err:
        sys.stderr.write(f"{err.filename}: {err.strerror}. The account that runs memoryui must own its data folder, MEMORYUI_DATA_DIR.\n")
        sys.exit(2)
    except OperationalError as err:
        # Our own commands say so themselves; Django's, such as migrate, come here.
        sys.stderr.write(f"The database cannot be used: {str(err).strip()}.\n")
        sys.exit(2)
    except EnvValidationError as err:
        sys.stderr.write("The settings cannot be used:\n")
        reasons = err.error_messages if isinstance(err.error_messages, Mapping) else {"": err.error_messages}
        sys.stderr.writelines(f"  {name}: {' '.join(said)}\n" for name, said in reasons.items())
        sys.exit(2)


if __name__ == "__main__":
    main()
