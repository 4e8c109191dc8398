"""Registers the commands, algorithms and policy of the baselines with envcore. Imports no JAX."""

from envcore.plugins import hookimpl
from envcore.specs import AlgorithmSpec, CommandSpec, PolicySpec


@hookimpl
def envcore_commands() -> list[CommandSpec]:
    """The commands `envcore train`, `envcore evaluate` and `envcore bsuite`."""
    return [
        CommandSpec("train", "Train agents.", "envcore_baselines.commands:train"),
        CommandSpec("evaluate", "Measure the return of trained agents.", "envcore_baselines.commands:evaluate"),
        CommandSpec("bsuite", "Run an agent on bsuite and score it.", "envcore_baselines.bsuite.commands:app"),
    ]


@hookimpl
def envcore_algorithms() -> list[AlgorithmSpec]:
    """The algorithms that you can pass to `train` by name."""
    return [
        AlgorithmSpec("ppo", "Proximal policy optimization.", "envcore_baselines.ppo:PPO"),
        AlgorithmSpec("es", "Evolution strategy.", "envcore_baselines.es:ES"),
        AlgorithmSpec("dqn", "Deep Q-learning.", "envcore_baselines.dqn:DQN"),
        AlgorithmSpec("pqn", "Parallel Q-learning without a replay buffer.", "envcore_baselines.pqn:PQN"),
        AlgorithmSpec("sac", "Soft actor-critic.", "envcore_baselines.sac:SAC"),
        AlgorithmSpec(
            "bootstrapped_dqn",
            "Ensemble of DQNs with randomized priors.",
            "envcore_baselines.bootstrapped_dqn:BootstrappedDQN",
        ),
    ]


@hookimpl
def envcore_policies() -> list[PolicySpec]:
    """The policy `trained`, which plays trained agents."""
    summary = "Plays the trained agent of the environment, or with trained:DIR the first agent of a run."
    return [PolicySpec("trained", summary, "envcore_baselines.trained:player")]
