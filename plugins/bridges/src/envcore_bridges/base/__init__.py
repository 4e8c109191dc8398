"""Base classes and helpers to write bridges, which turn other libraries' environments into envcore environments."""

from envcore_bridges.base.environment import ForeignEnvironment as ForeignEnvironment
from envcore_bridges.base.environment import ForeignParams as ForeignParams
from envcore_bridges.base.environment import ForeignState as ForeignState
from envcore_bridges.base.environment import as_dicts as as_dicts
from envcore_bridges.base.loading import default_numerics as default_numerics
from envcore_bridges.base.loading import layers as layers
from envcore_bridges.base.loading import rebuilt as rebuilt
from envcore_bridges.base.loading import unknown_name as unknown_name
from envcore_bridges.base.physics import PhysicsEnvironment as PhysicsEnvironment
from envcore_bridges.base.physics import PhysicsParams as PhysicsParams
from envcore_bridges.base.pictures import check_opengl as check_opengl
from envcore_bridges.base.pictures import paint_on_host as paint_on_host
from envcore_bridges.base.pictures import pixels_of as pixels_of
from envcore_bridges.base.pictures import render_bodies as render_bodies
from envcore_bridges.base.pictures import resized as resized
from envcore_bridges.base.spaces import space_like as space_like
