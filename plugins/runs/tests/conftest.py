from __future__ import annotations

from command_line import plugins as plugins
from command_line import run as run
