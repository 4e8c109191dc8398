"""The conformance kit: proves that an environment keeps the contract.

    envcore.testing.check_env(MyEnvironment())

or, one test a rule:

    @pytest.mark.parametrize("case", envcore.testing.conformance_cases(MyEnvironment()), ids=str)
    def test_conforms(case):
        case()

`RULES` is the contract as a table. `check_lockstep` plays an environment beside another implementation of it.
"""

from envcore.testing.breaches import Breach
from envcore.testing.kit import RULES, Case, Result, Rule, check_env, check_rules, conformance_cases
from envcore.testing.lockstep import check_lockstep

__all__ = [
    "RULES",
    "Breach",
    "Case",
    "Result",
    "Rule",
    "check_env",
    "check_lockstep",
    "check_rules",
    "conformance_cases",
]
