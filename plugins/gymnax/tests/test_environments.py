"""gymnax's interface and settings, on every environment of gymnax's and on users' own."""

import copy
import pickle

import envcore
import envcore_gymnax as gymnax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError, UnknownEnvironmentError
from envcore_gymnax.environments import environment, spaces
from envcore_gymnax.settings import IDS, six_values
from flax import struct

# pyright: reportAttributeAccessIssue=false, reportPossiblyUnboundVariable=false, reportArgumentType=false
# pyright: reportPrivateImportUsage=false

PLAYABLE = [env_id for env_id in IDS if "MNIST" not in env_id]
SHAPES = {
    "CartPole-v1": (4,),
    "Breakout-MinAtar": (10, 10, 4),
    "Catch-bsuite": (10, 5),
    "MemoryChain-bsuite": (3,),
    "UmbrellaChain-bsuite": (3,),
    "DiscountingChain-bsuite": (2,),
    "SimpleBandit-bsuite": (1, 1),
    "Pong-misc": (30, 40, 3),
    "FrozenLake-misc": (),
}
LIMITS = {
    "CartPole-v1": 500,
    "Breakout-MinAtar": 1000,
    "DeepSea-bsuite": 2000,
    "Freeway-MinAtar": 2500,
    "UmbrellaChain-bsuite": 100,
    "Catch-bsuite": 1000,
    "FrozenLake-misc": 100,
}


@pytest.mark.parametrize("env_id", PLAYABLE)
def test_five_values_as_gymnax_returns_them(env_id):
    env, params = gymnax.make(env_id)
    key = jax.random.key(0)
    obs, state = env.reset(key, params)
    assert obs.shape == env.obs_shape == env.observation_space(params).shape
    assert obs.dtype == (jnp.int32 if env_id.startswith("FrozenLake") else jnp.float32)
    action = env.action_space(params).sample(key)
    result = env.step(key, state, action, params)
    assert len(result) == 5
    assert jax.tree.map(jnp.shape, result[2:4]) == ((), ())
    assert result[4]["discount"].dtype == jnp.float32
    assert not {"final_obs", "terminated", "truncated"} & set(result[4])
    without = env.step(key, state, action)
    assert jax.tree.all(jax.tree.map(np.array_equal, result, without))
    assert isinstance(env.num_actions, int)
    assert env.name == env_id


@pytest.mark.parametrize(("env_id", "shape"), SHAPES.items())
def test_shapes(env_id, shape):
    assert gymnax.make(env_id)[0].obs_shape == shape


def test_image_of_four_rooms():
    env, params = gymnax.make("FourRooms-misc", use_visual_obs=True)
    obs, _ = env.reset(jax.random.key(0), params)
    walls, agent = np.moveaxis(obs, -1, 0)
    assert obs.shape == env.observation_space(params).shape == (13, 13, 2)
    assert env.observation_space(params).contains(obs)
    assert (walls.sum(), walls[4, 1], agent.sum(), agent[1, 4]) == (65, 0, 1, 1)  # it starts in row 4, column 1


@pytest.mark.parametrize(("env_id", "limit"), LIMITS.items())
def test_time_limits(env_id, limit):
    assert gymnax.make(env_id)[1].max_steps_in_episode == limit


def test_sticky_actions_are_off():
    assert gymnax.make("Breakout-MinAtar")[1].sticky_action_prob == 0


@pytest.mark.parametrize("env_id", ["CartPole-v1", "Catch-bsuite", "Seaquest-MinAtar"])
def test_rules_are_those_of_envcore(env_id):
    (env, params), (ours, _) = gymnax.make(env_id), envcore.make(env_id)
    key = jax.random.key(3)
    obs, state = env.reset(key, params)
    for seed in range(20):
        key = jax.random.key(seed)
        action = env.action_space(params).sample(key)
        expected = ours.step(key, state.env_state, action, params)
        obs, state, reward, done, _ = env.step(key, state, action, params)
        np.testing.assert_array_equal(obs, expected[0].astype(np.float32))
        assert (reward, done) == (expected[2], expected[3])
        assert jax.tree.all(jax.tree.map(np.array_equal, state.env_state, expected[1]))


def test_fields_of_a_state():
    env, params = gymnax.make("CartPole-v1")
    _, state = env.reset(jax.random.key(0), params)
    state = state.replace(theta=jnp.float32(0.3), time=jnp.int32(7))
    assert (state.theta, state.time) == (np.float32(0.3), 7)
    np.testing.assert_array_equal(env.get_obs(state)[2], np.float32(0.3))
    assert env.step(jax.random.key(0), state, 0, params)[3]


def test_ends():
    env, params = gymnax.make("CartPole-v1")
    params = params.replace(max_steps_in_episode=3)
    _, state = env.reset(jax.random.key(0), params)
    assert env.discount(state, params) == 1
    for count in range(1, 4):
        _, state, _, done, info = env.step_env(jax.random.key(0), state, count % 2, params)
        assert done == env.is_terminal(state, params) == (count == 3)
    assert info["discount"] == env.discount(state, params) == 0
    fallen = state.replace(theta=jnp.float32(0.3), time=jnp.int32(0))
    _, after, _, done, info = env.step_env(jax.random.key(0), fallen, 0, params)
    assert (done, env.is_terminal(after, params), info["discount"]) == (True, True, 0)


@pytest.mark.parametrize("action", [0.5, np.float32(0.5), jnp.float32(0.5), jnp.array([0.5])])
def test_an_action_of_one_number(action):
    env, params = gymnax.make("Pendulum-v1")
    _, state = env.reset(jax.random.key(0), params)
    expected = env.step(jax.random.key(1), state, jnp.array([0.5]), params)[0]
    np.testing.assert_array_equal(env.step(jax.random.key(1), state, action, params)[0], expected)


def test_six_values():
    env, params = gymnax.make("CartPole-v1")
    params = params.replace(max_steps_in_episode=1)
    _, state = env.reset(jax.random.key(0), params)
    with six_values():
        obs, _, reward, terminated, truncated, info = env.step(jax.random.key(0), state, 0, params)
    assert (reward, terminated, truncated) == (1, False, True)
    assert not np.array_equal(obs, info["final_observation"])
    assert (info["terminated"], info["truncated"]) == (False, True)
    assert len(env.step(jax.random.key(0), state, 0, params)) == 5


def test_equal_environments_share_a_compilation():
    one, two = gymnax.make("DeepSea-bsuite", size=5)[0], gymnax.make("DeepSea-bsuite", size=5)[0]
    assert one == two == copy.deepcopy(one) == pickle.loads(pickle.dumps(one))
    assert hash(one) == hash(two)
    assert one != gymnax.make("DeepSea-bsuite", size=6)[0]


def test_classes():
    assert gymnax.environments.CartPole() == gymnax.make("CartPole-v1")[0]
    assert gymnax.environments.bsuite.DeepSea(size=5).obs_shape == (5, 5)
    assert issubclass(gymnax.environments.MinBreakout, environment.Environment)
    assert isinstance(gymnax.make("Pendulum-v1")[0].action_space(), spaces.Box)


def test_transition_gradients():
    env, params = gymnax.make("Pendulum-v1")
    env = env.with_transition_gradients()
    _, state = env.reset(jax.random.key(0), params)
    gradient = jax.grad(lambda action: env.step(jax.random.key(0), state, action, params)[2])(0.5)
    assert gradient != 0
    with pytest.raises(ValueError, match="Breakout-MinAtar does not support"):
        gymnax.make("Breakout-MinAtar")[0].with_transition_gradients()


@struct.dataclass
class CountState(environment.EnvState):
    count: jax.Array


@struct.dataclass
class CountParams(environment.EnvParams):
    max_steps_in_episode: int = 4


class Count(environment.Environment[CountState, CountParams]):
    """A user's environment, written for gymnax."""

    @property
    def default_params(self):
        return CountParams()

    def step_env(self, key, state, action, params):
        state = CountState(state.time + 1, state.count + jnp.asarray(action, jnp.float32))
        done = self.is_terminal(state, params)
        return self.get_obs(state), state, state.count, done, {"discount": self.discount(state, params)}

    def reset_env(self, key, params):
        state = CountState(jnp.int32(0), jnp.float32(0))
        return self.get_obs(state), state

    def get_obs(self, state, params=None, key=None):
        return jnp.stack([state.count, state.time.astype(jnp.float32)])

    def is_terminal(self, state, params):
        return (state.count >= 3) | (state.time >= params.max_steps_in_episode)

    @property
    def num_actions(self):
        return 2

    def action_space(self, params=None):
        return spaces.Discrete(2)

    def observation_space(self, params=None):
        return spaces.Box(0, 9, (2,))


def test_users_environments():
    gymnax.register("Count-v0", Count)
    gymnax.register("Count-v0", Count)
    assert gymnax.registered_envs[-1] == "Count-v0"
    env, params = gymnax.make("Count-v0")
    _, state = jax.vmap(env.reset, (0, None))(jax.random.split(jax.random.key(0), 2), params)
    dones = []
    for _ in range(4):
        keys = jax.random.split(jax.random.key(1), 2)
        obs, state, _, done, info = jax.vmap(env.step, (0, 0, 0, None))(keys, state, jnp.array([1, 0]), params)
        dones.append(done.tolist())
    assert dones == [[False, False], [False, False], [True, False], [False, True]]
    assert obs.tolist() == [[1, 1], [0, 0]]
    assert info["discount"].tolist() == [1, 0]


def test_errors():
    with pytest.raises(UnknownEnvironmentError, match="CartPole-v1"):
        gymnax.make("CartPole-v7")
    with pytest.raises(InvalidArgumentError, match="unexpected keyword argument 'sizes'"):
        gymnax.make("DeepSea-bsuite", sizes=3)
    with pytest.raises(InvalidArgumentError, match="'CartPole-v1' is taken"):
        gymnax.register("CartPole-v1", Count)
    with pytest.raises(InvalidArgumentError, match="needs a class or function"):
        gymnax.register("Count-v1", 3)


FIELDS = {
    "CartPole-v1": (
        "x x_dot theta theta_dot",
        "gravity masscart masspole total_mass length polemass_length force_mag tau",
    ),
    "Pendulum-v1": ("theta theta_dot last_u", "max_speed max_torque dt g m l"),
    "Acrobot-v1": ("joint_angle1 joint_angle2 velocity_1 velocity_2", "available_torque dt link_moi"),
    "MountainCar-v0": ("position velocity", "goal_position goal_velocity force gravity"),
    "MountainCarContinuous-v0": ("position velocity", "power min_action max_action"),
    "Asterix-MinAtar": (
        "player_x player_y spawn_speed spawn_timer move_speed move_timer ramp_timer ramp_index entities terminal",
        "",
    ),
    "Breakout-MinAtar": ("ball_y ball_x ball_dir pos brick_map strike last_y last_x terminal", ""),
    "Freeway-MinAtar": ("pos cars move_timer terminal", ""),
    "SpaceInvaders-MinAtar": (
        "pos shot_timer f_bullet_map e_bullet_map alien_map alien_dir alien_move_timer alien_shot_timer terminal",
        "",
    ),
    "Catch-bsuite": ("ball_x ball_y paddle_x paddle_y prev_done", ""),
    "DeepSea-bsuite": ("row column bad_episode total_bad_episodes denoised_return", "unscaled_move_cost"),
    "MemoryChain-bsuite": ("context query total_perfect total_regret", "memory_length"),
    "UmbrellaChain-bsuite": ("need_umbrella has_umbrella total_regret", "chain_length"),
    "DiscountingChain-bsuite": ("context", "reward_timestep"),
    "SimpleBandit-bsuite": ("total_regret", ""),
    "FourRooms-misc": ("pos goal", "fail_prob resample_init_pos resample_goal_pos"),
    "MetaMaze-misc": ("last_action last_reward pos goal", "reward punishment normalize_time"),
    "PointRobot-misc": ("last_action last_reward pos goal goals_reached", "max_force dense_reward"),
    "BernoulliBandit-misc": ("last_action exp_reward_best reward_probs", "reward_prob min_lim max_lim"),
    "GaussianBandit-misc": ("last_action last_reward mu", "mean_mu sigma_p sigma_l"),
    "Reacher-misc": ("angles angle_vels goal_xy", "torque_scale dt"),
    "Swimmer-misc": ("urchin_xys xy xy_vel goal_xy", "dt"),
    "Pong-misc": ("paddle_centers ball_position ball_velocity terminal", "ball_max_y_speed use_ai_policy"),
    "FrozenLake-misc": ("position", ""),
}


@pytest.mark.parametrize("env_id", FIELDS)
def test_every_field_of_gymnaxs_table(env_id):
    """Those of gymnax 1.0.1's states and params, but for what README says is not there, by name in `replace` too."""
    of_state, of_params = FIELDS[env_id]
    env, params = gymnax.make(env_id)
    _, state = env.reset(jax.random.key(0), params)
    same = state.replace(**{name: getattr(state, name) for name in ("time", *of_state.split())})
    assert jax.tree.all(jax.tree.map(np.array_equal, same, state))
    for name in of_params.split():
        assert hasattr(params, name)


def test_replaced_fields_are_read_again():
    _, state = gymnax.make("Breakout-MinAtar")[0].reset(jax.random.key(0))
    state = state.replace(pos=jnp.int32(7), brick_map=jnp.zeros((10, 10), bool).at[2, 3].set(True))
    assert (state.pos, np.argwhere(state.brick_map).tolist()) == (7, [[2, 3]])
    _, state = gymnax.make("DeepSea-bsuite")[0].reset(jax.random.key(0))
    assert state.replace(row=jnp.int32(3)).row == 3
    _, state = gymnax.make("Pong-misc")[0].reset(jax.random.key(0))
    assert state.replace(terminal=jnp.array(True)).terminal
    with pytest.raises(AttributeError, match="nonsense"):
        _ = state.nonsense


def test_a_state_of_a_modules_own_type():
    module = gymnax.environments.classic_control.pendulum
    env = module.Pendulum()
    state = module.EnvState(time=jnp.int32(0), theta=jnp.float32(0.1), theta_dot=jnp.float32(0), last_u=jnp.float32(0))
    params = module.EnvParams(g=jnp.float32(5))
    obs, after, *_ = env.step(jax.random.key(0), state, 0.0, params)
    np.testing.assert_array_equal(env.get_obs(state, params)[0], np.cos(np.float32(0.1)))
    assert (after.time, after.terminated) == (1, False)
    np.testing.assert_array_equal(obs, env.get_obs(after, params))
    assert not env.is_terminal(state, params)
    with pytest.raises(AttributeError, match=r"pendulum' has no attribute 'Swing'"):
        _ = module.Swing
