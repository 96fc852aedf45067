"""From words to predictions: what the command line, the Python interface, editors and servers share.

An import of this package loads nothing; :mod:`~warpwatt.request.options` holds the words,
:mod:`~warpwatt.request.session` the way from them to predictions.
"""
