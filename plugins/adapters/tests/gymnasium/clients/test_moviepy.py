"""Gymnasium's `RecordVideo`, which needs MoviePy, on one environment and on a batch."""

# Types are checked where MoviePy is not installed.
# pyright: basic, reportMissingImports=false

import envcore_adapters.gymnasium  # noqa: F401  # registers the ids
import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import RecordVideo
from gymnasium.wrappers.vector import RecordVideo as VectorRecordVideo
from moviepy import VideoFileClip

pytestmark = pytest.mark.client


def test_a_video_of_an_episode(tmp_path):
    env = gymnasium.make("envcore/Catch-bsuite", render_mode="rgb_array", render_height=64)
    env = RecordVideo(env, str(tmp_path / "videos"), episode_trigger=lambda episode: episode == 0)
    env.reset(seed=0)
    pictures = [env.render()] + [env.step(1) and env.render() for _ in range(9)]
    env.close()
    frames = frames_of(tmp_path / "videos")
    assert len(frames) >= 9  # the reader may leave the last one out
    difference = np.abs(np.array(frames[:9], int) - np.array(pictures[:9], int)).mean()
    assert difference < 8  # of 255, for videos are compressed


def test_a_video_of_a_batch(tmp_path):
    envs = gymnasium.make_vec("envcore/Freeway-MinAtar", num_envs=2, render_mode="rgb_array")
    envs = VectorRecordVideo(envs, str(tmp_path / "videos"), video_length=10)
    envs.reset(seed=0)
    for _ in range(12):
        envs.step(np.zeros(2, int))
    envs.close()
    assert len(frames_of(tmp_path / "videos")) >= 9


def frames_of(folder):
    # MoviePy leaves FFmpeg's pipes open where FFmpeg has ended before the clip is closed.
    with VideoFileClip(str(min(folder.glob("*.mp4")))) as clip, clip.reader.proc:
        return list(clip.iter_frames())
