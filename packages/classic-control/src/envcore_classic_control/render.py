"""Pictures of the classic control environments."""


def draw_cartpole(state, params): raise NotImplementedError
draw_pendulum = draw_acrobot = draw_mountain_car = draw_cartpole
