// Progress bar: redraws one line on a terminal; prints a plain line at every tenth if the output is a file or a pipe.
// Called by play.ts, which passes process.stdout.
export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface Bar {
  /** `share` is 0..1; `note` is printed after the bar. */
  update(share: number, note: string): void;
  /** Keeps the last state on the screen and starts a new line. */
  end(): void;
}

/** Returns the text of one state, at most `columns` wide. Pure. */
export function barLine(label: string, share: number, note: string, columns: number): string {
  const filled = Math.min(1, Math.max(0, share));
  const width = 28;
  const eighths = Math.floor(filled * width * 8);
  const partial = "▏▎▍▌▋▊▉"[(eighths % 8) - 1] ?? "";
  const bar = `${"█".repeat(eighths >> 3)}${partial}`.padEnd(width, "░");
  const percent = `${Math.floor(filled * 100)}`.padStart(3);
  return `${label} ${bar} ${percent} % ${note}`.slice(0, Math.max(20, columns));
}

export function makeBar(out: Output, label: string): Bar {
  let last: { share: number; note: string } | undefined;
  let lastTenth = -1;
  let isPrinted = true;
  const print = (share: number, note: string) => {
    isPrinted = true;
    out.write(`${plainLine(label, share, note)}\n`);
  };
  return {
    update(share, note) {
      last = { share, note };
      isPrinted = false;
      if (out.isTTY) {
        out.write(`\r\x1b[K${barLine(label, share, note, (out.columns ?? 120) - 1)}`);
        return;
      }
      const tenth = Math.floor(share * 10);
      if (tenth <= lastTenth) return;
      lastTenth = tenth;
      print(share, note);
    },
    end() {
      if (last === undefined) return;
      if (out.isTTY) out.write("\n");
      else if (!isPrinted) print(last.share, last.note);
    },
  };
}

/** The line for log files, without the drawn bar. */
function plainLine(label: string, share: number, note: string): string {
  return `${label} ${Math.floor(Math.min(1, share) * 100)} % ${note}`;
}
