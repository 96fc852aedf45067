"""Our own time and power models, and the registry that finds these and the published ones by name.

Time: ``pipeline`` (:mod:`.pipeline`, with :mod:`.residual` a learned correction), ``roofline``
(:mod:`.roofline`), either corrected by one measured launch (:mod:`.hybrid`). Power: ``component``
(:mod:`.component`, with :mod:`.learned`), ``specification`` (:mod:`.specification`). What several share:
:mod:`.pipes`, :mod:`.latency`, :mod:`.roofs`, :mod:`.dram`, :mod:`.dispatch`.
"""
