# SPDX-License-Identifier: GPL-2.0-or-later
"""ids-fleet: runs the engine over archives of captures on a Ray cluster, records to Parquet."""

__version__ = "0.1.0"
