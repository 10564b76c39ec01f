"""A progress bar on the terminal: one line per stage, with the time that is left."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

# What the stages of an assembly mean to somebody who watches them.
STAGES = {
    "clouds": "reading the point clouds",
    "surfaces": "looking at the parts",
    "descriptors": "describing the parts",
    "matches": "matching their surfaces",
    "joins": "trying every pair",
    "second look": "looking again at what is open",
}


class Progress:
    """Called with a stage, how much of it is done, and how much there is."""

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        self._bars = Bars(
            TextColumn("{task.description:<38}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Progress:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._bars.stop()

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage not in self._tasks:
            for task in self._tasks.values():  # a stage that follows says that those before are over
                self._bars.update(task, completed=self._bars.tasks[task].total)
            self._tasks[stage] = self._bars.add_task(STAGES.get(stage, stage), total=total)
        self._bars.update(self._tasks[stage], completed=done, total=total)
