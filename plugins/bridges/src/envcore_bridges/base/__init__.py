"""The base of bridges, which bring other libraries' environments into envcore, for those here and for your own."""

from envcore_bridges.base.conversion import as_dicts as as_dicts
from envcore_bridges.base.conversion import paint_on_host as paint_on_host
from envcore_bridges.base.conversion import resized as resized
from envcore_bridges.base.environment import ForeignEnvironment as ForeignEnvironment
from envcore_bridges.base.environment import ForeignParams as ForeignParams
from envcore_bridges.base.loading import unknown_name as unknown_name
from envcore_bridges.base.numerics import default_numerics as default_numerics
from envcore_bridges.base.state import ForeignState as ForeignState
from envcore_bridges.base.wrapping import layers as layers
from envcore_bridges.base.wrapping import rebuilt as rebuilt

__all__ = [
    "ForeignEnvironment",
    "ForeignParams",
    "ForeignState",
    "as_dicts",
    "default_numerics",
    "layers",
    "paint_on_host",
    "rebuilt",
    "resized",
    "unknown_name",
]
