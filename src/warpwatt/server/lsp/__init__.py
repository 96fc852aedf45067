"""The language server: predictions where kernels are written.

``documents`` knows what is open, ``scheduler`` when to analyse it, ``engine`` runs that in a process of its
own (``worker``), where ``analysis`` turns a text into :class:`~warpwatt.server.lsp.facts.Answer`. ``lenses``,
``hover``, ``diagnostics`` and ``actions`` show an answer; ``app`` speaks the protocol.
"""
