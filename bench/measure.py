"""Timing, and the tables it ends in."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

REPEATS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One way of doing the work.

    Attributes:
        name: what did it.
        median: the median of all repeats, in the table's unit.
        best: the fastest repeat.
        worst: the slowest repeat.
    """

    name: str
    median: float
    best: float
    worst: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """How one row stands to another, and what it may be."""

    name: str
    value: float
    bound: Literal["at most", "at least"]
    budget: float

    @property
    def met(self) -> bool:
        if self.bound == "at most":
            return self.value <= self.budget
        return self.value >= self.budget


def at_most(budget: float, name: str, value: float) -> Ratio:
    return Ratio(name=name, value=value, bound="at most", budget=budget)


def at_least(budget: float, name: str, value: float) -> Ratio:
    return Ratio(name=name, value=value, bound="at least", budget=budget)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One kind of work, done in several ways in one run.

    Attributes:
        name: what it is asked for by.
        title: what was done.
        unit: of every row.
        rows: the ways of doing it.
        ratios: what the budgets are about.
    """

    name: str
    title: str
    unit: str
    rows: tuple[Row, ...]
    ratios: tuple[Ratio, ...] = ()

    def row(self, name: str) -> Row:
        return next(row for row in self.rows if row.name == name)


def cpu_rows(
    work: Mapping[str, Callable[[], object]], *, per: float, repeats: int = REPEATS
) -> tuple[Row, ...]:
    """Process CPU time of each way, in microseconds for each of ``per`` units of work.

    The ways take turns, so that whatever else the machine does falls on all of them.
    """
    taken: dict[str, list[float]] = {name: [] for name in work}
    for function in work.values():
        function()
    for _ in range(repeats):
        for name, function in work.items():
            gc.collect()
            before = time.process_time_ns()
            function()
            taken[name].append((time.process_time_ns() - before) / 1000 / per)
    return tuple(row_of(name, values) for name, values in taken.items())


def row_of(name: str, values: Sequence[float]) -> Row:
    return Row(
        name=name,
        median=statistics.median(values),
        best=min(values),
        worst=max(values),
    )
