// Amounts of a whole, drawn as a waveform that fills from the left. The text beside it says the same in words.

export function Meter({
  label,
  value,
  max,
  text,
  tone = "accent",
  isThin,
}: {
  label: string;
  value: number;
  max: number;
  /** The amount in words: "3 min 20 s of 5 min". */
  text: string;
  tone?: "accent" | "good" | "warn" | "bad";
  isThin?: boolean;
}) {
  const share = max <= 0 ? 0 : Math.min(1, Math.max(0, value / max));
  return (
    <div
      class={`${isThin ? "bar" : "wave"} ${tone}`}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={max}
      aria-valuenow={Math.min(value, max)}
      aria-valuetext={text}
    >
      {/* Something that has begun shows at least a sliver. */}
      <div style={{ "--share": value > 0 ? Math.max(share, 0.012) : 0 }} />
    </div>
  );
}

/** Work that goes on. `share` undefined: nobody knows how long. */
export function Progress({
  label,
  share,
  text,
}: {
  label: string;
  share: number | undefined;
  text?: string;
}) {
  const percent = share === undefined ? undefined : Math.round(share * 100);
  return (
    <div
      class={share === undefined ? "bar accent endless" : "bar accent"}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      aria-valuetext={text}
    >
      <div style={{ "--share": share ?? 1 }} />
    </div>
  );
}
