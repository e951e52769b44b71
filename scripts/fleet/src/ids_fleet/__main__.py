# SPDX-License-Identifier: GPL-2.0-or-later
"""python -m ids_fleet."""

import sys

from ids_fleet.cli import main

sys.exit(main())
