# The peers: other people's detectors and two textbook learners, by name. Each runs in an environment of its own
# (requirements.txt, installed by tools/deps.sh bench-detection), so a peer's libraries are imported only when it is made.
# Called by others.py and peer_child.py.
import os
from collections.abc import Callable
from functools import partial
from importlib import import_module

from ..types import Peer

# read when torch is imported: threads that wait must not spin on shared cores
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def make(module: str, name: str) -> Peer:
    return getattr(import_module(f".{module}", __package__), name)()


PEERS: dict[str, Callable[[], Peer]] = {
    "essentia": partial(make, "essentia", "EssentiaPeer"),
    "ffmpeg": partial(make, "ffmpeg", "FfmpegPeer"),
    "clipdetect": partial(make, "clipdetect", "ClipdetectPeer"),
    "aubio": partial(make, "aubio", "AubioPeer"),
    "logmel": partial(make, "logmel", "LogmelPeer"),
    "crnn": partial(make, "crnn", "CrnnPeer"),
}
