"""Toy environments that each break one rule of the contract; `BROKEN` lists them by rule."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from envcore import require, spaces, trees
from envcore.environment import Environment, Outcome, limit
from envcore.errors import InvalidParamsError
from flax import struct
from jax.core import Tracer
from jax.custom_batching import custom_vmap
from toy import Counter, CounterParams, Spring, SpringStart


@dataclasses.dataclass(frozen=True)
class UnhashableField(Counter):
    layout: Any = dataclasses.field(default_factory=list)


class AddressInRepr(Counter):
    __repr__ = object.__repr__


class ForgetfulPickle(Counter):
    def __reduce__(self) -> Any:
        return type(self), (self.goal + 1,)


class JaxDefaultParams(Counter):
    @property
    def default_params(self) -> CounterParams:
        return CounterParams(bonus=jnp.float32(0.5))


class RefusesItsDefaults(Counter):
    def check_params(self, params: CounterParams) -> None:
        require.between(params, 20, 30, "max_steps_in_episode")


class LooksAtTracedParams(Counter):
    def check_params(self, params: CounterParams) -> None:
        if params.bonus < 0:
            raise InvalidParamsError("bonus must be at least 0")


class TakesAnyNumber(Counter):
    def reset(self, key: Any, params: Any = None) -> Any:
        return super().reset(key, jax.tree.map(jnp.float32, params))


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


class RefusesItsLimit(InfiniteIsNaN):
    def check_params(self, params: Any) -> None:
        require.between(params, 0, 9, "strength")


class OneNameTooFew(Counter):
    action_names: ClassVar[tuple[str, ...]] = ("wait",)


class NoPace(Counter):
    render_fps: ClassVar[float] = 0


class NamesForForces(Spring):
    action_names: ClassVar[tuple[str, ...]] = ("push",)


class VectorReward(Counter):
    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        state, reward, *rest = super().transition(state, action, draws, params)
        return state, reward[None], *rest


@dataclasses.dataclass
class Coin:
    """Not a pytree."""

    heads: Any


class DrawsNoPytree(Counter):
    def draw(self, key: Any, params: Any) -> Coin:
        return Coin(jax.random.bits(key) % 2 == 1)


class WeakReset(Counter):
    def reset(self, key: Any, params: Any = None) -> Any:
        obs, state = super().reset(key, params)
        return jnp.where(obs > 0, 1.0, 0.0), state


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


class Careless(Counter):
    """Mixes dtypes in three lines, one of them only in 64-bit mode, and ranks in one."""

    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        state, reward, terminated, info = super().transition(state, action, draws, params)
        reward = reward + 0.5 * (action == 1)
        return state, reward - 0.25 * info["waited"], terminated, info

    def observe(self, state: Any, params: Any) -> Any:
        here = jnp.arange(self.goal + 1) == state.count
        return (jnp.where(here, 1.0, 0.0) * jnp.ones((1, self.goal + 1), jnp.float32))[0]


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


class ForgetsParams(Counter):
    @property
    def default_params(self) -> Any:
        return ForgetfulParams()


class SpaceOfNoParam(Counter):
    def observation_space(self, params: Any) -> spaces.Box:
        return spaces.Box(0.0, params.missing, (self.goal + 1,))


class SpaceMixesDtypes(Counter):
    """Works with the Python numbers of the default params, but not with the arrays that `make` returns."""

    def observation_space(self, params: Any) -> spaces.Box:
        return spaces.Box(0.0, np.maximum(1, 0 * params.max_steps_in_episode * params.bonus), (self.goal + 1,))


class IntegerObservation(Counter):
    def observe(self, state: Any, params: Any) -> Any:
        return super().observe(state, params).astype(jnp.int32)


class WeakObservation(Counter):
    def observe(self, state: Any, params: Any) -> Any:
        return jnp.broadcast_to(jnp.asarray(0.5), (self.goal + 1,))


class NeedsArrays(Counter):
    def observe(self, state: Any, params: Any) -> Any:
        return super().observe(state, params) * params.bonus.astype(jnp.float32)


class SpaceWithoutBounds(Counter):
    """As Breakout once was: its space had time=-1851770617."""

    def state_space(self, params: Any) -> spaces.Dict:
        return Environment.state_space(self, params)


class TimeBeforeTheStart(Counter):
    def state_space(self, params: Any) -> spaces.Dict:
        return spaces.Dict({"count": spaces.Discrete(self.goal + 1), "time": spaces.Box(-5, 2**31 - 1, (), jnp.int32)})


class Anything(spaces.Discrete):
    def contains(self, value: Any) -> jax.Array:
        return jnp.array(True)


class CountBeyondTheGoal(Counter):
    def state_space(self, params: Any) -> spaces.Dict:
        return spaces.Dict({"count": Anything(self.goal + 1), "time": spaces.NATURAL_NUMBERS})


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


class TooManyActions(spaces.Discrete):
    def sample(self, key: Any) -> jax.Array:
        return super().sample(key) + 1


class SamplesOutside(Counter):
    def action_space(self, params: Any) -> spaces.Discrete:
        return TooManyActions(2)


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
        return jnp.stack([jnp.int32(1), state.count])


class MaskOfMoreActions(Counter):
    def action_mask(self, state: Any, params: Any) -> Any:
        return jnp.ones(3, jnp.bool_)


class MaskBeforeReset(Counter):
    def action_mask(self, state: Any, params: Any) -> Any:
        return jnp.stack([state.count < 2, jnp.bool_(True)])

    def step(self, key: Any, state: Any, action: Any, params: Any = None) -> tuple[Any, ...]:
        obs, after, reward, done, info = super().step(key, state, action, params)
        *_, final = self.step_env(key, state, action, params)
        return obs, after, reward, done, {**info, "action_mask": final["action_mask"]}


class ResetsItself(Spring):
    def step(self, key: Any, state: Any, action: Any, params: Any = None) -> Any:
        obs, state, reward, done, info = super().step(key, state, action, params)
        _, fresh = self.reset(key, params)
        return obs, trees.where(done, fresh, state), reward, done, info


class NeverResets(Counter):
    def restart(self, key: Any, done: Any, state: Any, params: Any) -> Any:
        return state


class KeepsTime(Counter):
    def restart(self, key: Any, done: Any, state: Any, params: Any) -> Any:
        return super().restart(key, done, state, params).replace(time=state.time)


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


class VmapOverParamsChangesReward(Counter):
    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        state, _, *rest = super().transition(state, action, draws, params)
        return state, _another_number_under_vmap(params.bonus), *rest


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
        return jax.jit(lambda *args: Counter.step(self, *args))(key, state, action, params)


class FloatPicture(Counter):
    def render(self, state: Any, params: Any, height: int = 256) -> jax.Array:
        return super().render(state, params, height).astype(jnp.float32)


class PaintsNothing(Counter):
    def render(self, state: Any, params: Any, height: int = 256) -> jax.Array:
        return jnp.zeros((max(height, 0), 8, 3), jnp.uint8)


class SamePicture(Counter):
    def render(self, state: Any, params: Any, height: int = 256) -> jax.Array:
        return jnp.zeros((height, height, 3), jnp.uint8)


class PictureOfTheBatch(Counter):
    def render(self, state: Any, params: Any, height: int = 256) -> jax.Array:
        @custom_vmap
        def mean(count: jax.Array) -> jax.Array:
            return count

        @mean.def_vmap
        def _(size: int, batched: Any, count: jax.Array) -> Any:
            return jnp.broadcast_to(count.max(), (size,)), True

        return super().render(state.replace(count=mean(state.count)), params, height)


class Undecorated(Counter):
    bonus_goal: int = 3


BROKEN = {
    "equality_and_hash": UnhashableField(),
    "readable_repr": AddressInRepr(),
    "copy_and_pickle": ForgetfulPickle(),
    "plain_default_params": JaxDefaultParams(),
    "check_of_params": RefusesItsDefaults(),
    "display_metadata": OneNameTooFew(),
    "reset_and_step_run": VectorReward(),
    "constant_types": WeakReset(),
    "reward_and_flag_types": HalfReward(),
    "info_entries": LessInfoFromStepEnv(),
    "draws_are_arrays": DrawsNoPytree(),
    "x64": WideReset(),
    "strict_dtype_promotion": MixedDtypes(),
    "strict_rank_promotion": MixedRanks(),
    "pytrees": ForgetsParams(),
    "spaces_of_params": SpaceOfNoParam(),
    "types_of_the_spaces": IntegerObservation(),
    "authors_methods": WeakObservation(),
    "bounded_states": SpaceWithoutBounds(),
    "finite_params": TakesAnyNumber(),
    "same_key_same_trace": HostRandomness(),
    "no_key_of_its_own": OwnKey(),
    "actions_in_space": SamplesOutside(),
    "observations_in_space": NarrowObservationSpace(),
    "states_in_space": StateSpaceWithoutGoal(),
    "finite_rewards": InfiniteReward(),
    "infinite_limits": InfiniteIsNaN(),
    "done_flag": DoneWithoutTruncation(),
    "discount": DiscountZeroOnTruncation(),
    "observation_of_the_state": StaleObservation(),
    "final_observation": FinalObsAfterReset(),
    "action_mask": MasksByNumber(),
    "new_episode": ResetsItself(),
    "time_limit": OneStepTooLong(),
    "step_env_without_reset": StepEnvResets(),
    "compiles_once": JitsInStep(),
    "vmap_equals_loop": VmapChangesReward(),
    "jit_equals_eager": LooksForTracers(),
    "legacy_keys": LooksAtKeyRank(),
    "batched_params": UnmappableParam(),
    "finite_gradients": InfiniteGradient(),
    "pictures": FloatPicture(),
    "height_of_a_picture": PaintsNothing(),
    "changing_pictures": SamePicture(),
    "pictures_under_vmap": PictureOfTheBatch(),
}

ALSO_BROKEN = [
    ("equality_and_hash", Undecorated()),
    ("authors_methods", NeedsArrays()),
    ("bounded_states", TimeBeforeTheStart()),
    ("bounded_states", CountBeyondTheGoal()),
    ("action_mask", MaskBeforeReset()),
    ("action_mask", MaskOfMoreActions()),
    ("check_of_params", LooksAtTracedParams()),
    ("spaces_of_params", SpaceMixesDtypes()),
    ("infinite_limits", RefusesItsLimit()),
    ("display_metadata", NoPace()),
    ("display_metadata", NamesForForces()),
    ("batched_params", VmapOverParamsChangesReward()),
    ("new_episode", NeverResets()),
    ("new_episode", KeepsTime()),
    ("finite_gradients", NothingToDifferentiate()),
]
