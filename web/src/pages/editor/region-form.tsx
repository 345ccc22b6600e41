// The selected region in fields: what dragging does, in numbers. A suggestion has buttons instead.
import { useEffect, useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Select, TextField } from "../../components/field.tsx";
import type { Controller } from "../../editor/controller.ts";
import type { Region } from "../../editor/region.ts";
import { clockOf, parseClock, wordsOf } from "../../editor/times.ts";

export function RegionForm({ controller }: { controller: Controller }) {
  const region = controller.region.value;
  const suggestion = controller.suggestion.value;
  if (suggestion !== undefined)
    return (
      <section class="region-form" aria-label="Selected suggestion">
        <p class="break">
          <span class="strong">
            <bdi>{suggestion.type}</bdi>
            {wordsOf("", suggestion.startMs, suggestion.endMs)}
          </span>{" "}
          <span class="muted small">
            found by the model with {Math.round(suggestion.confidence * 100)} % confidence
          </span>
        </p>
        <div class="row">
          <Button
            isSmall
            kind="primary"
            icon="check"
            blocked={controller.why}
            onClick={() => controller.accept(suggestion)}
          >
            Accept
          </Button>
          <Button isSmall icon="close" onClick={() => controller.reject(suggestion)}>
            Reject
          </Button>
        </div>
      </section>
    );
  if (region === undefined)
    return (
      <p class="muted small">
        Select a region to change it in numbers, or set its edges with <kbd>[</kbd> and <kbd>]</kbd>.
      </p>
    );
  const fault = controller.document.autosave.faults.value.get(region.key);
  return (
    <section class="region-form" aria-label="Selected region">
      <div class="region-fields">
        <Select
          label="Type"
          value={region.type}
          fault={fault}
          onValue={(type) => controller.change(region, { type }, `Change the type to ${type}`)}
        >
          {controller.types.value.map((name) => (
            <option key={name} value={name} disabled={controller.why !== undefined}>
              {name}
            </option>
          ))}
        </Select>
        <TimeField controller={controller} region={region} edge="start" />
        <TimeField controller={controller} region={region} edge="end" />
      </div>
      <div class="row apart">
        <span class="small muted number">
          {region.endMs - region.startMs} ms
          {region.confidence < 1 && ` · confidence ${Math.round(region.confidence * 100)} %`}
          {region.annotator !== null && (
            <>
              {" · "}
              <span class="break">{region.annotator}</span>
            </>
          )}
        </span>
        <Button isSmall icon="trash" blocked={controller.why} onClick={() => controller.remove(region)}>
          Delete
        </Button>
      </div>
    </section>
  );
}

function TimeField({
  controller,
  region,
  edge,
}: {
  controller: Controller;
  region: Region;
  edge: "start" | "end";
}) {
  const ms = edge === "start" ? region.startMs : region.endMs;
  const [text, setText] = useState(clockOf(ms));
  useEffect(() => setText(clockOf(ms)), [ms, region.key]);
  const wanted = parseClock(text);
  const fault =
    wanted === undefined
      ? "A time such as 1:02.345"
      : wanted > controller.durationMs
        ? `The file ends at ${clockOf(controller.durationMs)}`
        : edge === "start" && wanted > region.endMs
          ? "After the end"
          : edge === "end" && wanted < region.startMs
            ? "Before the start"
            : undefined;
  const take = () => {
    if (fault !== undefined || wanted === undefined || wanted === ms) return;
    controller.change(region, edge === "start" ? { startMs: wanted } : { endMs: wanted }, `Move the ${edge}`);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        take();
      }}
      onFocusOut={take}
    >
      <TextField
        label={edge === "start" ? "Start" : "End"}
        value={text}
        onValue={setText}
        fault={fault}
        spellcheck={false}
        maxLength={16}
        readOnly={controller.why !== undefined}
      />
    </form>
  );
}
