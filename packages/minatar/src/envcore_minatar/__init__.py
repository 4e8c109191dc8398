"""MinAtar's games as pure JAX functions.

    env, params = envcore.make("Breakout-MinAtar")

or, with types that your editor understands:

    from envcore_minatar import Breakout

Names are imported on first use, so importing this package imports no environment.
"""

from __future__ import annotations

from envcore.lazy import lazy_names

TYPE_CHECKING = False  # type checkers treat it as True
if TYPE_CHECKING:
    from envcore_minatar.asterix import Asterix as Asterix
    from envcore_minatar.asterix import AsterixState as AsterixState
    from envcore_minatar.breakout import Breakout as Breakout
    from envcore_minatar.breakout import BreakoutState as BreakoutState
    from envcore_minatar.freeway import Freeway as Freeway
    from envcore_minatar.freeway import FreewayParams as FreewayParams
    from envcore_minatar.freeway import FreewayState as FreewayState
    from envcore_minatar.game import MinAtarParams as MinAtarParams
    from envcore_minatar.seaquest import Seaquest as Seaquest
    from envcore_minatar.seaquest import SeaquestState as SeaquestState
    from envcore_minatar.space_invaders import SpaceInvaders as SpaceInvaders
    from envcore_minatar.space_invaders import SpaceInvadersState as SpaceInvadersState

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "asterix": ["Asterix", "AsterixState"],
        "breakout": ["Breakout", "BreakoutState"],
        "freeway": ["Freeway", "FreewayParams", "FreewayState"],
        "game": ["MinAtarParams"],
        "seaquest": ["Seaquest", "SeaquestState"],
        "space_invaders": ["SpaceInvaders", "SpaceInvadersState"],
    },
)
