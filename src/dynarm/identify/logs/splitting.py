"""A log cut in two: what is fitted, and what is kept apart to be predicted."""

from __future__ import annotations

from dataclasses import replace

from ...border.arguments import real
from ...errors import InputError
from .log import Log


def hold_out(log: Log, share: float) -> tuple[Log, Log]:
    """The log without the given share of its time, its end, and that end; no sample is in both."""
    share = real("share", share, "a part of the log, above 0 and below 1", lambda x: 0 < x < 1)
    border = log.duration * (1 - share)
    since = log.t - log.t[0]
    fitted, held = since < border, since >= border
    if fitted.sum() < 2 or held.sum() < 2:
        raise InputError(
            f"share is {share:g}: {log.source} would be cut into {fitted.sum()} and {held.sum()} samples; both parts "
            "need 2"
        )
    rest = replace(log.rows(held), source=f"{log.source} from {border:.3g} s on")
    return log.rows(fitted), rest
