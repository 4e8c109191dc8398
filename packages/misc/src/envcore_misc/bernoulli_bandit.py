"""BernoulliBandit-misc, after minimal-meta-rl `bandits/bandit_env.py` and gymnax 1.0.1 `misc/bernoulli_bandit.py`."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
from envcore import checks, random, require, spaces
from envcore.environment import Environment, EnvParams, EnvState
from envcore.typing import ArrayParam, BoolParam, Float, FloatParam, Int, IntParam
from flax import struct

from envcore_misc.clock import observed_time, time_bounds

Arms = Literal["dependent", "dependent-uniform", "independent", "given"]


@struct.dataclass
class BernoulliBanditState(EnvState):
    """State of `BernoulliBandit`.

    Attributes:
      last_action: the last arm, 0 at the start.
      last_reward: the last reward, 0 or 1, 0 at the start.
      exp_reward_best: probability that the best arm gives a reward.
      reward_probs: probability that each arm gives a reward. This is the task.
    """

    last_action: Int
    last_reward: Int
    exp_reward_best: Float
    reward_probs: Annotated[jax.Array, "float32 (num_arms,)"]


@struct.dataclass
class BernoulliBanditParams(EnvParams):
    """Params of `BernoulliBandit`.

    Attributes:
      reward_prob: reward probability of one of two "dependent" arms. The other arm has 1 - reward_prob.
      reward_probs: reward probabilities of "given" arms. None for all other kinds.
      normalize_time: whether to scale the observed time from min_lim to max_lim.
      min_lim: observed time at the start, with `normalize_time`.
      max_lim: observed time at the end, with `normalize_time`. At least min_lim.
    """

    reward_prob: FloatParam = 0.1
    reward_probs: Annotated[ArrayParam, "float32 (num_arms,)"] | None = None
    normalize_time: BoolParam = True
    min_lim: FloatParam = -1.0
    max_lim: FloatParam = 1.0
    max_steps_in_episode: IntParam = 100


@dataclasses.dataclass(frozen=True)
class BernoulliBandit(Environment[BernoulliBanditState, BernoulliBanditParams]):
    """BernoulliBandit-misc: find out which arm pays more often, in each episode from scratch.

    Original: minimal-meta-rl `bandits/bandit_env.py` by the author of gymnax, after Wang et al. (2017), "Learning to
    reinforcement learn". The defaults are gymnax 1.0.1's `misc/bernoulli_bandit.py`, which is the original's type
    "dependent-easy" with another order of the observation.

    The task of an episode is the reward probability of each arm, which is hidden. The option `arms` sets it:

      "dependent": two arms with probabilities `reward_prob` and 1 - `reward_prob`, in random order. The original's
        "dependent-easy", "-medium" and "-hard" are `reward_prob` of 0.1, 0.25 and 0.4.
      "dependent-uniform": two arms, p uniform on [0, 1) and 1 - p.
      "independent": any number of arms, each uniform on [0, 1).
      "given": any number of arms with the probabilities `params.reward_probs`, which you can `vmap` over.

    The observation contains the last action and reward, so a recurrent policy can learn within an episode.

    Observation: float32 (n + 2,), where n is `num_arms`.
      0: the last reward, 0 before the first step
      1 to n: the last arm, one-hot, the first arm before the first step
      n + 1: time, from `min_lim` to `max_lim` over an episode, or the number of steps so far without `normalize_time`
      With `time_last=False` the time comes second, as in the original.
    Action: int32 (), the arm.
    Reward: 1 with the arm's probability, else 0.
    Termination: never.
    Truncation: after 100 steps.

    `info["regret"]` is the mean reward of the best arm minus that of the chosen arm, as in the original.

    Deviations: probabilities are float32. The original's "dependent-info" is missing, because its probabilities exceed
    1, which numpy rejects. gymnax divides the time by its param `t_max`. Here it is divided by `max_steps_in_episode`
    as in the original, so that observations stay inside their space for any limit. gymnax 1.0.1 does not report the
    regret.

    Attributes:
      arms: kind of the arms' probabilities, see above.
      num_arms: number of arms, at least 2. Exactly 2 for dependent arms.
      time_last: put the time last in the observation, as in gymnax. False puts it second, as in the original.

    Raises:
      ValueError: `arms` is unknown, or `num_arms` is out of range for this kind of arms.
    """

    render_fps = 4

    arms: Arms = "dependent"
    num_arms: int = 2
    time_last: bool = True

    def __post_init__(self) -> None:
        if self.arms not in get_args(Arms):
            raise ValueError(f"arms must be one of {', '.join(get_args(Arms))}, got {self.arms!r}")
        if checks.positive_integer("num_arms", self.num_arms, at_most=2**24) < 2:
            raise ValueError(f"a bandit needs at least 2 arms, got num_arms={self.num_arms}")
        if self.arms.startswith("dependent") and self.num_arms != 2:
            raise ValueError(f'arms="{self.arms}" needs num_arms=2, got num_arms={self.num_arms}')

    @property
    def default_params(self) -> BernoulliBanditParams:
        if self.arms == "given":
            return BernoulliBanditParams(reward_probs=np.linspace(0.1, 0.9, self.num_arms))
        return BernoulliBanditParams()

    def check_params(self, params: BernoulliBanditParams) -> None:
        require.between(params, 0, 1, "reward_prob", "reward_probs")
        require.ordered(params, "min_lim", "max_lim")
        require.moderate(params, "min_lim", "max_lim")

    def action_space(self, params: BernoulliBanditParams) -> spaces.Discrete:
        return spaces.Discrete(self.num_arms)

    def observation_space(self, params: BernoulliBanditParams) -> spaces.Box:
        low, high = (
            [entry for part in self._arrange([other], [other] * self.num_arms, [time]) for entry in part]
            for other, time in zip((0.0, 1.0), time_bounds(params, params.min_lim, params.max_lim), strict=True)
        )
        return spaces.Box(low, high)

    def state_space(self, params: BernoulliBanditParams) -> spaces.Dict:
        return spaces.Dict(
            {
                "last_action": self.action_space(params),
                "last_reward": spaces.Discrete(2),
                "exp_reward_best": spaces.Box(0.0, 1.0),
                "reward_probs": spaces.Box(0.0, 1.0, (self.num_arms,)),
                "time": spaces.NATURAL_NUMBERS,
            }
        )

    def draw_start(self, key: jax.Array, params: BernoulliBanditParams) -> jax.Array:
        """Draws the arms' reward probabilities: float32 (num_arms,)."""
        if self.arms == "given":
            return jnp.asarray(params.reward_probs)
        if self.arms == "independent":
            return random.uniform(key, (self.num_arms,))
        if self.arms == "dependent-uniform":
            first = random.uniform(key)
        else:
            first = jnp.where(random.integers(random.bits(key), 2) == 0, params.reward_prob, 1 - params.reward_prob)
        return jnp.stack([first, 1 - first])

    def init_state(self, draws: jax.Array, params: BernoulliBanditParams) -> BernoulliBanditState:
        probs, none = draws, jnp.int32(0)
        return BernoulliBanditState(none, none, exp_reward_best=probs.max(), reward_probs=probs)

    def draw(self, key: jax.Array, params: BernoulliBanditParams) -> Float:
        """Draws a number uniform on [0, 1). The arm gives a reward if its probability is higher."""
        return random.uniform(key)

    def transition(
        self, state: BernoulliBanditState, action: jax.Array, draws: Float, params: BernoulliBanditParams
    ) -> tuple[BernoulliBanditState, jax.Array, bool, dict[str, jax.Array]]:
        chosen = np.arange(self.num_arms, dtype=np.int32) == action
        prob = jnp.where(chosen, state.reward_probs, 0.0).sum()
        reward = (draws < prob).astype(jnp.int32)
        state = state.replace(last_action=action, last_reward=reward)
        return state, reward.astype(jnp.float32), False, {"regret": state.exp_reward_best - prob}

    def observe(self, state: BernoulliBanditState, params: BernoulliBanditParams) -> jax.Array:
        arm = (np.arange(self.num_arms, dtype=np.int32) == state.last_action).astype(jnp.float32)
        time = observed_time(state.time, params, params.min_lim, params.max_lim)
        return jnp.concatenate(self._arrange(state.last_reward.astype(jnp.float32)[None], arm, time[None]))

    def render(self, state: BernoulliBanditState, params: BernoulliBanditParams, height: int = 256) -> jax.Array:
        from envcore_misc.render import paint_bernoulli_bandit

        numbers = state.time, state.last_action, state.last_reward, state.reward_probs, state.exp_reward_best
        return paint_bernoulli_bandit(height, *numbers, params.max_steps_in_episode)

    def _arrange(self, reward: Any, arm: Any, time: Any) -> list[Any]:
        return [reward, arm, time] if self.time_last else [reward, time, arm]
