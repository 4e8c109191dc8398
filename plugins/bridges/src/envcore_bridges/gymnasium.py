"""`FromGymnasium`: use Gymnasium environments in envcore, simulated on the CPU.

A step is a pure function, because envcore's state contains the whole state of the simulator. On the host, a step loads
the state into a simulator, steps it, and saves the state. Simulators are cached by the state they are in, so in most
steps there is nothing to load.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import os
import pickle
import threading
import warnings
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from envcore import require, spaces, trees
from envcore.environment import NO_TIME_LIMIT
from envcore.errors import EnvironmentLoadError, InvalidArgumentError, NoPictureError

from envcore_bridges.base.environment import ForeignEnvironment, ForeignState
from envcore_bridges.base.loading import layers, unknown_name
from envcore_bridges.base.pictures import check_opengl, paint_on_host, render_bodies
from envcore_bridges.base.spaces import space_like

_STANDARD_WRAPPERS = ("OrderEnforcing", "PassiveEnvChecker", "TimeLimit")
_HISTORY = 1000  # actions that are replayed at most, if an environment has no time limit


def from_gymnasium(source: str | Callable[..., Any], **options: Hashable) -> FromGymnasium:
    """Makes a Gymnasium environment.

    Args:
      source: an id such as "HalfCheetah-v5" or "ALE/Pong-v5", or a class or function that makes a `gymnasium.Env`.
      **options: keyword arguments for `gymnasium.make`, such as `frame_skip=2` or `gravity=-3.7`.

    Raises:
      InvalidArgumentError: Gymnasium does not have this id or option, a space has no counterpart in envcore, or your
        function returns the same environment again.
      EnvironmentLoadError: a simulator that the environment needs is not installed.
    """
    return FromGymnasium.make(source, **options)


@dataclasses.dataclass(frozen=True)
class FromGymnasium(ForeignEnvironment):
    """A Gymnasium environment, whose simulator runs on the CPU.

    Observation and action: Gymnasium's, with 64-bit numbers converted to 32 bits.
    Reward and termination: Gymnasium's.
    Truncation: at `params.max_steps_in_episode`, which defaults to the registered limit. Also when the environment
      itself truncates, as ALE does after 108,000 frames.
    Info: numeric info entries that appear in the first step. Python's integers become float32.
    Legal actions: `info["action_mask"]` if Gymnasium provides one, as in Taxi.
    Randomness: the key seeds `reset`. Steps use the random generator stored in the state.

    `state.inner["simulator"]`, uint32, stores the simulator's state. For classic control and toy text these are the
    object's values, for MuJoCo `mj_getState` of `mjSTATE_INTEGRATION` and the positions of bodies, and for Atari ALE's
    `cloneState`. Other simulators, such as Box2D, cannot save their state. For these it stores the seed and all actions
    of the episode, which are replayed if no cached simulator is in that state. Their time limit cannot be higher than
    the registered one, or than 1,000 steps without one. The option `max_episode_steps` changes the registered one.
    """

    refused_wrappers = ("Autoreset",)

    def load(self) -> Any:
        made = self._made()
        if hasattr(made, "num_envs"):
            raise InvalidArgumentError(f"{self.name} makes a batch of environments: make one, and wrap it in Batched.")
        return made

    def _made(self, **more: Any) -> Any:
        import gymnasium  # late, so that envcore lists environments without it

        options: dict[str, Any] = dict(self.options) | more
        if not isinstance(self.source, str):
            return self.source(**options)
        try:
            if self.source.startswith("ALE/"):
                import ale_py

                gymnasium.register_envs(ale_py)
            if self.source not in gymnasium.registry:
                raise unknown_name("Gymnasium", self.source, gymnasium.registry)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # from importing Box2D
                return gymnasium.make(self.source, disable_env_checker=True, **options)
        except (gymnasium.error.DependencyNotInstalled, ImportError) as error:
            raise EnvironmentLoadError(f"gymnasium/{self.source} lacks its simulator: {error}") from error

    def check_support(self) -> None:
        if not isinstance(self.source, str) and self._made() is self._made():
            raise InvalidArgumentError(f"{self.source!r} must make a new environment on each call.")
        space, found = self.observation_space(None), _simulators(self).start_types[1]
        if jax.tree.map(jnp.shape, jax.eval_shape(space.sample, jax.random.key(0))) != jax.tree.map(jnp.shape, found):
            raise InvalidArgumentError(f"{self.name} declares observations in {space}, but `reset` returns {found}.")

    @property
    def time_limit(self) -> int:
        limits = (each._max_episode_steps for each in layers(self.library_env) if type(each).__name__ == "TimeLimit")
        return next(limits, _HISTORY if self._is_replayed else NO_TIME_LIMIT)

    def check_params(self, params: Any) -> None:
        if self._is_replayed:
            require.between(params, 1, self.time_limit, "max_steps_in_episode")

    @property
    def _is_replayed(self) -> bool:
        return _kind(_without_checks(self.library_env)) is _Replay

    def action_space(self, params: Any) -> spaces.Space:
        space = space_like(self.library_env.action_space, None)
        if isinstance(space, spaces.Dict | spaces.Tuple):
            raise InvalidArgumentError(f"from_gymnasium needs actions in one array, got {space}: flatten them first.")
        return space

    def observation_space(self, params: Any) -> spaces.Space:
        return space_like(self.library_env.observation_space, None)

    def library_reset(self, key: jax.Array, params: Any) -> tuple[Any, Any]:
        return _simulators(self).reset(key)

    def library_step(self, state: Any, action: Any, key: jax.Array, params: Any) -> tuple[Any, ...]:
        return _simulators(self).step(state["simulator"], action)

    def library_action_mask(self, state: Any, obs: Any, params: Any) -> Any:
        return state.get("action_mask")

    def render(self, state: ForeignState, params: Any, height: int = 256) -> jax.Array:
        simulator, aspect = _painter(self)

        def draw(words: Any, shape: tuple[int, int]) -> Any:
            simulator.load(words.tobytes())
            return simulator.picture(shape)

        return paint_on_host(draw, state.inner["simulator"], height, aspect)


class _Simulator:
    """A simulator whose state is a few attributes of a Python object. Base class of the other simulators.

    Attributes:
      env: Gymnasium's environment, without the wrappers for time limits and checks.
      make: makes another one.
      history: number of actions that a state can store, for `_Replay`.
    """

    parallel = False  # whether several threads step a batch faster than one
    _fields: ClassVar[tuple[str, ...]] = (
        *("state", "steps_beyond_terminated", "last_u"),  # classic control
        *("s", "lastaction", "fickle_step", "taxi_orientation"),  # toy text
    )

    def __init__(self, make: Callable[[], Any], history: int) -> None:
        self.env, self.make, self.history = make(), make, history
        self.env.reset(seed=0)  # creates the attributes that `load` sets

    def reset(self, seed: int) -> tuple[Any, Any]:
        return self.env.reset(seed=seed)

    def step(self, action: Any) -> tuple[Any, ...]:
        return self.env.step(action)

    def save(self) -> bytes:
        """Serializes the state of the simulator and its random generator."""
        return pickle.dumps((self.env.unwrapped.np_random.bit_generator.state, self._read()), protocol=5)

    def load(self, data: bytes) -> None:
        """Restores a state that `save` returned."""
        self.env.unwrapped.np_random.bit_generator.state, state = pickle.loads(data)
        self._write(state)

    def size(self) -> int:
        """Returns a number of bytes that is enough for every state."""
        return len(self.save()) + 256

    def picture(self, shape: tuple[int, int]) -> Any:
        return self.env.render()

    def _read(self) -> Any:
        return {name: vars(self.env.unwrapped)[name] for name in self._fields if name in vars(self.env.unwrapped)}

    def _write(self, state: Any) -> None:
        vars(self.env.unwrapped).update(state)


class _Mujoco(_Simulator):
    # A step computes these before it moves bodies, and environments read them before the next step.
    _computed = ("xpos", "xquat", "xipos", "geom_xpos", "site_xpos", "subtree_com", "sensordata")

    def __init__(self, make: Callable[[], Any], history: int) -> None:
        import mujoco

        super().__init__(make, history)
        self._mujoco: Any = mujoco
        self._model, self._data = self.env.unwrapped.model, self.env.unwrapped.data
        self.parallel = self._model.nv > 12  # a small model's step is shorter than passing the GIL
        self._spec = self._mujoco.mjtState.mjSTATE_INTEGRATION
        self._integrated = np.zeros(self._mujoco.mj_stateSize(self._model, self._spec))
        self._derived = [getattr(self._data, name).reshape(-1) for name in self._computed]  # views

    def _read(self) -> Any:
        self._mujoco.mj_getState(self._model, self._data, self._integrated, self._spec)
        return np.concatenate([self._integrated, *self._derived]).tobytes()  # pickled faster than an array

    def _write(self, state: Any) -> None:
        values, place = np.frombuffer(state), len(self._integrated)
        self._mujoco.mj_setState(self._model, self._data, values[:place], self._spec)
        for array in self._derived:
            array[:] = values[place : place + len(array)]
            place += len(array)

    def picture(self, shape: tuple[int, int]) -> Any:
        return render_bodies(self._model, self._data, shape)


class _Atari(_Simulator):
    def _read(self) -> Any:
        return self.env.unwrapped.ale.cloneState(include_rng=True)

    def _write(self, state: Any) -> None:
        self.env.unwrapped.ale.restoreState(state)


class _Replay(_Simulator):
    """A simulator that cannot save its state. Stores the seed and all actions, and replays them."""

    _seed, _past = -1, b""

    def reset(self, seed: int) -> tuple[Any, Any]:
        self.env, self._seed, self._past = self.make(), seed, b""  # Box2D's worlds keep data of earlier episodes
        return self.env.reset(seed=seed)

    def step(self, action: Any) -> tuple[Any, ...]:
        self._past += np.asarray(action).tobytes()
        return self.env.step(action)

    def save(self) -> bytes:
        return pickle.dumps((self._seed, self._past), protocol=5)

    def load(self, data: bytes) -> None:
        seed, past = pickle.loads(data)
        space = self.env.action_space
        if seed != self._seed or not past.startswith(self._past):
            self.reset(seed)
        for action in np.frombuffer(past, space.dtype, offset=len(self._past)).reshape(-1, *space.shape):
            self.step(action)

    def size(self) -> int:
        return self.history * self.env.action_space.sample().nbytes + 64


_KINDS = {
    "ale_py.": _Atari,
    "gymnasium.envs.classic_control.": _Simulator,
    "gymnasium.envs.mujoco.": _Mujoco,
    "gymnasium.envs.toy_text.blackjack": _Replay,  # hands have variable length
    "gymnasium.envs.toy_text.": _Simulator,
}


class _Simulators:
    """Pure `reset` and `step` functions of one environment, and the simulators that compute them."""

    def __init__(self, kind: type[_Simulator], make: Callable[[], Any], history: int) -> None:
        self._new = functools.partial(kind, make, history)
        first = self._new()
        self._lock, self._hot, self._free = threading.Lock(), dict[bytes, _Simulator](), [first]
        self._parallel = first.parallel
        self._obs_space, self._action_space = first.env.observation_space, first.env.action_space
        self._action_space.seed(0)
        obs, info = first.reset(0)
        self._has_mask, self._words = "action_mask" in info, -(-first.size() // 4)
        start = self._start(first, obs, info)
        *_, info = first.step(self._action_space.sample())
        # A Python integer is often the first value of a float.
        values = {name: np.asarray(value, np.float32 if type(value) is int else None) for name, value in info.items()}
        kept = (name for name, value in values.items() if value.dtype.kind in "biuf")
        self._info = {name: _narrow(values[name]) for name in kept if name not in ("action_mask", "truncated")}
        step = *start, np.float32(0), np.bool_(False), {**self._info, "truncated": np.bool_(False)}
        self.start_types, self._step_types = jax.tree.map(
            lambda x: jax.ShapeDtypeStruct(np.shape(x), np.asarray(x).dtype), (start, step)
        )

    def reset(self, words: jax.Array) -> Any:
        """Returns a new state and observation. `words`, uint32 (2,), are the data of a key and seed the episode."""

        def on_host(words: Any) -> Any:
            # Auto-resets of a batch are padded with equal keys, so compute each once.
            different, numbers = np.unique(np.reshape(words, (-1, 2)), axis=0, return_inverse=True)
            out = self._run([None] * len(different), different, self._play_start, self.start_types)
            return jax.tree.map(lambda x: x[numbers.ravel()].reshape((*np.shape(words)[:-1], *x.shape[1:])), out)

        return jax.pure_callback(on_host, self.start_types, words, vmap_method="broadcast_all")

    def step(self, state: jax.Array, action: jax.Array) -> Any:
        """Returns the state, observation, reward, termination and info of a step."""

        def on_host(state: Any, action: Any) -> Any:
            state, action = np.asarray(state), np.asarray(action)
            lead = state.shape[:-1]
            state, action = state.reshape(-1, self._words), action.reshape(-1, *action.shape[len(lead) :])
            out = self._run(list(state), action, self._play_step, self._step_types)
            return jax.tree.map(lambda x: x.reshape((*lead, *x.shape[1:])), out)

        return jax.pure_callback(on_host, self._step_types, state, action, vmap_method="broadcast_all")

    def _run(self, states: Sequence[Any], inputs: Any, play: Callable[..., Any], types: Any) -> Any:
        """Calls `play(simulator, input)` for a batch, with simulators that have loaded the states if not None."""
        with self._lock:
            taken = [None if state is None else self._hot.pop(state.tobytes(), None) for state in states]
            hot = [simulator is not None for simulator in taken]
            simulators = [simulator or self._spare(len(states)) for simulator in taken]
        out = jax.tree.map(lambda x: np.empty((len(states), *x.shape), x.dtype), types)
        arrays = jax.tree.leaves(out)

        def play_some(numbers: range) -> None:
            for i in numbers:
                if states[i] is not None and not hot[i]:
                    simulators[i].load(states[i].tobytes())
                for array, value in zip(arrays, jax.tree.leaves(play(simulators[i], inputs[i])), strict=True):
                    array[i] = value

        cores = os.cpu_count() or 1 if self._parallel and len(states) > 1 else 1
        list((_threads().map if cores > 1 else map)(play_some, (range(i, len(states), cores) for i in range(cores))))
        with self._lock:
            for state, simulator in zip(out[0]["simulator"], simulators, strict=True):
                if self._hot.setdefault(state.tobytes(), simulator) is not simulator:
                    self._free.append(simulator)
        return out

    def _spare(self, batch: int) -> _Simulator:
        if self._free:
            return self._free.pop()
        return self._hot.pop(next(iter(self._hot))) if len(self._hot) > batch else self._new()

    def _play_start(self, simulator: _Simulator, words: Any) -> Any:
        return self._start(simulator, *simulator.reset(int(words[0]) << 32 | int(words[1])))

    def _play_step(self, simulator: _Simulator, action: Any) -> Any:
        space = self._action_space
        action = np.asarray(action, space.dtype)[()] + getattr(space, "start", 0)
        obs, reward, terminated, truncated, info = simulator.step(action)
        own = {name: np.asarray(info.get(name, 0), first.dtype) for name, first in self._info.items()}
        return *self._start(simulator, obs, info), reward, terminated, {**own, "truncated": truncated}

    def _start(self, simulator: _Simulator, obs: Any, info: Any) -> Any:
        data = simulator.save()
        if len(data) > 4 * self._words:
            raise RuntimeError(f"the simulator's state has {len(data)} bytes. There is room for {4 * self._words}.")
        words = np.frombuffer(data.ljust(4 * self._words, b"\0"), np.uint32)
        mask = {"action_mask": np.asarray(info["action_mask"], bool)} if self._has_mask else {}
        return {"simulator": words, **mask}, _ours(self._obs_space, obs)


@functools.cache
def _threads() -> concurrent.futures.ThreadPoolExecutor:
    return concurrent.futures.ThreadPoolExecutor(os.cpu_count())


@functools.lru_cache(maxsize=64)
def _simulators(env: FromGymnasium) -> _Simulators:
    return _Simulators(_kind(_without_checks(env.library_env)), functools.partial(_bare, env), env.time_limit)


@functools.lru_cache(maxsize=8)
def _painter(env: FromGymnasium) -> tuple[_Simulator, float]:
    """Returns a simulator that renders, and the aspect ratio (width / height) of its images."""
    kind = _kind(_without_checks(env.library_env))
    if kind is _Mujoco:
        check_opengl(f"gymnasium/{env.name}")
        return kind(functools.partial(_bare, env), 0), 4 / 3
    mode = {} if getattr(env.library_env, "render_mode", None) == "rgb_array" else {"render_mode": "rgb_array"}
    try:
        simulator = kind(functools.partial(_bare, env, **mode), env.time_limit)
    except TypeError as error:
        raise NoPictureError(f"{env.name} must take render_mode, or set it to 'rgb_array': {error}.") from error
    simulator.reset(0)
    height, width, _ = simulator.picture((1, 1)).shape
    return simulator, width / height


def _bare(env: FromGymnasium, **options: Any) -> Any:
    """Makes a Gymnasium environment without the standard wrappers for time limits and checks."""
    return _without_checks(env._made(**options))


def _without_checks(made: Any) -> Any:
    while type(made).__name__ in _STANDARD_WRAPPERS:
        made = made.env
    return made


def _kind(env: Any) -> type[_Simulator]:
    """Returns the class that saves this simulator's state. Unknown simulators are replayed."""
    module = type(env).__module__
    return next((kind for package, kind in _KINDS.items() if module.startswith(package)), _Replay)


def _narrow(value: np.ndarray) -> np.ndarray:
    """Converts 64-bit numbers to 32 bits. Integers are limited to what 32 bits can hold."""
    dtype = np.dtype(trees.NARROW.get(value.dtype.name, value.dtype))
    if dtype != value.dtype and dtype.kind in "iu":
        value = value.clip(np.iinfo(dtype).min, np.iinfo(dtype).max)
    return value.astype(dtype, copy=False)


def _ours(space: Any, value: Any) -> Any:
    """Converts a value of a Gymnasium space to a value of the corresponding envcore space, as numpy arrays."""
    if type(space).__name__ == "Dict":
        return {name: _ours(part, value[name]) for name, part in space.spaces.items()}
    if type(space).__name__ == "Tuple":
        return tuple(_ours(part, each) for part, each in zip(space.spaces, value, strict=True))
    return _narrow(np.asarray(value, space.dtype) - getattr(space, "start", 0))
