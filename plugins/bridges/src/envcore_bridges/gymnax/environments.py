"""Environments of gymnax, Craftax, POPGym Arcade and Kinetix: the task of each in one line, by their own names."""

from __future__ import annotations

_CONTROL = {
    "CartPole-v1": "Balance a pole on a cart.",
    "Pendulum-v1": "Swing a pendulum up and hold it, with limited torque.",
    "Acrobot-v1": "Swing the tip of a two-link pendulum above a line.",
    "MountainCar-v0": "Drive an underpowered car up a hill.",
    "MountainCarContinuous-v0": "Drive an underpowered car up a hill, with continuous force.",
}

_MINATAR = {
    "Asterix-MinAtar": "Collect gold and avoid enemies, which cross the screen.",
    "Breakout-MinAtar": "Bounce a ball against rows of bricks.",
    "Freeway-MinAtar": "Lead a chicken across a busy road.",
    "Seaquest-MinAtar": "Rescue divers in a submarine among enemies, and come up for air.",
    "SpaceInvaders-MinAtar": "Shoot aliens that march down and shoot back.",
}

_BSUITE = {
    "Catch-bsuite": "Catch a falling ball with a paddle.",
    "DeepSea-bsuite": "Find the one sequence of actions that leads to the treasure.",
    "MemoryChain-bsuite": "Remember the first observation until the last step.",
    "UmbrellaChain-bsuite": "Take an umbrella if it will rain at the end of a long chain.",
    "DiscountingChain-bsuite": "Choose at the start one of five rewards at different times.",
    "MNISTBandit-bsuite": "Name the digit in an image.",
    "SimpleBandit-bsuite": "Find the arm that pays most.",
}

_MISC = {
    "FourRooms-misc": "Walk to a goal in a house of four rooms where moves can fail.",
    "MetaMaze-misc": "Find the hidden goal of a maze, and return to it as often as possible.",
    "PointRobot-misc": "Move a point to a hidden goal on a half circle.",
    "BernoulliBandit-misc": "Find out which arm pays more often, in each episode from scratch.",
    "GaussianBandit-misc": "Find out whether a risky arm is better than a safe one.",
    "Reacher-misc": "Reach a goal with the tip of a jointed arm.",
    "Swimmer-misc": "Swim forward by bending a chain of links.",
    "Pong-misc": "Return a ball with a paddle.",
    "FrozenLake-misc": "Cross a slippery frozen lake without falling into a hole.",
}

CRAFTAX = {
    "Craftax-Symbolic-v1": "Gather, craft and fight down nine floors of a world; a vector of symbols.",
    "Craftax-Pixels-v1": "Gather, craft and fight down nine floors of a world; an image.",
    "Craftax-Classic-Symbolic-v1": "Survive, gather and craft as in Crafter; a vector of symbols.",
    "Craftax-Classic-Pixels-v1": "Survive, gather and craft as in Crafter; an image.",
}

_ARCADE = {
    "AutoEncode": "Watch a sequence of cards, and play it back in reverse.",
    "BattleShip": "Find and hit the ships that a board hides.",
    "Breakout": "Bounce a ball against rows of bricks.",
    "CartPole": "Balance a pole on a cart.",
    "CountRecall": "Tell how often a card has been shown.",
    "MineSweeper": "Uncover a board without touching a mine.",
    "Navigator": "Walk to the treasure without stepping on a mine.",
    "NoisyCartPole": "Balance a pole on a cart, drawn with noise.",
    "Skittles": "Dodge what falls from the top of the screen.",
    "Tetris": "Clear lines with falling pieces.",
}

_LEVELS_S = (
    *("h0_weak_thrust", "h1_thrust_over_ball", "h2_one_wheel_car", "h3_point_the_thruster", "h4_thrust_aim"),
    *("h5_rotate_fall", "h6_unicycle_right", "h7_unicycle_left", "h8_unicycle_balance", "h9_explode_then_thrust_over"),
)

_LEVELS_M = (
    *("arm_hard", "arm_left", "arm_right", "arm_up", "h0_unicycle", "h10_thrust_right_easy", "h11_thrust_left_easy"),
    *("h12_thrustfall_left", "h13_thrustfall_right", "h14_thrustblock", "h15_thrustshoot", "h16_thrustcontrol_right"),
    *("h17_thrustcontrol_left", "h18_thrust_right_very_easy", "h19_thrust_left_very_easy", "h1_car_left"),
    *("h2_car_right", "h3_car_thrust", "h4_thrust_the_needle", "h5_angry_birds", "h6_thrust_over", "h7_car_flip"),
    *("h8_weird_vehicle", "h9_spin_the_right_way"),
)

_LEVELS_L = (
    *("car_launch", "car_swing_around", "chain_lander", "chain_thrust", "gears", "grasp_easy", "grasp_hard"),
    *("h0_angrybirds", "h10_morph_direction_2", "h11_obstacle_avoidance", "h12_platformer_1", "h13_platformer_2"),
    *("h14_simple_thruster", "h15_swing_up", "h16_thruster_goal", "h17_unicycle", "h1_car_left", "h2_car_ramp"),
    *("h3_car_right", "h4_cartpole", "h5_flappy_bird", "h6_lorry", "h7_maze_1", "h8_maze_2", "h9_morph_direction"),
    *("hard_beam_balance", "hard_cartpole_thrust", "hard_cartpole_wheels", "hard_lunar_lander", "hard_pinball"),
    *("lever_puzzle", "mjc_half_cheetah", "mjc_half_cheetah_easy", "mjc_hopper", "mjc_hopper_easy", "mjc_swimmer"),
    *("mjc_walker", "mjc_walker_easy", "pr", "rail"),
)

_SIZES = {"s": (_LEVELS_S, "small"), "m": (_LEVELS_M, "medium"), "l": (_LEVELS_L, "large")}

_GOAL = "make the green shape touch the blue one, not the red one"

GYMNAX = _CONTROL | _MINATAR | _BSUITE | _MISC

POPGYM_ARCADE = {
    f"{name}{level}": f"{summary[:-1]}; {level.lower()}."
    for name, summary in _ARCADE.items()
    for level in ("Easy", "Medium", "Hard")
}

KINETIX = {
    **{f"random-{size}": f"In a random {word} level, {_GOAL}." for size, (_, word) in _SIZES.items()},
    **{
        f"{size}/{level}": f"In the {word} level {level}, {_GOAL}."
        for size, (levels, word) in _SIZES.items()
        for level in levels
    },
}
