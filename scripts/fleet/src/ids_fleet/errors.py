# SPDX-License-Identifier: GPL-2.0-or-later
"""The errors that end a command, each with the exit status it gives."""


class FleetError(Exception):
    """A mistake of the caller or of the setup; the message says what to change. Status 2."""

    status = 2


class StoreError(FleetError):
    """A store does not answer, or the place of results refuses to take them: a full disk, a missing
    right. Status 3.

    What was committed stays, and --resume goes on from there."""

    status = 3


class EngineError(Exception):
    """The engine did not start, or ended; the message has the last lines of its log."""
