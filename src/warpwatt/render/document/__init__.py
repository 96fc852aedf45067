"""A prediction as plain dictionaries and lists: the content of the JSON output, reused by HTML and notebooks.

Quantities are ``{value, low, high, unit, source}`` in SI units. Fields are added, never removed or renamed;
``schema/prediction-1.2.json`` describes each of them.
"""

from __future__ import annotations

from warpwatt.render.document.prediction import prediction_document
from warpwatt.render.document.values import launch_document, quantity_document

__all__ = ["launch_document", "prediction_document", "quantity_document"]
