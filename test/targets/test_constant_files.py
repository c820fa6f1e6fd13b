"""Files of constants: kopt's own are whole, a user's stand over them, and what is wrong with one is said."""

import json

import pytest

from kopt.errors import ConfigError
from kopt.targets import constant_files
from kopt.targets.chips import CHIPS, GPU_CHIPS, TPU_CHIPS
from kopt.targets.constant_files import read_constants
from kopt.targets.costs import GPU_COSTS, TPU_COSTS, constants_of, tpu_costs


@pytest.fixture
def users(tmp_path, monkeypatch):
    """Puts a user's file down, which then counts."""

    def write(entries):
        path = tmp_path / "ours.json"
        path.write_text(json.dumps(entries))
        monkeypatch.setenv("KOPT_CONSTANTS", str(path))
        constant_files.users.cache_clear()
        return str(path)

    yield write
    monkeypatch.undo()
    constant_files.users.cache_clear()


def test_every_chip_of_ours_has_constants_with_a_source():
    assert TPU_COSTS.keys() == {*TPU_CHIPS} and GPU_COSTS.keys() == {*GPU_CHIPS}
    assert all(constants_of(chip).source for chip in CHIPS.values())


def test_a_users_file_stands_over_ours(users):
    path = users({"v5e": {"source": "our machine", "fit": "40 kernels", "costs": {"hbm_share": 0.5}}})
    v5e, v6e = TPU_CHIPS["v5e"], TPU_CHIPS["v6e"]
    assert tpu_costs(v5e).hbm_share == 0.5 and tpu_costs(v5e).clock_hz == TPU_COSTS["v5e"].clock_hz
    assert constants_of(v5e).source == "our machine" and constants_of(v5e).file == path
    assert tpu_costs(v6e) == TPU_COSTS["v6e"] and constants_of(v6e).file is None


def test_constants_that_do_not_exist_are_named(users):
    users({"v5e": {"costs": {"mxu_speed": 1.0}}})
    with pytest.raises(ConfigError, match="'v5e' has no constant 'mxu_speed'"):
        tpu_costs(TPU_CHIPS["v5e"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "no constants can be read"),
        ("[]", "an object with an entry a chip"),
        ('{"v5e": {"cost": {}}}', "has source, fit, costs, errors, found cost"),
        ('{"v5e": {"costs": {"hbm_share": "most"}}}', "'hbm_share' of 'v5e' is a number"),
        ('{"v5e": {"costs": {"hbm_share": -1}}}', "not negative"),
    ],
)
def test_mistakes_are_said(text, said, tmp_path):
    path = tmp_path / "ours.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=said):
        read_constants(path, users=True)
