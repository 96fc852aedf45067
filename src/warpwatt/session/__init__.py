"""From words to predictions: what the command line, the Python interface, editors and servers share.

An import of this package loads nothing; :mod:`~warpwatt.session.options` holds the words,
:mod:`~warpwatt.session.session` the way from them to predictions.
"""
