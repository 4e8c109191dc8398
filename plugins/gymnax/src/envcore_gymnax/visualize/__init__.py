"""gymnax's `visualize` module. `Visualizer` needs envcore-viewer."""

from envcore_gymnax.visualize import visualizer as visualizer
from envcore_gymnax.visualize.visualizer import Visualizer as Visualizer
