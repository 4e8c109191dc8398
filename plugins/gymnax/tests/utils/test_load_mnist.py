"""Images of a program's own in the place of MNIST's."""

import envcore_gymnax as gymnax
import jax
import numpy as np

# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false


def test_a_function_in_the_place_of_load_mnist(monkeypatch):
    images, labels = np.full((3, 28, 28), 255, np.uint8), np.array([7, 7, 7])
    module = gymnax.environments.bsuite.mnist
    assert module.load_mnist is gymnax.utils.load_mnist
    monkeypatch.setattr(module.load_mnist, "load_mnist", lambda: ((images, labels), (images, labels)))
    env, params = gymnax.make("MNISTBandit-bsuite")
    obs, state = env.reset(jax.random.key(0), params)
    assert (obs == 1).all()
    assert env.step(jax.random.key(0), state, 7, params)[2] == 1
    assert env == module.MNISTBandit()
