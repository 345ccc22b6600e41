// What is said about saving: the state in a word, and in full where somebody has to know or to decide.
import { useState } from "preact/hooks";
import { plural } from "../../app/format.ts";
import { Badge, type Tone } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog, FormDialog } from "../../components/dialog.tsx";
import { Icon } from "../../components/icon.tsx";
import type { SavingState } from "../../editor/autosave.ts";
import type { Document } from "../../editor/document.ts";
import type { Choice, Conflict } from "../../editor/merge.ts";
import { newKey, type Region } from "../../editor/region.ts";
import { wordsOf } from "../../editor/times.ts";

const words: Record<SavingState["is"], [Tone, string]> = {
  saved: ["good", "Saved"],
  waiting: ["busy", "Saving"],
  saving: ["busy", "Saving"],
  retrying: ["warn", "Not saved yet"],
  paused: ["warn", "Not saved yet"],
  refused: ["bad", "Not saved"],
  conflict: ["warn", "Needs a decision"],
};

export function SavingBadge({ document }: { document: Document }) {
  const { state, unsaved } = document.autosave;
  const [tone, word] = words[state.value.is];
  const count = unsaved.value;
  return (
    // That it has saved is not read aloud after each change.
    <span
      role={["saved", "waiting", "saving"].includes(state.value.is) ? undefined : "status"}
      data-saving={state.value.is}
    >
      <Badge tone={tone}>
        {word}
        {count > 0 &&
          state.value.is !== "saving" &&
          state.value.is !== "waiting" &&
          `: ${plural(count, "change")}`}
      </Badge>
    </span>
  );
}

export function SavingNotice({ document }: { document: Document }) {
  const { state, unsaved, conflicts } = document.autosave;
  const [isMerging, setMerging] = useState(false);
  const [isReverting, setReverting] = useState(false);
  const now = state.value;
  if (now.is === "conflict")
    return (
      <>
        <div class="notice warn" role="alert">
          <Icon name="warning" />
          <p>
            Somebody else has changed {plural(conflicts.value.length, "label")} that you have changed too.
            Nothing is lost, and nothing more is saved until you decide.
          </p>
          <Button isSmall kind="primary" onClick={() => setMerging(true)}>
            Decide
          </Button>
        </div>
        {isMerging && <Merge document={document} onClose={() => setMerging(false)} />}
      </>
    );
  if (now.is !== "retrying" && now.is !== "paused" && now.is !== "refused") return null;
  return (
    <>
      <div class="notice warn" role="alert">
        <Icon name="warning" />
        <p class="break">
          {plural(unsaved.value, "change")} {unsaved.value === 1 ? "is" : "are"} not saved:{" "}
          {withStop(now.reason)}
        </p>
        <span class="row">
          <Button isSmall icon="retry" onClick={() => document.autosave.flush()}>
            Try again
          </Button>
          {now.is === "refused" && (
            <Button isSmall onClick={() => setReverting(true)}>
              Give them up
            </Button>
          )}
        </span>
      </div>
      {isReverting && (
        <FormDialog
          title="Give up the changes"
          action="Give up"
          isDanger
          attempted="Giving up the changes"
          onClose={() => setReverting(false)}
          submit={async () => {
            document.autosave.revert();
            setReverting(false);
          }}
        >
          <p>
            The file is shown as the service has it. {plural(unsaved.value, "change")} of yours{" "}
            {unsaved.value === 1 ? "is" : "are"} lost.
          </p>
        </FormDialog>
      )}
    </>
  );
}

const withStop = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);

const describe = (region: Region | undefined) =>
  region === undefined ? "deleted" : wordsOf(region.type, region.startMs, region.endMs);

const choiceWords: Record<Choice, string> = { mine: "Yours", theirs: "Theirs", both: "Both, as two labels" };

/** Both versions of each label that two people have changed. */
function Merge({ document, onClose }: { document: Document; onClose: () => void }) {
  const conflicts = document.autosave.conflicts.value;
  const regions = document.autosave.regions.value.byKey;
  const [choices, setChoices] = useState<ReadonlyMap<string, Choice>>(new Map());
  const choiceOf = ({ key }: Conflict): Choice => choices.get(key) ?? "mine";
  return (
    <Dialog
      title="Two versions of the same labels"
      isWide
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Later</Button>
          <Button
            kind="primary"
            onClick={() => {
              document.autosave.decide(choiceOf, newKey);
              onClose();
            }}
          >
            Save these
          </Button>
        </>
      }
    >
      <div class="stack">
        <p class="muted small">
          Your other changes and those of others are joined already. Choose what these labels shall be.
        </p>
        {conflicts.map((conflict) => {
          const mine = regions.get(conflict.key);
          const options: readonly Choice[] =
            mine !== undefined && conflict.theirs !== undefined
              ? ["mine", "theirs", "both"]
              : ["mine", "theirs"];
          return (
            <fieldset class="choices conflict" key={conflict.key}>
              <legend class="break">{describe(mine ?? conflict.theirs)}</legend>
              {options.map((option) => (
                <label class="check-line" key={option}>
                  <input
                    type="radio"
                    name={`conflict-${conflict.key}`}
                    checked={choiceOf(conflict) === option}
                    onChange={() => setChoices(new Map(choices).set(conflict.key, option))}
                  />
                  <span class="break">
                    <span class="strong">{choiceWords[option]}</span>
                    {option === "mine" && `: ${describe(mine)}`}
                    {option === "theirs" && `: ${describe(conflict.theirs)}`}
                  </span>
                </label>
              ))}
            </fieldset>
          );
        })}
      </div>
    </Dialog>
  );
}
