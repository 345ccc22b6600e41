# ffmpeg's filters as detectors: silencedetect as it is, adeclick and adeclip by what they repair, astats on bands and
# frames. Registered in __init__.py.
import re
import subprocess

import numpy as np

from ..types import Take
from .tuned import Candidate, Setting, TunedPeer, flagged, joined, settings

SILENCE = settings("silencedetect", noise=(-80, -60, -50, -40), least=(0.01, 0.03, 0.1))
DECLICK = settings("adeclick", threshold=(2, 4, 8, 16), order=(2, 8), burst=(2,))
DECLIP = settings("adeclip", threshold=(5, 15), order=(8,))
FLAT = settings("astats", measure=("Flat_factor", "Peak_count"), step=(0.02, 0.1), join=(0.1, 0.3))
LOW = settings("lowpass", hertz=(80, 150), step=(0.02, 0.05))
TONE = settings("bandpass", low=(40,), high=(70, 130, 260), step=(0.1,), join=(0.3,))
FLOOR = 1e-5


def run(take: Take, filters: str, *output: str) -> tuple[bytes, str]:
    """What ffmpeg writes and what it says while it filters the take."""
    command = ["ffmpeg", "-nostdin", "-hide_banner", "-nostats", "-loglevel", "info", "-i", str(take.path)]
    done = subprocess.run([*command, "-map", "0:a:0", "-ac", "1", "-af", filters, *output], check=True, capture_output=True)
    return done.stdout, done.stderr.decode(errors="replace")


def silences(take: Take, setting: Setting) -> list[Candidate]:
    """The longer a silence, the less likely it is a fault: speech pauses are long."""
    _, said = run(take, f"silencedetect=noise={setting['noise']}dB:duration={setting['least']}", "-f", "null", "-")
    starts = [float(x) for x in re.findall(r"silence_start: (-?[\d.e-]+)", said)]
    ends = [float(x) for x in re.findall(r"silence_end: (-?[\d.e-]+)", said)]
    ends += [take.duration_s] * (len(starts) - len(ends))
    return [Candidate(a, b, 1 / max(1e-3, b - a)) for a, b in zip(starts, ends)]


def repaired(take: Take, samples: np.ndarray, filters: str) -> np.ndarray:
    """How much a repairing filter changes each sample, against the level around it, (N,)."""
    data, _ = run(take, filters, "-ar", str(take.sample_rate), "-f", "f32le", "-")
    out = np.frombuffer(data, "<f4")
    size = min(len(out), len(samples))
    change = np.abs(out[:size] - samples[:size])
    width = max(1, take.sample_rate // 50)
    level = np.sqrt(np.convolve(samples[:size] ** 2, np.ones(width) / width, "same")) + 1e-3
    return np.where(change > 2 / 32768, change / level, 0)


def statistics(take: Take, filters: str, measure: str, step_s: float) -> np.ndarray:
    """One figure of astats every `step_s`, (T,)."""
    size = max(1, round(take.sample_rate * step_s))
    filters += f"asetnsamples=n={size}:p=0,astats=metadata=1:reset=1:measure_perchannel={measure}:measure_overall=none"
    printed, _ = run(take, f"{filters},ametadata=mode=print:file=-", "-f", "null", "-")
    values = re.findall(rf"lavfi\.astats\.1\.{measure}=(\S+)", printed.decode())
    return np.nan_to_num(np.array(values, np.float64), nan=-200, posinf=200, neginf=-200)


def louder_than_usual(level_db: np.ndarray, step_s: float, join_s: float) -> list[Candidate]:
    """Stretches above the take's own median, their excess (dB) as strength."""
    excess = level_db - np.median(level_db)
    out = []
    for least in (6, 12, 18, 24):
        out += [c for c in joined(flagged(excess > least, step_s, excess), join_s) if c.strength < least + 6 or least == 24]
    return out


class FfmpegPeer(TunedPeer):
    name = "ffmpeg"
    grid = {
        "click": DECLICK,
        "mouth_click": DECLICK,
        "pop": [*DECLICK, *LOW],
        "plosive": LOW,
        "tts_seam": DECLICK,
        "dropout": SILENCE,
        "packet_loss": SILENCE,
        "clipping": [*DECLIP, *FLAT],
        "hum": TONE,
    }

    def candidates(self, take: Take, samples: np.ndarray, setting: Setting) -> list[Candidate]:
        rate, values = take.sample_rate, dict(setting.values)
        if setting.algorithm == "silencedetect":
            return silences(take, setting)
        if setting.algorithm == "adeclick":
            filters = f"adeclick=method=s:threshold={values['threshold']}:arorder={values['order']}:burst={values['burst']}"
            change = repaired(take, samples, filters)
            return joined(flagged(change > 0, 1 / rate, change), 0.02)
        if setting.algorithm == "adeclip":
            change = repaired(take, samples, f"adeclip=method=s:threshold={values['threshold']}:arorder={values['order']}")
            return joined(flagged(change > 0, 1 / rate, change), 0.15)
        if setting.algorithm == "astats":
            measure = statistics(take, "", str(values["measure"]), values["step"])
            least = np.median(measure) + FLOOR
            return joined(flagged(measure > least, values["step"], measure), values["join"])
        if setting.algorithm == "lowpass":
            level = statistics(take, f"lowpass=f={values['hertz']},", "RMS_level", values["step"])
            return louder_than_usual(level, values["step"], 0.03)
        filters = f"highpass=f={values['low']}:p=2,lowpass=f={values['high']}:p=2,"
        return louder_than_usual(statistics(take, filters, "RMS_level", values["step"]), values["step"], values["join"])
