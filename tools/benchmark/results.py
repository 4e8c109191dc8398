"""Time to result: CPU seconds from the start of Python until an agent reaches a return, including compile time.

Each program runs in a separate process on one core, with one seed. envcore's programs use the settings in `GOALS`, and
the others use their authors' settings. A program trains in about a hundred parts, and stops after the first part in
which its agent reaches the goal. The return is the mean over 64 greedy episodes (sampled episodes for rejax's agent),
or over the training episodes that ended in the part. `python results.py PROGRAM GOAL` runs one program.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import measure

EPISODES, PARTS, LIMIT = 64, 100, 900.0  # limit in CPU seconds
_LONGEST = 500  # steps of an evaluation episode


class Goal(NamedTuple):
    """A return to reach.

    Attributes:
      env_id: id of the environment.
      wanted: the return.
      is_greedy: whether the return is measured in evaluation episodes with greedy actions, or else during training.
      ours: settings of envcore's programs by algorithm, if they differ from the environment's tuned settings.
      total_steps: total steps of rejax and of PureJaxRL's PPO, as in its paper. Its learning rate schedule depends on
        them.
    """

    env_id: str
    wanted: float
    is_greedy: bool
    ours: dict[str, dict[str, Any]]
    total_steps: int


GOALS = {
    "CartPole": Goal("CartPole-v1", 475.0, True, {"ppo": {"total_steps": 100_000, "learning_rate": 3e-3}}, 500_000),
    "Catch": Goal("Catch-bsuite", 1.0, True, {"ppo": {"total_steps": 50_000}}, 500_000),
    "Breakout to 20": Goal(
        "Breakout-MinAtar",
        20.0,
        False,
        {"ppo": {"total_steps": 2_000_000}, "pqn": {"total_steps": 1_200_000, "learning_rate": 7e-3}},
        10_000_000,
    ),
    "Breakout to 50": Goal("Breakout-MinAtar", 50.0, False, {"ppo": {}, "pqn": {}}, 10_000_000),
}

Points = Iterator[tuple[int, float]]
"""Steps so far, and the agent's return."""


def _ours(algorithm: str, goal: Goal) -> Points:
    import envcore_baselines

    found: list[tuple[int, float]] = []

    def reached(point: Any) -> bool:
        earned = point.metrics["greedy_return"] if goal.is_greedy else point.returns
        found.append((point.steps, float(earned[0])))
        return found[-1][1] >= goal.wanted or time.process_time() > LIMIT

    episodes = EPISODES if goal.is_greedy else 0
    settings = goal.ours.get(algorithm, {})
    envcore_baselines.train(algorithm, goal.env_id, evaluation_episodes=episodes, callback=reached, **settings)
    yield from found


def _purejaxrl(goal: Goal, is_gymnax: bool) -> Points:
    import envcore
    import jax
    import jax.numpy as jnp
    import purejaxrl
    from flax import linen as nn
    from workloads import logged, make_gymnax

    env, params = make_gymnax(goal.env_id) if is_gymnax else envcore.make(goal.env_id)
    is_game = goal.env_id.endswith("MinAtar")
    num_envs, length = 64 if is_game else 4, 128
    num_updates = goal.total_steps // (num_envs * length)
    rate, activation = (5e-3, nn.relu) if is_game else (2.5e-4, nn.tanh)
    wrapped = logged(env, "gymnax" if is_gymnax else "envcore")
    ppo = purejaxrl.make(wrapped, params, num_envs, length, num_updates, rate, activation)
    each = -(-num_updates // PARTS)

    @jax.jit
    def part(carry: Any, key: jax.Array) -> tuple[Any, jax.Array]:
        carry, info = jax.lax.scan(ppo.update, carry, length=each)
        if goal.is_greedy:
            return carry, _earned(env, params, lambda obs, _: ppo.act(carry[0], obs), key)
        ended = info["returned_episode"]
        return carry, jnp.where(ended, info["returned_episode_returns"], 0).sum() / ended.sum()

    carry = jax.jit(ppo.init)(jax.random.PRNGKey(0))
    for number in range(1, PARTS + 1):
        carry, earned = part(carry, jax.random.PRNGKey(number))
        yield number * each * num_envs * length, float(earned)


def _rejax(goal: Goal) -> Points:
    import jax
    import rejax  # pyright: ignore[reportMissingImports]
    from workloads import make_gymnax

    env, params = make_gymnax(goal.env_id)
    algorithm = rejax.PPO.create(env=_FiveValues(env), env_params=params, total_timesteps=goal.total_steps)
    each = -(-goal.total_steps // (algorithm.iteration_size * PARTS))

    @jax.jit
    def part(state: Any, key: jax.Array) -> tuple[Any, jax.Array]:
        state, _ = jax.lax.scan(lambda state, _: (algorithm.train_iteration(state), None), state, length=each)
        act = jax.vmap(algorithm.make_act(state))  # samples actions
        return state, _earned(env, params, lambda obs, key: act(obs, jax.random.split(key, EPISODES)), key)

    state = jax.jit(algorithm.init_state)(jax.random.PRNGKey(0))
    for number in range(1, PARTS + 1):
        state, earned = part(state, jax.random.PRNGKey(number))
        yield number * each * algorithm.iteration_size, float(earned)


class _FiveValues:
    """Makes `step` of a gymnax 1 environment return five values, as rejax expects."""

    def __init__(self, env: Any):
        self._env = env

    def __getattr__(self, name: str) -> Any:
        return getattr(self._env, name)

    def __deepcopy__(self, memo: Any) -> _FiveValues:
        return self

    def step(self, key: Any, state: Any, action: Any, params: Any) -> tuple[Any, ...]:
        from purejaxrl import five

        return five(self._env.step(key, state, action, params))


def _earned(env: Any, params: Any, act: Callable[[Any, Any], Any], key: Any) -> Any:
    """Plays `EPISODES` episodes and returns their mean return."""
    import jax
    import jax.numpy as jnp
    from purejaxrl import five

    reset, step = jax.vmap(env.reset, (0, None)), jax.vmap(env.step, (0, 0, 0, None))

    def body(carry: Any, key: jax.Array) -> tuple[Any, None]:
        obs, state, returns, is_over = carry
        key_act, key_step = jax.random.split(key)
        obs, state, reward, done, _ = five(step(jax.random.split(key_step, EPISODES), state, act(obs, key_act), params))
        return (obs, state, returns + jnp.where(is_over, 0, reward), is_over | done), None

    key, key_reset = jax.random.split(key)
    start = (*reset(jax.random.split(key_reset, EPISODES), params), jnp.zeros(EPISODES), jnp.zeros(EPISODES, bool))
    return jax.lax.scan(body, start, jax.random.split(key, _LONGEST))[0][2].mean()


PROGRAMS: dict[str, Callable[[Goal], Points]] = {
    "envcore ppo": lambda goal: _ours("ppo", goal),
    "envcore pqn": lambda goal: _ours("pqn", goal),
    "PureJaxRL's PPO on envcore": lambda goal: _purejaxrl(goal, False),
    "PureJaxRL's PPO on gymnax": lambda goal: _purejaxrl(goal, True),
    "rejax' PPO on gymnax": _rejax,
}


def measure_all(goals: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yields a row for each goal and each program with settings for it, with seconds, compile time, steps, return."""
    if unknown := set(goals) - set(GOALS):
        raise SystemExit(f"There are no goals {sorted(unknown)}. Choose from {list(GOALS)}.")
    for name in goals or GOALS:
        for program in PROGRAMS:
            if program != "envcore pqn" or "pqn" in GOALS[name].ours:
                found = measure.in_process(__file__, program, name) or {}
                names = ("seconds", "compiling", "steps", "earned", "is_reached")
                yield {"id": name, "variant": program, **{each: found.get(each) for each in names}}


def main() -> None:
    """Runs one program until it reaches a goal, and prints a JSON object."""
    program, name = sys.argv[1:]
    measure.on_one_core()
    import jax

    compiling: list[tuple[float, float]] = []

    def listen(event: str, duration_secs: float, **kwargs: Any) -> None:
        if event.startswith("/jax/core/compile/"):
            ended = time.perf_counter()
            while compiling and compiling[-1][0] > ended - duration_secs:
                compiling.pop()  # nested in this one
            compiling.append((ended - duration_secs, ended))

    jax.monitoring.register_event_duration_secs_listener(listen)
    steps, earned, goal = 0, math.nan, GOALS[name]
    for steps, earned in PROGRAMS[program](goal):  # noqa: B007
        if earned >= goal.wanted or time.process_time() > LIMIT:
            break
    seconds = time.process_time()
    row = {"seconds": seconds, "compiling": sum(end - start for start, end in compiling), "steps": steps}
    print(json.dumps({**row, "earned": earned, "is_reached": earned >= goal.wanted}))


if __name__ == "__main__":
    main()
