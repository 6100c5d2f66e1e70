"""An estimate of the time of the server."""

from __future__ import annotations

from email.message import Message

from ._headers import parse_date, request_id


class Clock:
    """Estimates how far the clock of the server is ahead of ours, from the header Date of its responses."""

    def __init__(self) -> None:
        self.offset = 0.0  # seconds

    def observe(self, sent: float, received: float, headers: Message) -> None:
        """Update the offset. ``sent`` and ``received`` are Unix times of our clock.

        A Date is truncated to the second and was written between the two times, so it only bounds the offset. An
        offset within the bounds is kept, so that it does not fluctuate.
        """
        date = parse_date(headers.get("Date"))
        if date is None or not request_id(headers) or headers.get("Age"):
            return  # the Date of a proxy, or an old one of a cache
        lower = date - received
        upper = date + 1 - sent
        if not lower <= self.offset <= upper:
            self.offset = (lower + upper) / 2
