"""brax's environments: the task of each in one line, by the library's own names.

brax's swimmer is left out, because it does not run: see `from_brax`.
"""

from __future__ import annotations

BRAX = {
    "ant": "Four-legged robot that runs to the right.",
    "fast": "Point that accelerates along a line, for tests of programs: it has no physics.",
    "halfcheetah": "Two-legged robot in a vertical plane that runs to the right.",
    "hopper": "One-legged robot in a vertical plane that hops to the right without falling.",
    "humanoid": "Robot with the joints of a human that runs to the right without falling.",
    "humanoidstandup": "Robot with the joints of a human that lies on its back and has to stand up.",
    "inverted_double_pendulum": "Cart that keeps two poles, one on the other, upright.",
    "inverted_pendulum": "Cart that keeps a pole upright.",
    "pusher": "Robot arm that pushes a cylinder to a goal on a table.",
    "reacher": "Arm with two joints that reaches for a random target in a plane.",
    "walker2d": "Two-legged robot in a vertical plane that walks to the right without falling.",
}
