"""Announces JAXtari's games to envcore. Imports neither JAX nor jaxtari."""

from __future__ import annotations

from envcore.plugins import hookimpl
from envcore.specs import EnvSpec, library_specs

_SOURCE = "JAXtari 0.2, Delfosse et al. (2025)"

# By JAXtari's names; the ids are `jaxtari/NAME`. A test compares them with what JAXtari lists.
ENVIRONMENTS = {
    "airraid": "Shoot down aircraft that attack two buildings.",
    "alien": "Collect eggs in the corridors of a ship while aliens give chase.",
    "amidar": "Walk along every edge of a maze while enemies patrol it.",
    "assault": "Shoot the drones of a mother ship without overheating the cannon.",
    "asterix": "Collect objects and avoid lyres in eight lanes.",
    "asteroids": "Shoot asteroids to pieces from a ship that drifts.",
    "atlantis": "Defend a city's installations against ships that pass above.",
    "backgammon": "Play backgammon against the computer.",
    "bankheist": "Rob banks in a maze while police cars give chase and fuel runs out.",
    "basicmath": "Solve ten problems of arithmetic.",
    "beamrider": "Shoot saucers that come down along beams.",
    "berzerk": "Shoot robots in a maze and leave it alive.",
    "blackjack": "Bet and play blackjack until the money is gone or grown to 1,000.",
    "boxing": "Box against the computer for two minutes of the game's clock.",
    "breakout": "Break a wall of bricks with a ball and a paddle.",
    "casinoblackjack": "Play blackjack of the cartridge Casino until the money is gone or grown to 10,000.",
    "casinofivestudpoker": "Play five-card stud poker of the cartridge Casino.",
    "casinopokersolitaire": "Lay cards into a grid of poker hands, of the cartridge Casino.",
    "centipede": "Shoot a centipede that comes down through mushrooms.",
    "choppercommand": "Protect a convoy of trucks from a helicopter.",
    "donkeykong": "Climb girders and ladders past barrels.",
    "enduro": "Overtake enough cars every day, in all weathers.",
    "fishingderby": "Catch more fish than the other angler, past a shark.",
    "flagcapture": "Find the flag on a board of clues before the time is over.",
    "freeway": "Lead a chicken across ten lanes of traffic until the game's clock stops.",
    "frostbite": "Jump on ice floes to build an igloo before it is too cold.",
    "galaxian": "Shoot aliens that dive from a formation.",
    "gopher": "Keep a gopher from the carrots by filling its tunnels.",
    "gravitar": "Fly between planets against gravity, and destroy their bunkers.",
    "hangman": "Guess a word letter by letter.",
    "hauntedhouse": "Find the pieces of an urn in a dark house.",
    "humancannonball": "Choose angle and speed to shoot a person into a tank of water.",
    "journeyescape": "Lead a band past the obstacles of a concert to its vehicle.",
    "kaboom": "Catch falling bombs in buckets.",
    "kangaroo": "Climb to a joey past monkeys that throw apples.",
    "kingkong": "Climb a skyscraper past bombs.",
    "klax": "Catch tiles from a conveyor and stack them in rows of a color.",
    "lasergates": "Fly through force fields and destroy failsafe detonators.",
    "miniaturegolf": "Play nine holes of miniature golf.",
    "montezumarevenge": "Explore the rooms of a temple for keys and jewels.",
    "mspacman": "Eat the dots of mazes that ghosts roam, as Ms. Pac-Man.",
    "namethisgame": "Guard a treasure from a shark and an octopus while the air lasts.",
    "othello": "Play Othello against the computer.",
    "pacman": "Eat the dots of a maze that ghosts roam.",
    "phoenix": "Shoot waves of birds and their mother ship.",
    "pong": "Play table tennis against the computer to 21 points.",
    "qbert": "Change the color of a pyramid's cubes by hopping on them.",
    "riverraid": "Fly along a river, shoot what is on it, and refuel.",
    "roadrunner": "Run from a coyote along a road with seeds and trucks.",
    "seaquest": "Shoot submarines and sharks, rescue divers, and surface for air.",
    "sirlancelot": "Fly a winged horse against beasts and a dragon.",
    "skiing": "Ski down a slope through twenty gates.",
    "slotmachine": "Bet on the reels of a slot machine.",
    "spaceinvaders": "Shoot rows of aliens that come down.",
    "spacewar": "Fly a ship around a star and hit the target ten times.",
    "surround": "Trap the computer's trail without running into one.",
    "tennis": "Play tennis against the computer.",
    "tetris": "Complete rows of falling blocks.",
    "timepilot": "Shoot aircraft of several times from a plane in all directions.",
    "tron": "Throw discs at robots in an arena.",
    "turmoil": "Shoot enemies that cross seven lanes.",
    "upndown": "Drive a car that jumps over and onto others on hilly roads, and collect flags.",
    "venture": "Collect the treasures of a dungeon's rooms with bow and arrow.",
    "videocheckers": "Play checkers against the computer.",
    "videochess": "Play chess against the computer.",
    "videocube": "Solve a cube of colored squares.",
    "videopinball": "Play pinball.",
    "wizardofwor": "Shoot monsters in a maze that become invisible.",
    "wordzapper": "Zap the letters of a word in their order before the time is over.",
    "yarsrevenge": "Destroy the Qotile behind its shield.",
}


@hookimpl
def envcore_env_specs() -> list[EnvSpec]:
    return library_specs("jaxtari", "envcore_jaxtari.bridge:from_jaxtari", ENVIRONMENTS, _SOURCE)
