"""Which prediction of a new side belongs to which of an old one: by kernel, then launch, then order."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

from warpwatt.core.prediction import Prediction
from warpwatt.frontend.select import plain_name

if TYPE_CHECKING:
    Key = Callable[[Prediction], Hashable]

Pair = tuple["Prediction", "Prediction"]


def pair(
    olds: Sequence[Prediction], news: Sequence[Prediction]
) -> tuple[list[Pair], list[Prediction], list[Prediction]]:
    """Return pairs in the order of ``news``, then what only ``olds`` and only ``news`` have.

    Two predictions belong together if kernel, launch and GPU are the same; then, among the rest, kernel and
    GPU, the kernel's plain name and GPU, and the kernel alone. One prediction on either side is a pair
    whatever it is: the user named both.
    """
    if len(olds) == len(news) == 1:
        return [(olds[0], news[0])], [], []
    left, right = list(olds), list(news)
    found: list[Pair] = []
    for key in (_exact, _named_there, _plain_there, _plain):
        found += _take(left, right, key)
    order = {id(prediction): position for position, prediction in enumerate(news)}
    return sorted(found, key=lambda two: order[id(two[1])]), left, right


def _take(left: list[Prediction], right: list[Prediction], key: Key) -> list[Pair]:
    """Move predictions with equal keys out of both lists, in order."""
    found = []
    for new in list(right):
        old = next((one for one in left if key(one) == key(new)), None)
        if old is not None:
            left.remove(old)
            right.remove(new)
            found.append((old, new))
    return found


def _exact(prediction: Prediction) -> Hashable:
    launch = prediction.case.launch
    return prediction.kernel_name, prediction.case.gpu.name, launch.grid, launch.block


def _named_there(prediction: Prediction) -> Hashable:
    return prediction.kernel_name, prediction.case.gpu.name


def _plain_there(prediction: Prediction) -> Hashable:
    return plain_name(prediction.kernel_name), prediction.case.gpu.name


def _plain(prediction: Prediction) -> Hashable:
    return plain_name(prediction.kernel_name)
