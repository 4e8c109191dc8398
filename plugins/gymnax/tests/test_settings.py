"""What gymnax sets differently: shapes, time limits, and the fields of states and params."""

import envcore_gymnax as gymnax
import jax
import jax.numpy as jnp
import numpy as np
import pytest

# pyright: reportAttributeAccessIssue=false, reportPossiblyUnboundVariable=false

SHAPES = {
    "CartPole-v1": (4,),
    "Breakout-MinAtar": (10, 10, 4),
    "Catch-bsuite": (10, 5),
    "MemoryChain-bsuite": (3,),
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


def test_fields_of_a_state():
    env, params = gymnax.make("CartPole-v1")
    _, state = env.reset(jax.random.key(0), params)
    state = state.replace(theta=jnp.float32(0.3), time=jnp.int32(7))
    assert (state.theta, state.time) == (np.float32(0.3), 7)
    np.testing.assert_array_equal(env.get_obs(state)[2], np.float32(0.3))
    assert env.step(jax.random.key(0), state, 0, params)[3]


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
        "player_x player_y spawn_speed spawn_timer move_speed move_timer ramp_timer ramp_index entities",
        "",
    ),
    "Breakout-MinAtar": ("ball_y ball_x ball_dir pos brick_map strike last_y last_x", ""),
    "Freeway-MinAtar": ("pos cars move_timer", ""),
    "SpaceInvaders-MinAtar": (
        "pos shot_timer f_bullet_map e_bullet_map alien_map alien_dir alien_move_timer alien_shot_timer",
        "",
    ),
    "Catch-bsuite": ("ball_x ball_y paddle_x paddle_y", ""),
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
    "Pong-misc": ("paddle_centers ball_position ball_velocity", "ball_max_y_speed use_ai_policy"),
    "FrozenLake-misc": ("position", ""),
}


@pytest.mark.parametrize("env_id", FIELDS)
def test_every_field_of_gymnaxs_table(env_id):
    """Those of gymnax 1.0.1's states and params can be read, but for what README names."""
    of_state, of_params = FIELDS[env_id]
    env, params = gymnax.make(env_id)
    _, state = env.reset(jax.random.key(0), params)
    for name in ("time", *of_state.split()):
        assert hasattr(state, name), name
    for name in of_params.split():
        assert hasattr(params, name), name


def test_replaced_fields_are_read_again():
    _, state = gymnax.make("Breakout-MinAtar")[0].reset(jax.random.key(0))
    assert state.replace(pos=jnp.int32(7)).pos == 7
    assert state.replace(terminated=jnp.array(True), pos=jnp.int32(7)).terminated
    with pytest.raises(AttributeError, match="nonsense"):
        _ = state.nonsense


def test_the_key_of_deep_seas_actions():
    def mapping(**options):
        return gymnax.make("DeepSea-bsuite", size=20, **options)[1].action_mapping

    one = mapping(action_mapping_key=jax.random.key(1))
    assert 0.4 < one.mean() < 0.6
    np.testing.assert_array_equal(one, mapping(action_mapping_key=jax.random.key(1)))
    assert not np.array_equal(one, mapping(action_mapping_key=jax.random.key(2)))
    np.testing.assert_array_equal(mapping(action_mapping_key=None), mapping())
