"""The conformance kit: proves that an environment keeps the contract.

    envcore_testing.check_env(MyEnvironment())

or, one test a rule:

    @pytest.mark.parametrize("case", envcore_testing.conformance_cases(MyEnvironment()), ids=str)
    def test_conforms(case):
        case()

`RULES` is the contract as a table. `check_lockstep` plays an environment beside another implementation of it. Names are
imported on first use, so that announcing the command `envcore check` imports no JAX.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # type checkers take it for True; importing `typing` would take most of this module's time
if TYPE_CHECKING:
    from typing import Any

    from envcore_testing.breaches import Breach as Breach
    from envcore_testing.breaches import ConformanceError as ConformanceError
    from envcore_testing.kit import RULES as RULES
    from envcore_testing.kit import Case as Case
    from envcore_testing.kit import Result as Result
    from envcore_testing.kit import Rule as Rule
    from envcore_testing.kit import check_env as check_env
    from envcore_testing.kit import check_rules as check_rules
    from envcore_testing.kit import conformance_cases as conformance_cases
    from envcore_testing.lockstep import check_lockstep as check_lockstep

_HOME = {
    "Breach": "breaches",
    "ConformanceError": "breaches",
    "RULES": "kit",
    "Case": "kit",
    "Result": "kit",
    "Rule": "kit",
    "check_env": "kit",
    "check_rules": "kit",
    "conformance_cases": "kit",
    "check_lockstep": "lockstep",
}

__all__ = [*_HOME]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
