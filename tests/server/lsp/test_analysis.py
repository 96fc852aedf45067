"""What was predicted is told while other launches are still being predicted."""

from __future__ import annotations

import time
from typing import Any

import pytest

from warpwatt.server.lsp import analysis
from warpwatt.server.lsp.analysis import Analysis
from warpwatt.server.lsp.facts import Job, PlacedLaunch, Query, Result

LAUNCHES = tuple(PlacedLaunch(kernel=name) for name in ("first", "second", "third"))


@pytest.mark.parametrize(("seconds", "told"), [(0.0, []), (0.2, [1, 2])])
def test_launches_that_took_a_while_are_told_before_the_last(
    monkeypatch: pytest.MonkeyPatch, seconds: float, told: list[int]
) -> None:
    now = [0.0]
    heard: list[Any] = []

    def predict(self: Analysis, number: int, *_: object) -> Any:
        now[0] += seconds
        self.shown.append(number)  # type: ignore[arg-type]  # only counted here
        return analysis._Question(number, *[None] * 5)  # type: ignore[arg-type]

    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(Analysis, "_predict", predict)
    job = Job(1, "/a.cu", "", Query(), LAUNCHES)
    gpu: Any = type("Gpu", (), {"name": "a GPU", "target": "sm_90"})
    session: Any = None
    doing = Analysis(job, heard.append, lambda: False, _told=now[0])
    doing._predict_all(session, (gpu,), {"sm_90": session})
    answers = [message.answer for message in heard if isinstance(message, Result)]
    assert [len(answer.shown) for answer in answers] == told
    assert not any(answer.complete for answer in answers)
