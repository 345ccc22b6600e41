# The log of plays of the untouched set: docs/benchmarks/untouched-plays.json, committed. The set is played once per release;
# every look at it is in the log before its first figure is. Called by transfer.py.
import json
import subprocess
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from ..cache import REPO, key_of

CODE = ("tools/voices", "test/bench/detection/untouched")  # what the takes depend on
LOG = REPO / "docs" / "benchmarks" / "untouched-plays.json"


@dataclass(frozen=True)
class Play:
    """One play. `begin` makes it; nobody else does."""

    release: str
    commit: str
    date: str  # when it began
    digest: str = ""  # of the code that makes the set: figures of two plays compare only if it is the same
    finished: str = ""  # when the figures were complete; "" while it runs or after it was broken off
    figures: dict[str, float] = field(default_factory=dict)


class Refused(SystemExit):
    """The set must not be played now; the message says why."""


def read(log: Path = LOG) -> list[Play]:
    return [Play(**entry) for entry in json.loads(log.read_text())] if log.exists() else []


def write(plays: list[Play], log: Path) -> None:
    log.write_text(json.dumps([asdict(play) for play in plays], indent=2) + "\n")


def today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


def begin(release: str, commit: str, changed: list[str], log: Path = LOG, digest: str = "") -> Play:
    """Enters a play into the log. Continues the play of the same release and commit if it was broken off. `changed`: files
    that differ from the commit."""
    known = read(log)
    same = next((play for play in known if play.release == release), None)
    if same and same.finished:
        raise Refused(f"release {release} has played the untouched set on {same.date}; the next release may play it again")
    if same and same.commit != commit:
        raise Refused(f"release {release} began its play at commit {same.commit[:12]}: check that commit out to finish it")
    if changed:
        raise Refused(f"the play would not be of commit {commit[:12]}: commit first ({', '.join(changed[:5])})")
    if same:
        return same
    play = Play(release, commit, today(), digest)
    write([*known, play], log)
    return play


def finish(play: Play, figures: dict[str, float], log: Path = LOG) -> Play:
    done = replace(play, finished=today(), figures=figures)
    write([done if entry.release == play.release else entry for entry in read(log)], log)
    return done


def git(*arguments: str) -> str:
    return subprocess.run(["git", "-C", str(REPO), *arguments], check=True, capture_output=True, text=True).stdout


def here(release: str) -> Play:
    """Begins the play of this checkout. Reports that the benchmark has written are no changes."""
    changed = [line[3:] for line in git("status", "--porcelain").splitlines() if not line[3:].startswith("docs/benchmarks/")]
    return begin(release, git("rev-parse", "HEAD").strip(), changed, digest=key_of(*CODE))
