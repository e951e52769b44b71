# SPDX-License-Identifier: GPL-2.0-or-later
"""The capture of the case elephant-sample."""
import os
import runpy

HERE = os.path.dirname(os.path.abspath(__file__))
capture = runpy.run_path(os.path.join(HERE, "../elephant-sample/input.py"))["capture"]
