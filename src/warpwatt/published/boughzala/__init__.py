"""The block model of Boughzala, Lefèvre and Orgerie (2020): time and energy from the number of blocks.

Public names: :class:`BlockModel`, :class:`Form`, :class:`Sample`, ``fit``, ``fit_case``, ``relative_errors``.
"""

from warpwatt.published.boughzala.fit import BlockModel, Form, RelativeErrors, Sample, fit, relative_errors
from warpwatt.published.boughzala.launches import Fitted, fit_case

__all__ = [
    "BlockModel",
    "Fitted",
    "Form",
    "RelativeErrors",
    "Sample",
    "fit",
    "fit_case",
    "relative_errors",
]
