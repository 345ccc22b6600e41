# Composes an effect at random: a family, one or two of its sounds or processes, a strength, a place. Called by scenes.py.
import numpy as np
from scipy.signal import lfilter
from voices.scene import Scene, audible_centres

from .processes import PROCESSES, Process
from .signals import Rng, any_filter, convolved, log_uniform, ramped, room, samples_of, tilt, unit
from .sounds import SOUNDS

FAMILIES = ("impulse", "thump", "smack", "air", "tone", "foreign", *PROCESSES, "joint")
ANY = len(FAMILIES)  # the class of all families together
JOINTS = tuple(f"joint {kind}" for kind in range(7))
PARTS = tuple(
    dict.fromkeys(
        [f.__name__ for choices in SOUNDS.values() for f in choices]
        + [f.__name__ for choices, _, _ in PROCESSES.values() for f in choices]
        + list(JOINTS)
    )
)
CLASSES = (*FAMILIES, "any", *PARTS)
Span = tuple[int, int]
Done = tuple[Span, list[str]]  # where, and the parts that were used
NOTHING: Done = ((0, 0), [])


def strength(rng: Rng, level: float) -> float:
    return level * 10 ** (rng.uniform(-12, 16) / 20)


def add_sound(take: np.ndarray, at: int, family: str, level: float, rate: int, rng: Rng) -> Done:
    choices = SOUNDS[family]
    used = [choices[int(rng.integers(len(choices)))]]
    sound = used[0](rng, rate)
    if rng.random() < 0.15:  # two of a family at once
        used.append(choices[int(rng.integers(len(choices)))])
        other = used[1](rng, rate)
        size = max(len(sound), len(other))
        sound = unit(np.pad(sound, (0, size - len(sound)))) + rng.uniform(0.2, 1) * unit(np.pad(other, (0, size - len(other))))
    if rng.random() < 0.3 and family != "thump":
        sound = tilt(rng, sound)
    if rng.random() < 0.15:
        sound = any_filter(rng, sound, rate)
    sound = unit(sound) * strength(rng, level)
    end = min(len(take), at + len(sound))
    if rng.random() < 0.2:  # it sounds in the room
        size = min(len(take) - at, len(sound) + rate // 5)
        sound = convolved(np.pad(sound, (0, max(0, size - len(sound)))), room(rng, rate, 0.2))
    stop = min(len(take), at + len(sound))
    take[at:stop] += sound[: stop - at]
    return (at, end), [part.__name__ for part in used]


def apply_process(take: np.ndarray, at: int, family: str, rate: int, rng: Rng) -> Done:
    choices, low, high = PROCESSES[family]
    size = samples_of(rng, low, high, rate)
    end, past = min(len(take), at + size), take[max(0, at - rate) : at].copy()
    if len(past) < rate // 2 or end - at < 64:
        return NOTHING
    dry = take[at:end].copy()
    wet, used = chain(choices, dry, past, rate, rng)
    if rng.random() < 0.2:
        wet = dry + rng.uniform(0.5, 1) * (wet - dry)
    if family not in ("gap", "loss", "repeat"):
        weight = ramped(end - at, int(rng.choice([0, 0.002, 0.01, 0.03]) * rate), int(rng.integers(2)))
        wet = dry + weight * (wet - dry)
    take[at:end] = wet
    return (at, end), used


def chain(choices: tuple[Process, ...], x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> tuple[np.ndarray, list[str]]:
    """One process, or two one after the other. Returns the stretch and the names of the processes."""
    used = [choices[int(rng.integers(len(choices)))]]
    y = used[0](x.copy(), past, rate, rng)
    if rng.random() < 0.2:
        used.append(choices[int(rng.integers(len(choices)))])
        y = used[1](y, past, rate, rng)
    return np.clip(y, -4, 4), [part.__name__ for part in used]


def join(take: np.ndarray, at: int, level: float, rate: int, rng: Rng) -> Done:
    """The voice jumps: time is missing or doubled, or what follows has another level, colour, sign or pitch."""
    rest = take[at:].copy()
    kind = int(rng.integers(len(JOINTS)))
    if kind == 0:
        shift = samples_of(rng, 0.01, 0.4, rate)
        rest = np.concatenate([rest[shift:], rest[:shift] * 0.1])
    elif kind == 1:
        shift = min(at, samples_of(rng, 0.01, 0.3, rate))
        rest = np.concatenate([take[at - shift : at], rest])[: len(rest)]
    elif kind == 2:
        rest = rest * 10 ** (rng.choice([-1, 1]) * rng.uniform(3, 10) / 20)
    elif kind == 3:
        rest = tilt(rng, tilt(rng, rest))
    elif kind == 4:
        rest = -rest
    elif kind == 5:
        ratio = 2 ** (rng.choice([-1, 1]) * rng.uniform(1, 5) / 12)
        rest = np.interp(np.arange(len(rest)) * ratio % max(1, len(rest) - 1), np.arange(len(rest)), rest)
    else:
        rest = rest + rng.choice([-1, 1]) * level * rng.uniform(0.2, 2) * lfilter([1], [1, -0.999], np.eye(1, len(rest))[0])
    if rng.random() < 0.5 and kind in (0, 1):
        rest = rest * 10 ** (rng.uniform(-6, 6) / 20)
    fade = min(len(rest), int(rng.choice([0, 0.001, 0.004, 0.01]) * rate) + 1)
    weight = np.linspace(0, 1, fade)
    rest[:fade] = take[at : at + fade] * (1 - weight) + rest[:fade] * weight
    take[at:] = rest
    return (at - int(0.004 * rate), at + fade + int(0.004 * rate)), [JOINTS[kind]]


def insert(take: np.ndarray, at: int, family: str, level: float, rate: int, rng: Rng) -> Done:
    """Changes the take in place. Returns what a listener would label, or NOTHING if nothing is audible; the caller then
    restores the take."""
    before = take.copy()
    if family == "joint":
        span, used = join(take, at, level, rate, rng)
    elif family in SOUNDS:
        span, used = add_sound(take, at, family, level, rate, rng)
    else:
        span, used = apply_process(take, at, family, rate, rng)
    if span[1] <= span[0] or not np.isfinite(take).all():
        return NOTHING
    where = audible_centres(before, take, span, Scene(rate, level, 1, rng))
    if not len(where):
        return NOTHING
    half = int(0.008 * rate)
    return (max(span[0], int(where[0]) - half), min(span[1], int(where[-1]) + half)), [family, "any", *used]


def queue_of(rng: Rng, seconds: float, per_minute: float) -> list[str]:
    """The families of a take's effects; those that move the audio come first."""
    wanted = [FAMILIES[i] for i in rng.integers(len(FAMILIES), size=rng.poisson(per_minute * seconds / 60))]
    return sorted(wanted, key=lambda family: (family != "joint", log_uniform(rng, 1, 2)))
