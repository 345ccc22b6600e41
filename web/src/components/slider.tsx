// A slider for a number. `onValue` follows each move; `onDone` is told the value when the hand or the key is let go.
import { useId } from "preact/hooks";

export function Slider({
  label,
  value,
  min,
  max,
  step,
  text,
  onValue,
  onDone,
}: {
  label: string;
  value: number;
  min: number;
  max: number;
  step: number;
  /** The value in words. */
  text: string;
  onValue: (value: number) => void;
  onDone?: (value: number) => void;
}) {
  const id = useId();
  return (
    <div class="slider">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="range"
        min={min}
        max={max}
        step={step}
        value={value}
        aria-valuetext={text}
        onInput={(event) => onValue(event.currentTarget.valueAsNumber)}
        onChange={(event) => onDone?.(event.currentTarget.valueAsNumber)}
      />
      <output for={id} class="number">
        {text}
      </output>
    </div>
  );
}
