# `python3 -m bench.detection`: runs the parts that are not in the cache yet, then writes docs/benchmarks/detection.md
# and its plots.
# --seeds 0,1,2  --parts 'plosive-60-*,crnn-*'  --no-peers  --report-only  --short (the regression gate: short.py)
import argparse
import sys


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.detection", description="The detection benchmark")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--parts", default="", help="patterns of DETECTOR-MINUTES-SEED")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--report-only", action="store_true")
    parser.add_argument("--short", action="store_true", help="a few minutes, compared with short.json")
    parser.add_argument("--accept", action="store_true", help="with --short: these figures are the new ones to compare with")
    options = parser.parse_args()
    if options.short:
        from .short import gate

        sys.exit(gate(options.accept))
    from .report import write_report
    from .runner import parts, run_parts

    seeds = [int(seed) for seed in options.seeds.split(",")]
    if not options.report_only:
        run_parts(seeds, [name for name in options.parts.split(",") if name], not options.no_peers)
    write_report(parts(seeds, peers=True))


if __name__ == "__main__":
    main()
