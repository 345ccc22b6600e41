// A command or a program to copy, with strings and the variable of the key in colours.
import { CopyButton } from "./copy.tsx";

export function Code({ text }: { text: string }) {
  return (
    <div class="code">
      <pre>{text.split(/("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\$API_KEY)/).map(colored)}</pre>
      <CopyButton text={text} what="code" />
    </div>
  );
}

/** Odd pieces are strings or the variable of the key. */
const colored = (piece: string, i: number) =>
  i % 2 === 0 ? piece : <span class={piece.startsWith("$") ? "variable" : "string"}>{piece}</span>;
