# Two kinds of plots as SVG text, without a library: equal figures give equal bytes. Called by report.py.
from collections.abc import Mapping, Sequence
from html import escape

COLOURS = ("#2563a8", "#c9762b", "#5a9a4a", "#8a5aa8", "#888888")
HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" font-family="sans-serif" font-size="12">'
    '<rect width="{w}" height="{h}" fill="white"/>'
)


def text(x: float, y: float, words: str, anchor: str = "middle", size: int = 12) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{escape(words)}</text>'


def axis(left: float, right: float, top: float, bottom: float) -> list[str]:
    """Lines and numbers of a vertical axis from 0 to 1."""
    out = []
    for step in range(6):
        y = bottom - (bottom - top) * step / 5
        out.append(f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(text(left - 6, y + 4, f"{step / 5:.1f}", "end"))
    return out


def legend(names: Sequence[str], left: float, y: float) -> list[str]:
    out, x = [], left
    for name, colour in zip(names, COLOURS):
        out.append(f'<rect x="{x:.1f}" y="{y - 9}" width="10" height="10" fill="{colour}"/>')
        out.append(text(x + 14, y, name, "start"))
        x += 30 + 7 * len(name)
    return out


def bars(title: str, groups: Sequence[str], series: Mapping[str, Sequence[float | None]]) -> str:
    """Groups of bars, 0 to 1; None leaves a gap."""
    width, height, left, top, bottom = 60 + 74 * len(groups), 330, 44, 56, 260
    out = [HEAD.format(w=width, h=height), text(width / 2, 20, title, size=14), *legend(list(series), left, 42)]
    out += axis(left, width - 10, top, bottom)
    step = (width - left - 16) / max(1, len(groups))
    bar = 0.8 * step / max(1, len(series))
    for g, group in enumerate(groups):
        start = left + 6 + g * step
        for s, (values, colour) in enumerate(zip(series.values(), COLOURS)):
            value = values[g]
            if value is not None:
                tall = (bottom - top) * max(0.0, min(1.0, value))
                where = f'x="{start + s * bar:.1f}" y="{bottom - tall:.1f}"'
                out.append(f'<rect {where} width="{bar - 1:.1f}" height="{tall:.1f}" fill="{colour}"/>')
        x, y = start + 0.4 * step, bottom + 14
        turned = f'text-anchor="end" transform="rotate(-30 {x:.1f} {y})"'
        out.append(f'<text x="{x:.1f}" y="{y}" {turned}>{escape(group)}</text>')
    return "\n".join([*out, "</svg>", ""])


def reliability(title: str, series: Mapping[str, Sequence[tuple[float, float, int]]]) -> str:
    """Share of correct detections (vertical) by score (horizontal), with the diagonal of perfect calibration."""
    size, left, top, bottom = 380, 44, 56, 330
    right = left + bottom - top

    def place(x: float, y: float) -> tuple[float, float]:
        return left + (right - left) * x, bottom - (bottom - top) * y

    out = [HEAD.format(w=size, h=size), text(size / 2, 20, title, size=14), *legend(list(series), left, 42)]
    out += axis(left, right, top, bottom)
    out.append(f'<line x1="{left}" y1="{bottom}" x2="{right}" y2="{top}" stroke="#aaa" stroke-dasharray="4 3"/>')
    for points, colour in zip(series.values(), COLOURS):
        line = " ".join("{:.1f},{:.1f}".format(*place(score, true)) for score, true, _ in points)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
    out += [text(place(v / 5, 0)[0], bottom + 16, f"{v / 5:.1f}") for v in range(6)]
    return "\n".join([*out, text((left + right) / 2, bottom + 36, "score"), "</svg>", ""])
