"""The web page and the JSON API of ``warpwatt serve``: :mod:`~warpwatt.server.web.app` is the whole of it.

Work is done by :mod:`warpwatt.server.tasks`, in processes that hostile kernels may take down.
"""
