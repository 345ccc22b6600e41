"""Mutation testing of the worker's training and events: changes one place of a file's syntax tree at a time and runs the unit
tests that reach its line, the fastest first, until one fails. Called by main.ts (`make mutation`).
The process imports torch once and forks for each mutant, and the mutant exists only in the memory of that fork.
Usage: worker.py --out FILE [--seed N] [--sample N] [--again]"""

import argparse
import ast
import hashlib
import importlib.machinery
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "images/worker/plosive_worker"
# Left out: the loop and its random augmentation, whose results have no exact truth, and what needs the run endpoint.
FILES = [
    f"{PACKAGE}/{name}.py"
    for name in (
        "events/boxes", "events/calibration", "events/profile", "events/scoring", "training/data", "training/evaluation",
        "training/loss", "training/metrics", "training/sampler", "training/split",
    )
]  # fmt: skip
TESTS = (
    "test_events.py", "test_metrics.py", "test_training.py", "test_event_rules.py", "test_metric_rules.py",
    "test_training_rules.py", "test_long_files.py",
)  # fmt: skip
AT_ONCE = 2
BUDGET_SECONDS = 12.0

SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.Mod: ast.Mult,
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "maximum": "minimum", "minimum": "maximum"}


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that may stand in a node's place."""
    match node:
        case ast.Compare(ops=[op, *rest]) if type(op) in SWAPS:
            yield ast.Compare(node.left, [SWAPS[type(op)](), *rest], node.comparators)
        case ast.BinOp(op=op) if type(op) in SWAPS:
            yield ast.BinOp(node.left, SWAPS[type(op)](), node.right)
        case ast.AugAssign(op=op) if type(op) in SWAPS:
            yield ast.AugAssign(node.target, SWAPS[type(op)](), node.value)
            yield ast.Pass()
        case ast.BoolOp(op=op):
            yield ast.BoolOp(SWAPS[type(op)](), node.values)
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield node.operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.Constant(value=float(value)):
            yield ast.Constant(value * 1.5 + (value == 0))
        case ast.IfExp():
            yield node.body
            yield node.orelse
        case ast.If():
            yield ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
            yield ast.If(ast.Constant(False), node.body, node.orelse)
        case ast.Attribute(attr=name) if name in NAMES:
            yield ast.Attribute(node.value, NAMES[name], node.ctx)
        case ast.Name(id=name) if name in NAMES:
            yield ast.Name(NAMES[name], node.ctx)
        case ast.Continue():
            yield ast.Break()
        case ast.Expr(value=ast.Call()):
            yield ast.Pass()


def located(tree: ast.Module) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Each place of a tree: parent, field, index in a list. Leaves annotations, prose and imports out."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        prose = isinstance(node, ast.Raise | ast.Import | ast.ImportFrom | ast.JoinedStr)
        prose = prose or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print")
        if prose:
            continue
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list", "ops", "op"):
                continue
            for index, child in enumerate(value) if isinstance(value, list) else ((None, value),):
                if isinstance(child, ast.AST):
                    yield node, field, index
                    stack.append(child)


class Mutant:
    def __init__(self, file: str, source: str, place: int, nth: int) -> None:
        self.file, self.tree = file, ast.parse(source)
        parent, field, index = list(located(self.tree))[place]
        holder = getattr(parent, field) if index is not None else parent
        old: ast.AST = holder[index] if index is not None else getattr(parent, field)
        new = ast.copy_location(list(changes(old))[nth], old)
        self.line = old.lineno  # type: ignore[attr-defined]
        # Code of a module runs when it is loaded, code inside of a function when a test calls it.
        self.inside = any(
            isinstance(one, ast.FunctionDef) and one.body[0].lineno <= self.line <= (one.end_lineno or 0)
            for one in ast.walk(self.tree)
        )
        self.code = source.splitlines()[self.line - 1].strip()
        self.change = f"{one_line(old)} -> {one_line(new)}"
        if index is None:
            setattr(parent, field, new)
        else:
            holder[index] = new
        ast.fix_missing_locations(self.tree)
        self.name = f"{file}\n{self.code}\n{self.change}"


def one_line(node: ast.AST) -> str:
    return " ".join(ast.unparse(ast.fix_missing_locations(node)).split())[:160]


def mutants_of(file: str) -> list[Mutant]:
    source = (ROOT / file).read_text()
    tree = ast.parse(source)
    found = []
    for place, (parent, field, index) in enumerate(located(tree)):
        value = getattr(parent, field)
        node = value if index is None else value[index]
        found += [Mutant(file, source, place, nth) for nth in range(len(list(changes(node))))]
    return found


class Probe:
    """pytest's plugin: notes which lines of the package each test runs, and keeps to the tests that are wanted. Tests that train
    on voices or talk to a run endpoint take too long."""

    def __init__(self, wanted: list[str] | None) -> None:
        self.wanted, self.test = wanted, ""
        self.lines: dict[str, set[tuple[str, int]]] = defaultdict(set)
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed: list[str] = []
        self.ours: dict[str, bool] = {}
        self.clock = time.process_time()

    def pytest_collection_modifyitems(self, items: list) -> None:
        items[:] = [item for item in items if not {"voices", "platform"} & set(item.fixturenames)]
        if self.wanted is not None:
            rank = {name: i for i, name in enumerate(self.wanted)}
            items[:] = sorted((item for item in items if item.nodeid in rank), key=lambda item: rank[item.nodeid])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.test = nodeid
        if self.wanted is None:
            sys.settrace(self.trace)

    def pytest_runtest_logreport(self, report) -> None:
        self.seconds[report.nodeid] += time.process_time() - self.clock
        self.clock = time.process_time()
        if report.failed:
            self.failed.append(report.nodeid)

    def trace(self, frame, _event: str, _arg):
        path = frame.f_code.co_filename
        if path not in self.ours:
            self.ours[path] = path.endswith(tuple(FILES))
        if not self.ours[path]:
            return None
        seen = self.lines[self.test]

        def local(inner, _event: str, _arg):
            seen.add((path, inner.f_lineno))
            return local

        return local(frame, "", None)


def run_in_fork(mutant: Mutant | None, probe: Probe, folder: Path, answer: Path, limit: int) -> None:
    """The life of a fork: switches the mutant on, runs the tests and writes what happened."""
    os.setpgid(0, 0)
    quiet = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(quiet, stream)
    if mutant is not None:
        # Processor time, so that slowness on a busy machine is not taken for an endless loop.
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        whole = importlib.machinery.SourceFileLoader.get_code

        def get_code(loader, name):
            mine = str(loader.path) == str(ROOT / mutant.file)
            return compile(mutant.tree, str(loader.path), "exec") if mine else whole(loader, name)

        importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    import pytest

    names = TESTS if probe.wanted is None else sorted({Path(test.split("::")[0]).name for test in probe.wanted})
    tests = [str(ROOT / "test/worker" / name) for name in names if (ROOT / "test/worker" / name).exists()]
    stop = ["-x"] if mutant is not None else []
    code = pytest.main([*stop, "-q", "-p", "no:cacheprovider", f"--basetemp={folder}", f"--rootdir={ROOT}", *tests], [probe])
    found = {
        "code": int(code), "failed": probe.failed, "seconds": probe.seconds,
        "lines": {t: sorted((path[len(str(ROOT)) + 1 :], line) for path, line in ls) for t, ls in probe.lines.items()},
    }  # fmt: skip
    answer.write_text(json.dumps(found))
    os._exit(0)


def start(mutant: Mutant | None, probe: Probe, scratch: Path, number: int, limit: int = 0) -> tuple[int, Path]:
    answer = scratch / f"answer-{number}.json"
    pid = os.fork()
    if pid == 0:
        try:
            run_in_fork(mutant, probe, scratch / f"tmp-{number}", answer, limit)
        finally:
            os._exit(1)
    return pid, answer


def survey(scratch: Path) -> dict:
    pid, answer = start(None, Probe(None), scratch, 0)
    os.waitpid(pid, 0)
    found = json.loads(answer.read_text())
    if found["code"] != 0:
        raise SystemExit(f"mutation: tests fail without a mutant: {found['failed']}")
    return found


def tests_of(mutant: Mutant, found: dict) -> list[str]:
    """The tests that run the mutant's line, the fastest first, within the budget. A line of a module runs when it is loaded:
    then any test that runs the file."""
    of_file = {t: {line for file, line in lines if file == mutant.file} for t, lines in found["lines"].items()}
    reaching = [t for t, lines in of_file.items() if mutant.line in lines]
    if not reaching and not mutant.inside:
        reaching = [t for t, lines in of_file.items() if lines]
    chosen, used = [], 0.0
    for test in sorted(reaching, key=lambda t: found["seconds"][t]):
        used += found["seconds"][test]
        if not chosen or used < BUDGET_SECONDS:
            chosen.append(test)
    return chosen


def measure(sample: list[Mutant], scratch: Path) -> list[dict]:
    """The verdict on each mutant, in the order in which they end."""
    found = survey(scratch)
    queue, running, verdicts = list(enumerate(sample, 1)), {}, []

    def note(mutant: Mutant, state: str, by: str = "") -> None:
        verdicts.append({"file": mutant.file, "line": mutant.line, "code": mutant.code, "change": mutant.change, "state": state})
        print(f"{len(verdicts)}/{len(sample)} {state} {mutant.file}:{mutant.line} {mutant.change} {by}", flush=True)

    while queue or running:
        while queue and len(running) < AT_ONCE:
            number, mutant = queue.pop(0)
            tests = tests_of(mutant, found)
            if not tests:
                note(mutant, "not reached")
                continue
            limit = 60 + 10 * round(sum(found["seconds"][t] for t in tests))
            pid, answer = start(mutant, Probe(tests), scratch, number, limit)
            running[pid] = (mutant, answer)
        for pid, (mutant, answer) in list(running.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended == pid and os.WIFSIGNALED(status):
                note(mutant, "hung" if os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL) else "killed", "a signal")
            elif ended == pid:
                result = json.loads(answer.read_text()) if answer.exists() else {"code": 1, "failed": ["the process died"]}
                note(mutant, "killed" if result["code"] else "survived", (result["failed"] or [""])[0])
            else:
                continue
            del running[pid]
        time.sleep(0.02)
    return verdicts


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=160)
    parser.add_argument("--again", action="store_true", help="try only what survived, by the verdicts in --out")
    parser.add_argument("--out", type=Path, required=True, help="where the verdicts go, as JSON")
    options = parser.parse_args()
    # Loaded once, before the forks. Threads do not survive a fork, so none may be started here.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "PYTHONDONTWRITEBYTECODE"):
        os.environ[name] = "1"
    sys.path[:0] = [str(ROOT / part) for part in ("images/worker", "tools", "test")]
    for name in ("numpy", "torch", "onnx", "onnxruntime", "soundfile", "pytest"):
        __import__(name)
    population = [mutant for file in FILES for mutant in mutants_of(file)]
    # By the hash of the name, so that a change of other lines leaves the sample as it was.
    sample = sorted(population, key=lambda m: hashlib.sha256(f"{options.seed}\n{m.name}".encode()).hexdigest())[: options.sample]
    known = {f"{k['file']}\n{k['code']}\n{k['change']}" for k in json.loads((Path(__file__).parent / "known.json").read_text())}
    unexplained = [m for m in sample if m.name not in known]
    last = json.loads(options.out.read_text())["verdicts"] if options.again else []
    dead = {v["file"] + v["code"] + v["change"]: v for v in last if v["state"] in ("killed", "hung")}
    kept = [dead[m.file + m.code + m.change] for m in unexplained if m.file + m.code + m.change in dead]
    unexplained = [m for m in unexplained if m.file + m.code + m.change not in dead]
    with tempfile.TemporaryDirectory(prefix="plosive-mutation-") as scratch:
        verdicts = kept + measure(unexplained, Path(scratch))
    options.out.write_text(json.dumps({"population": len(population), "sample": len(sample), "verdicts": verdicts}))


if __name__ == "__main__":
    main()
