# The peers: other people's detectors and two textbook learners, by name. Each is played in an environment of its own
# (requirements.txt, made by tools/deps.sh detection), so their libraries are imported only when a peer is made.
# Called by others.py and peer_child.py.
from collections.abc import Callable

from ..types import Peer


def essentia() -> Peer:
    from .essentia import EssentiaPeer

    return EssentiaPeer()


def ffmpeg() -> Peer:
    from .ffmpeg import FfmpegPeer

    return FfmpegPeer()


def clipdetect() -> Peer:
    from .clipdetect import ClipdetectPeer

    return ClipdetectPeer()


def aubio() -> Peer:
    from .aubio import AubioPeer

    return AubioPeer()


def logmel() -> Peer:
    from .logmel import LogmelPeer

    return LogmelPeer()


def crnn() -> Peer:
    from .crnn import CrnnPeer

    return CrnnPeer()


PEERS: dict[str, Callable[[], Peer]] = {
    "essentia": essentia,
    "ffmpeg": ffmpeg,
    "clipdetect": clipdetect,
    "aubio": aubio,
    "logmel": logmel,
    "crnn": crnn,
}
