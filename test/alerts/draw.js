// Draws the panels of a dashboard in the page that pictures.ts opens, with uPlot.
const colours = [
  ...["#3274d9", "#e0752d", "#56a64b", "#c4162a", "#8f3bb8", "#e5ac0e"],
  ...["#0fa3b1", "#b877d9", "#7a4f2a", "#6e7f8d"],
];
const units = {
  bytes: [
    [2 ** 30, " GiB"],
    [2 ** 20, " MiB"],
    [1, " B"],
  ],
  s: [
    [3600, " h"],
    [60, " min"],
    [1, " s"],
    [0.001, " ms"],
  ],
  percentunit: [[0.01, " %"]],
  short: [
    [1e6, "M"],
    [1e3, "k"],
    [1, ""],
  ],
  reqps: [[1, "/s"]],
  ops: [[1, "/s"]],
};

/** Distances of the axis's lines: the default ones are decimal. */
const powersOf = (base, ...factors) =>
  Array.from({ length: 24 }, (_, n) => n - 6).flatMap((n) => factors.map((factor) => factor * base ** n));
const steps = {
  bytes: powersOf(2, 2 ** 20),
  s: [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600],
  short: powersOf(10, 1, 2, 5),
};

function text(value, unit) {
  if (value === 0) return "0";
  const sizes = units[unit];
  const [size, name] = sizes.find(([size]) => Math.abs(value) >= size) ?? sizes.at(-1);
  return `${Number((value / size).toPrecision(3))}${name}`;
}

function add(parent, name, content = "") {
  const made = parent.appendChild(document.createElement(name));
  made.textContent = content;
  return made;
}

globalThis.draw = ({ times, cell, panels }) => {
  document.body.replaceChildren();
  const rows = Math.max(...panels.map(({ gridPos }) => gridPos.y + gridPos.h));
  document.body.style.height = `${rows * cell.height}px`;
  for (const { title, type, gridPos, unit, lines } of panels) {
    const [width, height] = [gridPos.w * cell.width - 6, gridPos.h * cell.height - 6];
    const section = add(document.body, "section");
    const place = { left: gridPos.x * cell.width + 3, top: gridPos.y * cell.height + 3, width, height };
    for (const [side, pixels] of Object.entries(place)) section.style[side] = `${pixels}px`;
    add(section, "h2", title);
    if (type === "stat") {
      const last = lines[0]?.values.findLast((one) => one !== null) ?? null;
      add(section, "p", last === null ? "No data" : text(last, unit));
    } else drawLines(section, { times, unit, lines, width: width - 4, height: height - 52 });
  }
};

function drawLines(section, { times, unit, lines, width, height }) {
  const axis = { stroke: "#57606a", font: "10px system-ui", grid: { stroke: "#e7e9ec", width: 1 } };
  const colour = (i) => colours[i % colours.length];
  new uPlot(
    {
      ...{ width, height, legend: { show: false } },
      scales: { y: { range: (_, __, most) => [0, most > 0 ? most * 1.05 : 1] } },
      axes: [axis, { incrs: steps[unit] ?? steps.short, ...axis, size: 64, values: (_, all) => all.map((one) => text(one, unit)) }],
      series: [{}, ...lines.map((_, i) => ({ stroke: colour(i), width: 1.5, points: { size: 3 } }))],
    },
    [times, ...lines.map(({ values }) => values)],
    section,
  );
  const list = add(section, "ul");
  for (const [i, { label }] of lines.entries()) add(list, "li", label).style.setProperty("--colour", colour(i));
}
