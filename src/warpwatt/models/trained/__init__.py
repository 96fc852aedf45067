"""Trained models: their file format and their inference.

``file.read(path)`` returns a ``TrainedModel`` whose ``predict`` needs NumPy only, or the booster where the
model is one. ``file.write`` is what training calls. Nothing in a model file is ever executed.
"""
