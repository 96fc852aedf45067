"""GPUs as data: one TOML file per board and per compute capability, a citation on every number.

Public names: ``find(name) -> Gpu``, ``names() -> tuple[str, ...]``, ``capability(version) -> Capability``,
``default_clocks(gpu) -> Clocks``, ``occupancy(gpu, resources, launch) -> Occupancy``,
``check_launch(gpu, resources, launch) -> None``, ``missing(gpu) -> tuple[str, ...]``.
"""
