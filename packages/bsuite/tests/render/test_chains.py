"""Pictures of chains."""

from __future__ import annotations

import numpy as np
import pytest
from bsuite_pictures import RAIN, pictures_of, render_states, states_of
from envcore import painting
from envcore_bsuite.discounting_chain import DiscountingChain
from envcore_bsuite.memory_chain import MemoryChain
from envcore_bsuite.umbrella_chain import UmbrellaChain
from picture_checks import middle, near


def test_chains_are_logarithmic_and_the_walker_meets_the_coin_when_it_pays() -> None:
    env = DiscountingChain(mapping_seed=3)
    steps, chains, places = np.array([1, 3, 10, 30, 100]), np.arange(5), []
    after, earlier = (pictures_of(env, states_of(env, time=time, context=chains), 128) for time in (steps, steps - 1))
    for at_coin, before in zip(after, earlier, strict=True):
        assert near(at_coin, painting.STONE).sum() > near(before, painting.STONE).sum() + 20  # paid
        places.append(middle(at_coin, painting.ORANGE) * 5.9)
    coin = middle(after[0], painting.GREEN) * 5.9
    np.testing.assert_allclose(coin, places[3], atol=0.05)
    x, y = np.array(places).T
    np.testing.assert_allclose(y, [2.4, 1.4, 0.4, -0.6, -1.6], atol=0.05)
    np.testing.assert_allclose((x - x[0]) / (x[-1] - x[0]), np.log10(steps) / 2, atol=0.02)


@pytest.mark.parametrize("num_bits", [1, 5, 40])
def test_lamps_are_arranged_line_by_line_and_the_ring_is_around_the_query(num_bits: int) -> None:
    env = MemoryChain(num_bits=num_bits)
    one_lit = states_of(env, context=np.eye(num_bits), query=range(num_bits), time=[5] * num_bits)
    pictures = pictures_of(env, one_lit, 128)
    lamps = np.array([middle(picture, painting.YELLOW, 30) for picture in pictures])
    rings = np.array([middle(picture, painting.BLUE, 30) for picture in pictures])
    np.testing.assert_allclose(lamps, rings, atol=0.01)
    order = np.lexsort((lamps[:, 0], -np.round(lamps[:, 1], 1)))
    np.testing.assert_array_equal(order, np.arange(num_bits))
    dark, lit = (near(pictures, color, 30)[:, :90].sum((1, 2)) for color in (painting.INK, painting.YELLOW))
    np.testing.assert_allclose(dark, (num_bits - 1) * lit, rtol=0.15)


def test_rain_or_sun_and_the_umbrella() -> None:
    env = UmbrellaChain()
    states = states_of(env, time=[2, 2, 2, 0], need_umbrella=[1, 0, 0, 0], has_umbrella=[0, 0, 1, 1])
    rain, sun, taken, before = pictures_of(env, states, 64)
    assert near(rain, RAIN, 30).sum() > 20 > near(sun, RAIN, 30).sum() == 0
    assert near(sun, painting.YELLOW, 30).sum() > 50 > near(rain, painting.YELLOW, 30).sum() == 0
    assert near(taken, painting.BLUE, 20).sum() > 100
    assert near(before, painting.STONE, 20).sum() > near(taken, painting.STONE, 20).sum() + 100
    for picture in (before, sun, rain):
        assert not near(picture, painting.BLUE, 20).any()


@pytest.mark.parametrize("chain_length", [1, 10, 100])
def test_the_person_walks_to_the_end_of_the_path(chain_length: int) -> None:
    env = UmbrellaChain(chain_length=chain_length)
    times = np.array([0, chain_length // 2, chain_length, chain_length + 1])
    states = states_of(env, time=times, has_umbrella=[0] * 4)
    pictures = render_states(UmbrellaChain(), states, env.default_params, 64)
    places = [4 * middle(picture, painting.ORANGE)[0] for picture in pictures]
    np.testing.assert_allclose(places, 4.3 * (np.minimum(times / chain_length, 1) - 0.5), atol=0.05)
