"""The conformance kit, which checks that an environment keeps envcore's contract.

    envcore_testing.check_env(MyEnvironment())

Or, as one test per rule:

    @pytest.mark.parametrize("case", envcore_testing.conformance_cases(MyEnvironment()), ids=str)
    def test_conforms(case):
        case()

`RULES` is the contract as a table. `check_lockstep` compares an environment with another implementation of it. Names
are imported on first use, so that adding the command `envcore check` does not import JAX.
"""

from __future__ import annotations

from envcore.lazy import lazy_names

TYPE_CHECKING = False  # type checkers treat it as True
if TYPE_CHECKING:
    from envcore_testing.errors import ConformanceError as ConformanceError
    from envcore_testing.kit import RULES as RULES
    from envcore_testing.kit import Case as Case
    from envcore_testing.kit import Result as Result
    from envcore_testing.kit import Rule as Rule
    from envcore_testing.kit import check_env as check_env
    from envcore_testing.kit import check_rules as check_rules
    from envcore_testing.kit import conformance_cases as conformance_cases
    from envcore_testing.lockstep import check_lockstep as check_lockstep
    from envcore_testing.lockstep import mostly_legal_action as mostly_legal_action

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "errors": ["ConformanceError"],
        "kit": ["RULES", "Case", "Result", "Rule", "check_env", "check_rules", "conformance_cases"],
        "lockstep": ["check_lockstep", "mostly_legal_action"],
    },
)
