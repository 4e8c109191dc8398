"""Seaquest-MinAtar: rules, enemies, state and view, a module each."""

from envcore_minatar.seaquest.rules import Seaquest as Seaquest
from envcore_minatar.seaquest.rules import SeaquestDraws as SeaquestDraws
from envcore_minatar.seaquest.state import SeaquestState as SeaquestState
