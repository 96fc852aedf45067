"""Renderers: one ``Prediction`` in, text, JSON, CSV or HTML out.

Public names: ``registry.renderer(name)`` and ``registry.application_renderer(name)`` return plain functions
``render(predictions, context) -> str``; ``context.Context`` holds provenance and presentation;
``findings.findings(prediction)`` the explanation; ``roofline.roofline(prediction)`` the roofline;
``json.SCHEMA.load()`` the JSON Schema of the output.
"""
