# Times one way to process sound files: `speed_child NAME FILES.json` prints the processor seconds for all files,
# including decoding, without start-up and a first file. Started by speed.py, on one core, in the environment that has
# the tool.
import json
import sys
import time
from collections.abc import Callable

import numpy as np
import soundfile

Way = Callable[[np.ndarray, int], object]  # samples (N,), rate


def features() -> Way:
    from plosive_worker.audio.sandbox import keep_memory
    from plosive_worker.features.stream import feature_blocks

    keep_memory()  # as in the worker's children
    return lambda x, rate: list(feature_blocks(iter([x[:, None]]), rate))


def silero(onnx: bool) -> Way:
    import torch
    from silero_vad import get_speech_timestamps, load_silero_vad

    torch.set_num_threads(1)
    model = load_silero_vad(onnx=onnx)
    return lambda x, rate: get_speech_timestamps(torch.from_numpy(x), model, sampling_rate=rate)


def librosa_mel() -> Way:
    from librosa import power_to_db
    from librosa.feature import melspectrogram

    return lambda x, rate: power_to_db(melspectrogram(y=x, sr=rate, n_fft=512, hop_length=rate // 100, n_mels=64))


def essentia_all() -> Way:
    from .peers.essentia import ALGORITHMS

    return lambda x, rate: [run(x, float(rate), {}) for run in ALGORITHMS.values()]


WAYS: dict[str, Callable[[], Way]] = {
    "features": features,
    "silero-vad, ONNX": lambda: silero(True),
    "silero-vad, torch": lambda: silero(False),
    "librosa, log-mel": librosa_mel,
    "essentia, its six detectors": essentia_all,
}


def main() -> None:
    way = WAYS[sys.argv[1]]()
    with open(sys.argv[2]) as file:
        paths = json.load(file)

    def go(path: str) -> None:
        samples, rate = soundfile.read(path, dtype="float32")
        way(samples, rate)

    go(paths[0])
    began = time.process_time()
    for path in paths:
        go(path)
    print(json.dumps(time.process_time() - began))


if __name__ == "__main__":
    main()
