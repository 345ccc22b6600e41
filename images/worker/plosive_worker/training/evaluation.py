# Evaluates the model on the validation part: loss and event-F1 after each epoch, then profiles (threshold, calibration,
# edge shift) and the metrics of the finished model. Called by train.py.
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from ..events.boxes import Box, Find, FindStream, box_of
from ..events.budget import expected_alarms, threshold_within
from ..events.calibration import best_threshold, confidence, fit_confidence
from ..events.profile import Profile, profile_of
from ..events.scoring import match
from ..features.spec import HOP_MS
from ..model.head import CONTEXT_FRAMES, Head
from .data import LabelledFile, Part, events_of, targets
from .loss import StretchLoss, Targets
from .metrics import Candidates, confusion, counts_at, macro_f1, overall, per_type
from .split import Split

if TYPE_CHECKING:
    from .loop import Trainer

BLOCK_FRAMES = 3000


@torch.no_grad()
def block_logits(head: Head, frames: np.ndarray) -> torch.Tensor:
    return head(torch.from_numpy(frames)[None].to(head.mean.device))[0].cpu()


def part_logits(head: Head, file: LabelledFile, part: Part, heartbeat: Callable[[], None]) -> Iterator[torch.Tensor]:
    """Computes the logits of a part with full context, block by block, (n, 3, K): those of all its hours would take
    gigabytes."""
    for first in range(part.first, part.last, BLOCK_FRAMES):
        last = min(part.last, first + BLOCK_FRAMES)
        low, high = max(part.first, first - CONTEXT_FRAMES), min(part.last, last + CONTEXT_FRAMES)
        yield block_logits(head, file.frames.normal(low, high))[first - low : last - low]
        heartbeat()


def collect_candidates(
    finds: list[list[list[Find]]], files: list[LabelledFile], parts: list[Part], profiles: list[Profile]
) -> list[Candidates]:
    """Returns candidates and labelled events per class, times relative to the file. `finds` has one list per part and
    class."""
    candidates = [Candidates([], []) for _ in profiles]
    for part, of_part in zip(parts, finds):
        base, events = part.first * HOP_MS, events_of(files[part.file], part)
        for kind, (profile, of_class) in enumerate(zip(profiles, of_part)):
            boxes = [box_of(find, profile) for find in of_class]
            truth = [(float(start), float(end)) for k, start, end in events if k == kind]
            candidates[kind].boxes.append([Box(b.start_ms + base, b.end_ms + base, b.score) for b in boxes])
            candidates[kind].truth.append(truth)
    return candidates


def fit_profile(candidates: Candidates, profile: Profile, hours: float) -> Profile:
    """Fits edge shift, calibration, threshold and expected false alarms to the boxes of `hours` of validation."""
    scores, right, starts, ends = [], [], [], []
    for truth, boxes in zip(candidates.truth, candidates.boxes):
        found = [(b.start_ms, b.end_ms) for b in boxes]
        for box, hit in zip(boxes, match(truth, found, profile.impulsive)):
            scores.append(box.score)
            right.append(hit is not None)
            if hit is not None and box.score > 0.3:
                starts.append(truth[hit][0] - box.start_ms)
                ends.append(truth[hit][1] - box.end_ms)
    events = sum(map(len, candidates.truth))
    slope, offset = fit_confidence(np.array(scores), np.array(right, float))
    confident = confidence(np.array(scores), slope, offset) if scores else np.zeros(0)
    shrink = len(starts) / (len(starts) + 5)
    return replace(
        profile,
        slope=slope,
        offset=offset,
        threshold=best_threshold(confident, np.array(right, bool), events),
        alarms=expected_alarms(confident, hours),
        start_shift_ms=float(np.median(starts)) * shrink if starts else 0.0,
        end_shift_ms=float(np.median(ends)) * shrink if ends else 0.0,
    )


class Validation:
    """The validation part, measured after every epoch."""

    def __init__(self, files: list[LabelledFile], split: Split, types: list[str], heartbeat: Callable[[], None]):
        self.files, self.split, self.heartbeat = files, split, heartbeat
        # without validation files the training part is evaluated; the metrics report it as validated_on
        self.parts = split.validation or split.train
        self.profiles = [profile_of(name, labels_in(files, split.train, kind)) for kind, name in enumerate(types)]

    def finds(self, head: Head, losses: list[float] | None = None) -> list[list[list[Find]]]:
        """Returns the candidates of each part and class, and appends the loss of each part to `losses`, if given."""
        return [self.finds_of_part(head, part, losses) for part in self.parts]

    def finds_of_part(self, head: Head, part: Part, losses: list[float] | None) -> list[list[Find]]:
        file, first = self.files[part.file], part.first
        streams, loss = [FindStream(profile) for profile in self.profiles], StretchLoss(len(self.profiles))
        for logits in part_logits(head, file, part, self.heartbeat):
            last = first + len(logits)
            if losses is not None:
                wanted = targets(file, first, last, len(self.profiles))
                loss.add(logits, Targets(*(torch.from_numpy(a) for a in wanted)))
            p = torch.sigmoid(logits).numpy()
            for kind, stream in enumerate(streams):
                stream.add(p[:, :, kind])
            self.heartbeat()
            first = last
        if losses is not None:
            losses.append(loss.value())
        finds = []
        for stream in streams:
            finds.append(stream.end())
            self.heartbeat()
        return finds

    def measure(self, trainer: "Trainer") -> tuple[float, float]:
        """Returns loss and macro event-F1 at the neutral thresholds."""
        losses: list[float] = []
        finds = self.finds(trainer.head.eval(), losses)
        candidates = collect_candidates(finds, self.files, self.parts, self.profiles)
        loss = float(np.mean(losses)) if losses else 0.0
        return loss, macro_f1([counts_at(one, profile) for one, profile in zip(candidates, self.profiles)])


def labels_in(files: list[LabelledFile], parts: list[Part], kind: int) -> list[list[tuple[int, int]]]:
    """Returns (start_ms, end_ms) of the events of one class that overlap the parts, unclipped, one list per file."""
    found: dict[int, set[tuple[int, int]]] = {part.file: set() for part in parts}
    for part in parts:
        near = files[part.file].between(part.first * HOP_MS, part.last * HOP_MS)
        found[part.file] |= {(s, e) for k, s, e in near if k == kind and part.overlaps(s, e)}
    return [sorted(events) for events in found.values()]


def finish_profiles(head: Head, validation: Validation, budget: float | None = None) -> tuple[list[Profile], dict]:
    """Returns the profiles with their thresholds, and the job's metrics within a budget of false alarms an hour. The thresholds
    are chosen on the same files."""
    split, files, parts = validation.split, validation.files, validation.parts
    finds = validation.finds(head)
    candidates = collect_candidates(finds, files, parts, validation.profiles)
    hours = sum(p.last - p.first for p in parts) * HOP_MS / 3_600_000
    profiles = [fit_profile(one, profile, hours) for one, profile in zip(candidates, validation.profiles)]
    candidates = collect_candidates(finds, files, parts, profiles)  # a second time, because the edge shifts moved the boxes
    least = 0.0 if budget is None else threshold_within(profiles, budget)
    used = [replace(p, threshold=max(p.threshold, least)) for p in profiles]
    metrics = {
        "overall": overall(candidates, used, hours),
        "per_type": per_type(candidates, used),
        "confusion": confusion(candidates, used),
        "split": {
            "mode": split.mode,
            "optimistic": split.mode != "files" or not split.validation,
            "train_seconds": sum(p.last - p.first for p in split.train) * HOP_MS // 1000,
            "validation_seconds": sum(p.last - p.first for p in split.validation) * HOP_MS // 1000,
            "validated_on": "validation" if split.validation else "training",
            "validation_files": sorted({files[p.file].id for p in split.validation})[:200],
            "types_without_validation": [profiles[k].name for k in split.missing],
        },
    }
    return profiles, metrics
