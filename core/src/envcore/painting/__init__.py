"""Anti-aliased pictures as pure JAX functions, for `jit`, `vmap` and `scan` on any device.

A shape is a signed distance: a function of points `(x, y)` that is negative inside, zero on the edge and positive
outside, in the units of the scene. A picture is a window on the scene and a list of shapes with colors, painted from
back to front:

    window = painting.Window.around(x=(-1.0, 1.0), y=(-1.0, 1.0))
    pixels = painting.paint(height, window, (painting.circle((0.0, 0.0), 0.5), painting.RED))

Each pixel is computed independently, without loops, so XLA paints a picture, or a batch, in one vectorized pass.
Only the height and the aspect ratio are static; every other number may be traced. `envcore.painting.figures` has the
figures that several suites share, such as grids, carts and gauges.
"""

from envcore.painting.canvas import BLUE as BLUE
from envcore.painting.canvas import GREEN as GREEN
from envcore.painting.canvas import INK as INK
from envcore.painting.canvas import ORANGE as ORANGE
from envcore.painting.canvas import PAPER as PAPER
from envcore.painting.canvas import RED as RED
from envcore.painting.canvas import SHADE as SHADE
from envcore.painting.canvas import STONE as STONE
from envcore.painting.canvas import YELLOW as YELLOW
from envcore.painting.canvas import Color as Color
from envcore.painting.canvas import Paint as Paint
from envcore.painting.canvas import Window as Window
from envcore.painting.canvas import checked_height as checked_height
from envcore.painting.canvas import paint as paint
from envcore.painting.canvas import picture as picture
from envcore.painting.canvas import shades as shades
from envcore.painting.shapes import Number as Number
from envcore.painting.shapes import Point as Point
from envcore.painting.shapes import Shape as Shape
from envcore.painting.shapes import arc as arc
from envcore.painting.shapes import box as box
from envcore.painting.shapes import circle as circle
from envcore.painting.shapes import half_plane as half_plane
from envcore.painting.shapes import outline as outline
from envcore.painting.shapes import placed as placed
from envcore.painting.shapes import polygon as polygon
from envcore.painting.shapes import repeated as repeated
from envcore.painting.shapes import scaled as scaled
from envcore.painting.shapes import segment as segment
from envcore.painting.shapes import shown as shown
from envcore.painting.shapes import under as under
from envcore.painting.shapes import union as union
