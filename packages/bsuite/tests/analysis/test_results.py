from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest
from envcore.suggestions import how_to_install
from envcore_bsuite import sweep
from envcore_bsuite.analysis import load_results
from envcore_bsuite.errors import ResultsError

CATCH = "episode,total_regret\n1,2\n10,4\n"
BALANCE = "episode,raw_return,best_episode\n1,2.5,2.5\n"


def write(folder: Path, name: str, text: str) -> None:
    (folder / f"bsuite_id_-_{name}.csv").write_text(text)


def test_rows_in_the_order_of_the_sweep(tmp_path: Path) -> None:
    for name, text in [("catch_noise-2", CATCH), ("catch-10", CATCH), ("catch-2", CATCH), ("cartpole-0", BALANCE)]:
        write(tmp_path, name, text)
    (tmp_path / "notes.txt").write_text("not a log")
    results = load_results(str(tmp_path))
    ids = ["cartpole/0", "catch/2", "catch/2", "catch/10", "catch/10", "catch_noise/2", "catch_noise/2"]
    assert results["bsuite_id"].tolist() == ids
    assert results["bsuite_env"].tolist() == [each.split("/")[0] for each in ids]
    assert results["episode"].tolist() == [1, 1, 10, 1, 10, 1, 10]
    assert list(results.loc[0, ["raw_return", "best_episode"]]) == [2.5, 2.5]
    assert results["raw_return"].isna().tolist() == [False] + 6 * [True]


def test_settings_are_joined(tmp_path: Path) -> None:
    text = "episode,total_regret,noise_scale,bsuite_env\n1,2,7,x\n"  # those of a log are ignored
    write(tmp_path, "umbrella_length-3", text)
    write(tmp_path, "catch_noise-4", text)
    results = load_results(tmp_path).set_index("bsuite_id")
    assert list(results.loc["umbrella_length/3", ["chain_length", "n_distractor"]]) == [4, 20]
    assert list(results.loc["catch_noise/4", ["noise_scale", "bsuite_env"]]) == [0.3, "catch_noise"]
    names = {name for setting in sweep.SETTINGS.values() for name in setting}
    assert set(results) == {"bsuite_env", "episode", "total_regret", *names}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("catch-0", "", "catch-0.csv is not a readable CSV file"),
        ("catch-0", "a,b\n1,2,3,4\n1\n1,2,3,4,5\n", "catch-0.csv is not a readable CSV file"),
        ("catch-20", CATCH, "bsuite_id_-_catch-20.csv: no such id in bsuite's sweep"),
    ],
)
def test_bad_logs(name: str, text: str, message: str, tmp_path: Path) -> None:
    write(tmp_path, name, text)
    with pytest.raises(ResultsError, match=message):
        load_results(tmp_path)


def test_no_logs(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"holds no logs\. Their names are like bsuite_id_-_bandit-0\.csv"):
        load_results(tmp_path)
    with pytest.raises(ResultsError, match="absent is not a folder"):
        load_results(tmp_path / "absent")


def test_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("envcore_bsuite.analysis")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pandas", None)
    message = f"needs pandas: {how_to_install('envcore-bsuite[analysis]')}"
    with pytest.raises(ModuleNotFoundError, match=re.escape(message)):
        importlib.import_module("envcore_bsuite.analysis")
