"""``component``: power as the sum of what each part of the GPU draws, from what the launch makes it do.

    E = (P_board + P_memory + P_leak(T, V) + P_clocks(f, V) + P_active(f, V))·t
        + Σ operations·e_class·V²·toggle + Σ bytes·e_level·toggle,        P = E / t

Form after AccelWattch (Kandiah et al., MICRO 2021), with constants per GPU where they were measured.

Public names: :class:`Component` (the model), :func:`~warpwatt.models.component.activity.activity`,
:func:`~warpwatt.models.component.parameters.loads`,
:func:`~warpwatt.models.component.features.physical_features`.
"""

from warpwatt.models.component.model import Component

__all__ = ["Component"]
