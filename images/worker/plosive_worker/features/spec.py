# Defines the features, their order, and the hash that identifies them. Every constant that changes a stored number is
# in this file, so that training rejects mixed sets and detection rejects a model of another spec. The hash covers names
# and values of all upper-case constants here: renaming one invalidates all stored embeddings.
import hashlib
import json
from dataclasses import dataclass

ID = "dsp-mr1"
REVISION = 5  # increment it when the arithmetic changes but no constant does
HOP_MS = 10
FRAMES_PER_SECOND = 100
PAIR = 2  # frames that share a value that changes slowly or needs 20 ms of audio
BASE_RATE = 24_000
FINE_RATE = 16_000  # upper bound for prediction features, so that they do not depend on the sample rate

MEL_BANDS, MEL_WINDOW = 64, 512  # 21 ms
LONG_RATE, LONG_WINDOW = 3_000, 256  # 85 ms
LONG_EDGES_HZ = (0, 20, 45, 56, 68, 90, 110, 132, 180, 260, 420, 700, 1400)
TONE_EDGES_HZ = (40, 70, 92, 132, 190, 260, 500)
REPEAT_RATE = 6_000
LPC_ORDER = 20
ECHO_LONG, ECHO_SHORT = 8_192, 4_096  # 1.37 and 0.68 s at REPEAT_RATE

# (name, is level): levels change with the gain of the recording, so they are compared with the file's own percentiles
SAMPLE_FEATURES = (
    ("peak", True), ("rms", True), ("crest", False), ("residual_peak", False), ("residual_kurtosis", False),
    ("residual_level", True), ("prediction_gain", False), ("residual_peak_to_signal", False), ("flat_run", False),
    ("top_share", False), ("rail_share", False), ("crest_30ms", False), ("zero_run", False), ("hold_run", False),
    ("quiet_share", False), ("drop_from_before", False), ("drop_from_after", False), ("rise_from_before", False),
    ("rise_from_after", False), ("range_in_frame", False), ("dc", False), ("zero_crossings", False),
    ("low_ratio", False), ("high_ratio", False), ("flux", False), ("centroid", False), ("rolloff", False),
    ("flatness", False), ("jump", False), ("bend", False), ("slope_kurtosis", False), ("periodicity", False),
    ("self_repeat", False), ("skew", False), ("infrasound", True), ("level_in_context", False),
    ("residual_burst", False), ("bend_burst", False), ("low_peak", True), ("rail_count", False),
    ("residual_outlier", False), ("residual_after", False), ("residual_before", False), ("bend_outlier", False),
    ("low_outlier", False), ("exact_pitch", False), ("exact_repeat", False), ("echo_long", False),
    ("echo_short", False), ("echo_local", False), ("steady_pitch", False), ("steady_pitch_far", False),
)  # fmt: skip

# Features that swing around 0: the channel whose value is furthest from 0 counts.
SWINGS = ("drop_from_before", "drop_from_after", "level_in_context", "skew")
STATS = (0.1, 0.5, 0.9)  # per-file quantiles of each feature, stored beside the frames


def feature_names() -> list[tuple[str, bool]]:
    """Returns (name, is level) of each column."""
    names = [(f"mel_{i:02d}", True) for i in range(MEL_BANDS)]
    names += [(f"long_{low}_{high}", True) for low, high in zip(LONG_EDGES_HZ, LONG_EDGES_HZ[1:])]
    names += [(f"tone_{low}_{high}", False) for low, high in zip(TONE_EDGES_HZ, TONE_EDGES_HZ[1:])]
    names += [(f"steady_{low}_{high}", False) for low, high in zip(TONE_EDGES_HZ, TONE_EDGES_HZ[1:])]
    return names + list(SAMPLE_FEATURES)


NAMES = tuple(name for name, _ in feature_names())
IS_LEVEL = tuple(level for _, level in feature_names())
DIMS = len(NAMES)


@dataclass(frozen=True)
class FeatureSpec:
    """Identifies an embedding set: the same id and hash mean the same numbers. `base` is the hash of the built-in
    columns; an encoder's columns come after them."""

    id: str
    hash: str
    base: str
    dims: int = DIMS
    hop_ms: int = HOP_MS


def digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:32]


def own_spec() -> FeatureSpec:
    """Returns the spec of the built-in columns, without an encoder."""
    base = digest({k: v for k, v in globals().items() if k.isupper() and isinstance(v, (int, str, tuple))})
    return FeatureSpec(ID, base, base)
