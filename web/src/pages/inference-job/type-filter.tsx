// Shows and hides types. The marks are those of the list and of the lanes under the waveform, in the same order.
import { setQuery } from "../../app/router.ts";
import { Checkbox } from "../../components/field.tsx";
import type { TypeCount } from "../../listening/filter.ts";
import { TypeMark } from "../../listening/type-mark.tsx";

export function TypeFilter({
  counts,
  hidden,
}: {
  counts: readonly TypeCount[];
  hidden: ReadonlySet<string>;
}) {
  const toggle = (type: string, isShown: boolean) => {
    const next = new Set(hidden);
    if (isShown) next.delete(type);
    else next.add(type);
    setQuery({ hide: next.size === 0 ? undefined : JSON.stringify([...next]), page: undefined });
  };
  return (
    <fieldset class="choices">
      <legend class="visually-hidden">Types to show</legend>
      <div class="type-choices">
        {counts.map(({ type, shown, total }, n) => (
          <Checkbox
            key={type}
            label={
              <span class="file-name">
                <TypeMark n={n} />
                <span class="break">{type}</span>
                <span class="faint number">{shown === total ? total : `${shown} of ${total}`}</span>
              </span>
            }
            isChecked={!hidden.has(type)}
            onValue={(isShown) => toggle(type, isShown)}
          />
        ))}
      </div>
    </fieldset>
  );
}
