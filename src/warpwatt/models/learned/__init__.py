"""``component+learned``: the component model, corrected by trees that learned what it leaves unexplained.

    P = P_component · exp(Σ trees(physical features))

The trees (``model.json``, with its card ``model.md``) were boosted on log(measured / component model) of
public measurements, the component model being fitted without the program it was asked about. They read
nothing but what is predicted anyway: utilisations, rates, occupancy, clocks, and the component model's own
shares.

Public name: :class:`ComponentLearned`.
"""

from warpwatt.models.learned.model import ComponentLearned

__all__ = ["ComponentLearned"]
