# The trunk that a training begins with, and the procedural artifacts that it learns from (tools/trunk).
from multiprocessing import active_children
from pathlib import Path

import numpy as np
import pytest
import torch
from plosive_worker.features import spec
from plosive_worker.features.file import FrameFile
from plosive_worker.training.data import LabelledFile, Part
from plosive_worker.training.loop import Settings, Trainer
from plosive_worker.training.trunk import OUTPUTS, TRUNK, blend_with_trunk, load_trunk, save_trunk, steps_at_rest
from safetensors import safe_open
from trunk import pretraining
from trunk.effects import ANY, CLASSES, FAMILIES
from trunk.processes import PROCESSES
from trunk.scenes import make
from trunk.sounds import SOUNDS

SETTINGS = Settings(epochs=1, batch_size=4, learning_rate=1e-3, chunk_frames=50, stride_frames=25, seed=4)
RATE = 16_000


def trainer(dims: int = spec.DIMS, **options: bool) -> Trainer:
    frames = np.random.default_rng(0).normal(3, 2, (400, dims)).astype(np.float16)
    file = LabelledFile("file", FrameFile(frames, np.zeros((3, dims), np.float32)), ((0, 1000, 1200), (1, 2500, 2600)), True)
    return Trainer([file], [Part(0, 0, 400)], 2, SETTINGS, **options)


def test_the_trunk_was_made_for_these_features_and_is_small() -> None:
    with safe_open(TRUNK, "pt") as file:
        assert file.metadata()["features"] == spec.own_spec().base, "the features have changed: `make trunk`"
    assert TRUNK.stat().st_size < 400_000


def test_the_number_of_processes_does_not_change_the_trunk_and_none_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretraining, "ROUND", 2)
    settings, lines = pretraining.settings_of(4, 1e-3, 0), []

    def trained(processes: int, steps: int = 5) -> dict[str, torch.Tensor]:  # the last round has one step
        head = pretraining.pretrain(trainer().files, 2, settings, steps, processes, lines.append)
        assert active_children() == []
        return head.state_dict()

    one, two, shorter = trained(1), trained(2), trained(1, steps=4)
    assert all(torch.equal(two[name], value) for name, value in one.items())
    assert not torch.equal(shorter["enter.weight"], one["enter.weight"])
    assert [line.split(":")[0] for line in lines[:2]] == ["step 2 of 5", "step 4 of 5"]


def test_training_begins_with_the_layers_of_the_trunk_but_with_types_of_its_own() -> None:
    state, trunk = trainer().head.state_dict(), load_trunk()
    assert set(state) - set(trunk) == set(OUTPUTS)
    assert all(torch.equal(state[name], value) for name, value in trunk.items())
    fresh = trainer(from_trunk=False).head.state_dict()
    assert not torch.equal(fresh["enter.weight"], trunk["enter.weight"])


def test_the_columns_of_an_encoder_keep_their_own_scale() -> None:
    head, trunk = trainer(spec.DIMS + 3).head, load_trunk()
    assert torch.equal(head.mean[: spec.DIMS], trunk["mean"])
    assert head.mean[spec.DIMS :] == pytest.approx(3, abs=0.5)
    assert torch.equal(head.enter.weight, trunk["enter.weight"])
    frames = torch.randn(1, 200, spec.DIMS + 3)
    with torch.no_grad():
        assert torch.equal(head.eval().body(frames), head.body(torch.cat([frames[..., : spec.DIMS], 9 * frames[..., -3:]], -1)))


@pytest.mark.parametrize(("total", "rests", "kept"), [(100, 40, 0.5), (2000, 800, 0.5), (8000, 800, 0.25)])
def test_a_long_training_moves_further_away_from_the_trunk(total: int, rests: int, kept: float) -> None:
    assert steps_at_rest(total) == rests
    head, trunk = trainer().head, load_trunk()
    weight = head.enter.weight
    weight.data += 1
    blend_with_trunk(head, trunk, total)
    assert torch.allclose(weight - trunk["enter.weight"], torch.tensor(1 - kept), atol=1e-5)


def test_the_trunk_rests_first_and_learns_then() -> None:
    one = trainer()
    for _ in range(steps_at_rest(one.total_steps)):
        one.train_step()
    assert torch.equal(one.head.enter.weight, one.trunk["enter.weight"])
    one.train_step()
    assert not torch.equal(one.head.enter.weight, one.trunk["enter.weight"])


def test_a_checkpoint_of_another_trunk_is_refused() -> None:
    with_trunk, without = trainer(), trainer(from_trunk=False)
    with_trunk.train_step()
    assert trainer().restore(with_trunk.state_bytes())
    assert not without.restore(with_trunk.state_bytes())


def test_a_saved_trunk_is_read_again(tmp_path: Path) -> None:
    head = trainer(from_trunk=False).head
    save_trunk(head, tmp_path / "trunk.safetensors")
    found = load_trunk(tmp_path / "trunk.safetensors")
    assert torch.allclose(found["blocks.0.up.weight"], head.blocks[0].up.weight, atol=1e-3)


@pytest.mark.parametrize("family", PROCESSES)
def test_every_process_keeps_the_length_and_stays_finite(family: str) -> None:
    choices, low, high = PROCESSES[family]
    for process in dict.fromkeys(choices):
        for seed in range(4):
            rng = np.random.default_rng(seed)
            past, stretch = 0.1 * rng.standard_normal(RATE), 0.1 * rng.standard_normal(int(rng.choice([low, high]) * RATE))
            out = process(stretch.copy(), past, RATE, rng)
            assert len(out) == len(stretch) and np.isfinite(out).all(), process.__name__


@pytest.mark.parametrize("family", SOUNDS)
def test_every_sound_is_finite_and_not_silent(family: str) -> None:
    for sound in SOUNDS[family]:
        for seed in range(4):
            out = sound(np.random.default_rng(seed), RATE)
            assert np.isfinite(out).all() and np.abs(out).max() > 0, sound.__name__


def test_a_seed_gives_the_same_take_and_labels_lie_inside_it() -> None:
    t = np.arange(4 * RATE) / RATE
    prompts = [0.2 * np.sin(2 * np.pi * hz * t) * (1 + np.sin(2 * np.pi * 3 * t)) for hz in (140, 210)]
    labels = []
    for seed in range(6):
        one, same = (make(prompts, np.random.default_rng(seed), 10.0) for _ in range(2))
        assert np.array_equal(one.samples, same.samples) and one.events == same.events
        assert all(0 <= start < end <= 10_001 for _, start, end in one.events)
        labels += one.events
    kinds = [kind for kind, _, _ in labels]
    assert kinds.count(ANY) == sum(kind < len(FAMILIES) for kind in kinds) > 10
    assert len(kinds) >= 3 * kinds.count(ANY) and max(kinds) < len(CLASSES)
