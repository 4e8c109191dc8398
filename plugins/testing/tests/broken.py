"""Toy environments that each break one rule of the contract. `BROKEN` lists them by rule, with the report."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from envcore import spaces, trees
from envcore.environment import Environment, Outcome, limit
from envcore.errors import InvalidParamsError
from flax import struct
from jax.core import Tracer
from jax.custom_batching import custom_vmap
from toy import Counter, CounterParams, Spring, SpringStart


class Undecorated(Counter):
    bonus_goal: int = 3


class EqualToNoCopy(Counter):
    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


class AddressInRepr(Counter):
    __repr__ = object.__repr__


class ForgetfulPickle(Counter):
    def __reduce__(self) -> Any:
        return type(self), (self.goal + 1,)


class JaxDefaultParams(Counter):
    @property
    def default_params(self) -> CounterParams:
        return CounterParams(bonus=jnp.float32(0.5))


class LooksAtTracedParams(Counter):
    def check_params(self, params: CounterParams) -> None:
        if params.bonus < 0:
            raise InvalidParamsError("bonus must be at least 0")


class TakesAnyNumber(Counter):
    def reset(self, key: Any, params: Any = None) -> Any:
        return super().reset(key, jax.tree.map(jnp.asarray, params))


@struct.dataclass
class LimitedParams(CounterParams):
    strength: Any = limit(2.0)


class InfiniteIsNaN(Counter):
    @property
    def default_params(self) -> LimitedParams:
        return LimitedParams()

    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        state, reward, *rest = super().transition(state, action, draws, params)
        return state, reward * params.strength / params.strength, *rest


class OneNameTooFewAndNoPace(Counter):
    action_names: ClassVar[tuple[str, ...]] = ("wait",)
    render_fps: ClassVar[float] = 0


class VectorReward(Counter):
    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        state, reward, *rest = super().transition(state, action, draws, params)
        return state, reward[None], *rest


@dataclasses.dataclass
class Coin:
    """Not a pytree."""

    heads: Any


class DrawsNoPytree(Counter):
    def draw_start(self, key: Any, params: Any) -> Coin:
        return Coin(jax.random.bits(key) % 2 == 1)


class HalfReset(Counter):
    def reset(self, key: Any, params: Any = None) -> Any:
        obs, state = super().reset(key, params)
        return obs.astype(jnp.float16), state


class HalfReward(Counter):
    def advance(self, state: Any, action: Any, draws: Any, params: Any) -> Outcome:
        outcome = super().advance(state, action, draws, params)
        return outcome._replace(reward=outcome.reward.astype(jnp.float16))


class LessInfoFromStepEnv(Counter):
    def step_env(self, key: Any, state: Any, action: Any, params: Any = None) -> Any:
        *values, info = super().step_env(key, state, action, params)
        return *values, {name: value for name, value in info.items() if name != "waited"}


class WideReset(Counter):
    def reset(self, key: Any, params: Any = None) -> Any:
        obs, state = super().reset(key, params)
        return obs.astype(float), state


class MixedDtypes(Counter):
    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        state, _, *rest = super().transition(state, action, draws, params)
        return state, params.bonus * action, *rest


class MixedRanks(Counter):
    def observe(self, state: Any, params: Any) -> Any:
        return (super().observe(state, params) * jnp.ones((1, self.goal + 1), jnp.float32))[0]


@jax.tree_util.register_pytree_node_class
@dataclasses.dataclass(frozen=True)
class ForgetfulParams:
    bonus: Any = dataclasses.field(default_factory=lambda: np.float32(0.5))
    max_steps_in_episode: Any = 10

    def tree_flatten(self) -> Any:
        return (self.bonus, self.max_steps_in_episode), None

    @classmethod
    def tree_unflatten(cls, _: Any, leaves: Any) -> ForgetfulParams:
        return cls(max_steps_in_episode=leaves[1])

    def replace(self, **updates: Any) -> ForgetfulParams:
        return dataclasses.replace(self, **updates)


class ForgetsParams(Counter):
    @property
    def default_params(self) -> Any:
        return ForgetfulParams()


class SpaceMixesDtypes(Counter):
    """Works with the Python numbers of the default params, but not with the arrays that `make` returns."""

    def observation_space(self, params: Any) -> spaces.Box:
        return spaces.Box(0.0, jnp.maximum(1, 0 * params.max_steps_in_episode * params.bonus), (self.goal + 1,))


class IntegerObservation(Counter):
    def observe(self, state: Any, params: Any) -> Any:
        return super().observe(state, params).astype(jnp.int32)


class WeakObservation(Counter):
    def observe(self, state: Any, params: Any) -> Any:
        return jnp.broadcast_to(jnp.asarray(0.5), (self.goal + 1,))


class SpaceWithoutBounds(Counter):
    """As Breakout once was: its space had time=-1851770617."""

    def state_space(self, params: Any) -> spaces.Dict:
        any_time = spaces.Box(-(2**31), 2**31 - 1, (), jnp.int32)
        return spaces.Dict({**Environment.state_space(self, params).spaces, "time": any_time})


_COUNT = itertools.count()


class HostRandomness(Counter):
    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        state, _, *rest = super().transition(state, action, draws, params)
        reward = jax.pure_callback(
            lambda action: np.full(np.shape(action), next(_COUNT), np.float32),
            jax.ShapeDtypeStruct((), jnp.float32),
            action,
            vmap_method="expand_dims",
        )
        return state, reward, *rest


class OwnKey(Spring):
    def draw_start(self, key: Any, params: Any) -> SpringStart:
        return super().draw_start(jax.random.key(0), params)


class NarrowObservationSpace(Counter):
    def observation_space(self, params: Any) -> spaces.Box:
        return spaces.Box(0.0, 0.5, (self.goal + 1,))


class StateSpaceWithoutGoal(Counter):
    def state_space(self, params: Any) -> spaces.Dict:
        return spaces.Dict({"count": spaces.Discrete(self.goal), "time": spaces.NATURAL_NUMBERS})


class InfiniteReward(Counter):
    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        state, _, terminated, info = super().transition(state, action, draws, params)
        return state, jnp.where(terminated, jnp.inf, 0.0), terminated, info


class DoneWithoutTruncation(Counter):
    def step(self, key: Any, state: Any, action: Any, params: Any = None) -> Any:
        obs, state, reward, _, info = super().step(key, state, action, params)
        return obs, state, reward, info["terminated"], info


class TruncatesUntold(Counter):
    def may_truncate(self, params: Any) -> bool:
        return False


class DiscountZeroOnTruncation(Counter):
    def step(self, key: Any, state: Any, action: Any, params: Any = None) -> Any:
        obs, state, reward, done, info = super().step(key, state, action, params)
        return obs, state, reward, done, {**info, "discount": 1 - done.astype(jnp.float32)}


class OneStepTooLong(Counter):
    def advance(self, state: Any, action: Any, draws: Any, params: Any) -> Outcome:
        outcome = super().advance(state, action, draws, params)
        return outcome._replace(truncated=outcome.state.time > params.max_steps_in_episode)


class StaleObservation(Counter):
    def step(self, key: Any, state: Any, action: Any, params: Any = None) -> Any:
        _, state, reward, done, info = super().step(key, state, action, params)
        return info["final_obs"], state, reward, done, info


class FinalObsAfterReset(Counter):
    def step(self, key: Any, state: Any, action: Any, params: Any = None) -> Any:
        obs, state, reward, done, info = super().step(key, state, action, params)
        return obs, state, reward, done, {**info, "final_obs": obs}


class MasksByNumber(Counter):
    def action_mask(self, state: Any, params: Any) -> Any:
        return jnp.stack([1, state.count, 0])


class MaskBeforeReset(Counter):
    def action_mask(self, state: Any, params: Any) -> Any:
        return jnp.stack([state.count < 2, jnp.bool_(True)])

    def step(self, key: Any, state: Any, action: Any, params: Any = None) -> tuple[Any, ...]:
        obs, after, reward, done, info = super().step(key, state, action, params)
        *_, final = self.step_env(key, state, action, params)
        return obs, after, reward, done, {**info, "action_mask": final["action_mask"]}


class ResetsItself(Spring):
    def step(self, key: Any, state: Any, action: Any, params: Any = None) -> Any:
        _, state, reward, done, info = super().step(key, state, action, params)
        state = trees.where(done, self.reset(key, params)[1], state)
        return self.observe(state, params), state, reward, done, info


class StepEnvResets(Counter):
    def step_env(self, key: Any, state: Any, action: Any, params: Any = None) -> Any:
        obs, state, reward, _, info = self.step(key, state, action, params)
        return obs, state, reward, info["terminated"], info


@custom_vmap
def _another_number_under_vmap(x: jax.Array) -> jax.Array:
    return x


@_another_number_under_vmap.def_vmap
def _(axis_size: int, in_batched: Any, x: jax.Array) -> Any:
    return x + 1, in_batched[0]


class VmapChangesReward(Counter):
    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        state, _, *rest = super().transition(state, action, draws, params)
        return state, _another_number_under_vmap(action).astype(jnp.float32), *rest


class LooksForTracers(Counter):
    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        state, reward, *rest = super().transition(state, action, draws, params)
        return state, reward if isinstance(reward, Tracer) else reward + 1, *rest


class LooksAtKeyRank(Spring):
    def draw_start(self, key: Any, params: Any) -> SpringStart:
        return super().draw_start(jax.random.fold_in(key, key.ndim), params)


class UnmappableParam(Counter):
    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        state, _, *rest = super().transition(state, action, draws, params)
        reward = jax.pure_callback(np.float32, jax.ShapeDtypeStruct((), jnp.float32), params.bonus)
        return state, reward, *rest


class InfiniteGradient(Spring):
    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        state, _, terminated = super().transition(state, action, draws, params)
        return state, -jnp.sqrt(0 * state.position**2), terminated


class NothingToDifferentiate(Counter):
    differentiable: ClassVar[bool] = True

    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        state, _, *rest = super().transition(state, action, draws, params)
        return state, 0.0, *rest


class JitsInStep(Counter):
    def step(self, key: Any, state: Any, action: Any, params: Any = None) -> Any:
        step = super().step
        return jax.jit(lambda key, state, action: step(key, state, action, params))(key, state, action)


class FloatPicture(Counter):
    def render(self, state: Any, params: Any, height: int = 256) -> jax.Array:
        return super().render(state, params, height).astype(jnp.float32)


class PaintsNothing(Counter):
    def render(self, state: Any, params: Any, height: int = 256) -> jax.Array:
        return super().render(state, params, height) if height else jnp.zeros((0, 8, 3), jnp.uint8)


class SamePicture(Counter):
    def render(self, state: Any, params: Any, height: int = 256) -> jax.Array:
        return jnp.zeros_like(super().render(state, params, height))


class AnotherPictureUnderVmap(Counter):
    def render(self, state: Any, params: Any, height: int = 256) -> jax.Array:
        return super().render(state.replace(count=_another_number_under_vmap(state.count)), params, height)


BROKEN: dict[str, tuple[Environment, list[str]]] = {
    "decorated_class": (Undecorated(), ["Undecorated.bonus_goal is not a field"]),
    "equality_and_hash": (EqualToNoCopy(), ["__eq__, __hash__: EqualToNoCopy(goal=3) made twice is not equal"]),
    "readable_repr": (AddressInRepr(), ["__repr__: it shows an address, <broken.AddressInRepr object at 0x"]),
    "copy_and_pickle": (
        ForgetfulPickle(),
        [
            f"{method}: ForgetfulPickle(goal=3) becomes ForgetfulPickle(goal=4)"
            for method in ("__deepcopy__", "__reduce__")
        ],
    ),
    "plain_default_params": (JaxDefaultParams(), ["default_params: .bonus is put on the device on every access"]),
    "check_of_params": (LooksAtTracedParams(), ["check_params: it reads a traced value. "]),
    "display_metadata": (
        OneNameTooFewAndNoPace(),
        ["action_names: ('wait',) are not 2 names for Discrete(2)", "render_fps: 0 is not a positive number"],
    ),
    "reset_and_step_run": (VectorReward(), ["transition's reward must have shape (), got (1,)."]),
    "pytrees": (ForgetsParams(), ["default_params: the params, a ForgetfulParams, fails"]),
    "constant_types": (HalfReset(), ["reset: obs is float16[4] instead of float32[4]"]),
    "reward_and_flag_types": (HalfReward(), ["step: reward is float16[] instead of float32[]"]),
    "info_entries": (LessInfoFromStepEnv(), ["step_env: info must be dict, got one without ['waited']"]),
    "draws_are_arrays": (DrawsNoPytree(), ["draw_start: it returns Coin"]),
    "strict_dtype_promotion": (
        MixedDtypes(),
        ["transition: TypePromotionError: Input dtypes (", ": return state, params.bonus * action"],
    ),
    "strict_rank_promotion": (MixedRanks(), ["observe: ValueError: Operands could not be broadcast", "broken.py:"]),
    "x64": (WideReset(), ["reset[0] is float64[4] instead of float32[4]"]),
    "spaces_of_params": (SpaceMixesDtypes(), ["observation_space: TypePromotionError: "]),
    "types_of_the_spaces": (IntegerObservation(), ["observation_space: obs is int32[4] instead of float32[4]"]),
    "authors_methods": (WeakObservation(), ["observe: the result of observe(state, params) is weak float32[4]"]),
    "action_mask_type": (MasksByNumber(), ["action_mask: it must be bool", "must have shape (2,), got (3,)"]),
    "bounded_states": (
        SpaceWithoutBounds(),
        ["state_space: state.count has no bounds in Box(", "state_space: state.time may be -1"],
    ),
    "finite_params": (TakesAnyNumber(), ["reset: it accepts NaN as params.bonus"]),
    "same_key_same_trace": (HostRandomness(), ["transition, init_state: with the same key, ['reward'] is "]),
    "no_key_of_its_own": (OwnKey(), ["reset: it makes a key", "step: it makes a key"]),
    "observations_in_space": (
        NarrowObservationSpace(),
        ["observe: obs is not in Box(0, 0.5, (4,), float32), 200 times, first at step 0", ". It is [1. 0. 0. 0.]"],
    ),
    "states_in_space": (
        StateSpaceWithoutGoal(),
        ["transition, init_state: state.count is not in Discrete(3), ", " of trace 0, in the state CounterState("],
    ),
    "finite_rewards": (InfiniteReward(), ["transition: the reward is not finite, "]),
    "infinite_limits": (InfiniteIsNaN(), ["transition: infinity as params.strength leads to NaN in ['reward']"]),
    "done_flag": (DoneWithoutTruncation(), ["step: done is not terminated | truncated, "]),
    "told_truncation": (TruncatesUntold(), ["may_truncate: it returns False, but a step is truncated, "]),
    "discount": (DiscountZeroOnTruncation(), ["step: info['discount'] is not 1 - terminated, "]),
    "observation_of_the_state": (StaleObservation(), ["step: obs is 0.0 instead of 1.0"]),
    "final_observation": (FinalObsAfterReset(), ["step: info['final_obs'] is 1.0 instead of 0.0"]),
    "action_mask": (MaskBeforeReset(), ["step: info['action_mask'] is False instead of True"]),
    "new_episode": (ResetsItself(), ["step, restart: state.position is "]),
    "time_limit": (
        OneStepTooLong(),
        ["advance, step: with max_steps_in_episode=1, step 1 of an episode has terminated=False, truncated=False"],
    ),
    "step_env_without_reset": (StepEnvResets(), ["step_env: obs is 1.0 instead of 0.0", "step_env: state.count is 0"]),
    "compiles_once": (JitsInStep(), ["step: another step compiled 2 new programs"]),
    "vmap_equals_loop": (VmapChangesReward(), ["step: under vmap, [2] is "]),
    "jit_equals_eager": (LooksForTracers(), ["step: without jit, [2] is "]),
    "legacy_keys": (LooksAtKeyRank(), ["draw, draw_start, step: with a legacy key, [1].position is "]),
    "batched_params": (UnmappableParam(), ["step: it cannot be mapped over params.bonus: "]),
    "finite_gradients": (InfiniteGradient(), ["transition: the gradient with respect to ['state'].position is not"]),
    "nonzero_gradients": (NothingToDifferentiate(), ["transition: every gradient is zero"]),
    "pictures": (FloatPicture(), ["FloatPicture.render(state, params, height=64) returns float32[64, 64, 3]"]),
    "height_of_a_picture": (PaintsNothing(), ["render: it accepts a height of 0"]),
    "changing_pictures": (SamePicture(), ["render: it always shows the same picture"]),
    "pictures_under_vmap": (AnotherPictureUnderVmap(), ["render: ", "of the levels differ under vmap"]),
}
