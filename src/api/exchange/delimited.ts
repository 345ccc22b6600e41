// Writes and parses delimited text as in RFC 4180, with a comma, a semicolon or a tab as delimiter. Used by the CSV and
// DCASE formats.

/** Returns the text as a cell, quoted only if necessary. parseCells returns exactly the same text. */
export function cell(text: string, delimiter: "," | "\t"): string {
  const quoted = text.includes(delimiter) || /["\r\n]|^\s|\s$/.test(text);
  return quoted ? `"${text.replaceAll('"', '""')}"` : text;
}

export interface Line {
  /** Number of the line in which the record begins, from 1. */
  readonly number: number;
  readonly cells: readonly string[];
}

/** A quoted cell has no closing quote. */
export class UnterminatedCellError extends Error {
  override name = "UnterminatedCellError";
}

/** Yields the lines of a text without blank ones. A quote inside an unquoted cell is an ordinary character. */
export function* parseCells(text: string, delimiter: string): Generator<Line> {
  let at = 0;
  let number = 1;
  while (at < text.length) {
    const cells: string[] = [];
    const first = number;
    for (;;) {
      const { value, end, lines } = text[at] === '"' ? quotedCell(text, at) : plainCell(text, at, delimiter);
      // Text between a closing quote and the next delimiter belongs to the cell, as in spreadsheets.
      const rest = text[end - 1] === '"' && end > at ? plainCell(text, end, delimiter) : undefined;
      cells.push(value + (rest?.value ?? ""));
      at = rest?.end ?? end;
      number += lines;
      if (text[at] !== delimiter) break;
      at += 1;
    }
    if (text[at] === "\r" && text[at + 1] === "\n") at += 1;
    at += 1;
    number += 1;
    if (cells.length > 1 || cells[0] !== "") yield { number: first, cells };
  }
}

interface Cell {
  readonly value: string;
  /** Offset after the last character of the cell. */
  readonly end: number;
  readonly lines: number;
}

function plainCell(text: string, start: number, delimiter: string): Cell {
  let end = start;
  while (end < text.length && text[end] !== delimiter && text[end] !== "\r" && text[end] !== "\n") end += 1;
  return { value: text.slice(start, end), end, lines: 0 };
}

function quotedCell(text: string, start: number): Cell {
  const parts: string[] = [];
  let from = start + 1;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote < 0) throw new UnterminatedCellError("a quoted cell has no closing quote");
    parts.push(text.slice(from, quote));
    if (text[quote + 1] !== '"') {
      const value = parts.join('"');
      return { value, end: quote + 1, lines: value.split(/\r\n|\r|\n/).length - 1 };
    }
    from = quote + 2;
  }
}
