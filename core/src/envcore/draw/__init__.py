"""Anti-aliased pictures as pure JAX functions, for `jit`, `vmap` and `scan` on any device.

A shape is a signed distance: a function of points `(x, y)` that is negative inside, zero on the edge and positive
outside, in the units of the scene. A picture is a window onto the scene and a list of shapes and colours, painted
from back to front:

    window = draw.Window.around(x=(-1.0, 1.0), y=(-1.0, 1.0))
    pixels = draw.paint(height, window, (draw.circle((0.0, 0.0), 0.5), draw.RED))

Each pixel is computed by itself, without loops, so XLA paints a picture, or a batch of them, in one vectorised pass.
Only the height and the aspect ratio are static; every other number may be traced. `envcore.figures` has what several
suites draw alike: grids, carts, gauges.
"""

from __future__ import annotations

from envcore.draw.painting import Paint as Paint
from envcore.draw.painting import Window as Window
from envcore.draw.painting import checked_height as checked_height
from envcore.draw.painting import paint as paint
from envcore.draw.painting import picture as picture
from envcore.draw.painting import shades as shades
from envcore.draw.shapes import Point as Point
from envcore.draw.shapes import Shape as Shape
from envcore.draw.shapes import arc as arc
from envcore.draw.shapes import below as below
from envcore.draw.shapes import box as box
from envcore.draw.shapes import circle as circle
from envcore.draw.shapes import outline as outline
from envcore.draw.shapes import placed as placed
from envcore.draw.shapes import polygon as polygon
from envcore.draw.shapes import repeated as repeated
from envcore.draw.shapes import scaled as scaled
from envcore.draw.shapes import segment as segment
from envcore.draw.shapes import shown as shown
from envcore.draw.shapes import under as under
from envcore.draw.shapes import union as union
from envcore.palette import BLUE as BLUE
from envcore.palette import GREEN as GREEN
from envcore.palette import INK as INK
from envcore.palette import ORANGE as ORANGE
from envcore.palette import PAPER as PAPER
from envcore.palette import RED as RED
from envcore.palette import SHADE as SHADE
from envcore.palette import STONE as STONE
from envcore.palette import YELLOW as YELLOW
from envcore.palette import Colour as Colour
