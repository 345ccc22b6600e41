# `python3 -m bench.detection`: runs the parts that are not in the cache yet, then writes docs/benchmarks/detection.md
# and its plots.
# --seeds 0,1,2  --parts 'plosive-60-*,crnn-*'  --no-peers  --report-only  --short (the regression gate: short.py)
# --part transfer [--minutes 60,15]  [--play-untouched RELEASE]  (transfer.py)
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
    parser.add_argument("--part", choices=("all", "transfer"), default="all", help="transfer: between the generators")
    parser.add_argument("--minutes", default="60", help="with --part transfer: training minutes, comma-separated")
    parser.add_argument("--play-untouched", metavar="RELEASE", default="", help="with --part transfer: play the untouched set")
    options = parser.parse_args()
    if options.short:
        from .short import gate

        sys.exit(gate(options.accept))
    seeds, wanted = [int(seed) for seed in options.seeds.split(",")], [name for name in options.parts.split(",") if name]
    if options.part == "transfer":
        from .transfer import main as transfer

        minutes = [int(m) for m in options.minutes.split(",")]
        if options.play_untouched and (options.parts or options.report_only):
            parser.error("a play of the untouched set is always whole: leave --parts and --report-only out")
        return transfer(seeds, minutes, wanted, options.play_untouched, options.report_only)
    if options.play_untouched:
        parser.error("--play-untouched belongs to --part transfer")
    from .report import write_report
    from .runner import parts, run_parts

    if not options.report_only:
        run_parts(seeds, wanted, not options.no_peers)
    write_report(parts(seeds, peers=True))


if __name__ == "__main__":
    main()
