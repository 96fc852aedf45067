"""``alavani``: board power from the fifteen program features of Alavani's study, and nothing else.

One model per GPU whose table she released (``*.json``, each with its card, ``*.md``), written by
``python -m validation.alavani.shipped_power``.

Public name: :class:`AlavaniPower`.
"""

from warpwatt.published.alavani.power.model import AlavaniPower

__all__ = ["AlavaniPower"]
