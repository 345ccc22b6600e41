// Edits the artifact types of a dataset as one list. The list is replaced as a whole, so it is sent with the version that
// was edited: a change by somebody else in between is refused and shown, and nothing is overwritten.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Dataset } from "../../../../client/schema.ts";
import { ApiError, api, versioned } from "../../app/api.ts";
import { know, refresh } from "../../app/resource.ts";
import { unsaved } from "../../app/router.ts";
import { missing } from "../../app/session.ts";
import { Button, IconButton } from "../../components/button.tsx";
import { TextField } from "../../components/field.tsx";
import { Empty, Problem } from "../../components/states.tsx";
import { notify } from "../../components/toast.tsx";
import { faultOfName } from "../datasets/type-names.ts";

interface Row {
  readonly key: number;
  readonly name: string;
  readonly description: string;
}

let nextKey = 1;
const rowsOf = (dataset: Dataset): readonly Row[] =>
  dataset.artifact_types.map(({ name, description }) => ({
    key: nextKey++,
    name,
    description: description ?? "",
  }));

/** What others have saved, with the changes that were made here since `base`. */
function joined(theirs: readonly Row[], base: readonly Row[], rows: readonly Row[]): readonly Row[] {
  const mineOf = ({ key }: Row) => rows.find((row) => row.key === key);
  const isMine = (row: Row) => {
    const before = base.find(({ key }) => key === row.key);
    return before === undefined || textOf([before]) !== textOf([row]);
  };
  const taken = new Set<number>();
  const kept = theirs.flatMap((row) => {
    const before = base.find(({ name }) => name === row.name);
    if (before === undefined) return row;
    const mine = mineOf(before);
    if (mine === undefined) return [];
    taken.add(mine.key);
    // With the key of theirs, so that the next conflict finds it again.
    return isMine(mine) ? { ...mine, key: row.key } : row;
  });
  return [...kept, ...rows.filter((row) => isMine(row) && !taken.has(row.key))];
}

const textOf = (rows: readonly Row[]) =>
  JSON.stringify(rows.map(({ name, description }) => [name, description]));

export function TypesEditor({ dataset, etag }: { dataset: Dataset; etag: string | undefined }) {
  const [base, setBase] = useState({ rows: rowsOf(dataset), etag });
  const [rows, setRows] = useState(base.rows);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const list = useRef<HTMLOListElement>(null);
  const isChanged = textOf(rows) !== textOf(base.rows);
  const blocked = missing("write");

  // What others change appears, unless it would take away what is typed here.
  useEffect(() => {
    if (isChanged || etag === base.etag) return;
    const next = rowsOf(dataset);
    const isSame = textOf(next) === textOf(rows);
    // Rows that stay keep their keys, by which a conflict finds them.
    setBase({ rows: isSame ? rows : next, etag });
    if (!isSame) setRows(next);
  }, [etag, isChanged]);
  useEffect(() => {
    unsaved.value = isChanged ? "The artifact types are not saved." : undefined;
    return () => {
      unsaved.value = undefined;
    };
  }, [isChanged]);

  const faults = rows.map(({ name }, i) =>
    faultOfName(
      name.trim(),
      rows.slice(0, i).map((row) => row.name.trim()),
    ),
  );
  const isFaulty = faults.some((fault) => fault !== undefined);
  const change = (key: number, part: Partial<Row>) =>
    setRows(rows.map((row) => (row.key === key ? { ...row, ...part } : row)));
  const add = () => {
    setRows([...rows, { key: nextKey++, name: "", description: "" }]);
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>("li:last-child input")?.focus());
  };
  const remove = (key: number) => {
    setRows(rows.filter((row) => row.key !== key));
    list.current?.closest("form")?.querySelector<HTMLElement>("[data-add]")?.focus();
  };
  const save = async (event: Event) => {
    event.preventDefault();
    if (isBusy || isFaulty || !isChanged) return;
    setBusy(true);
    setError(undefined);
    try {
      const { value, etag: next } = await versioned(
        api.PATCH("/api/v1/datasets/{dataset_id}", {
          params: {
            path: { dataset_id: dataset.id },
            header: base.etag === undefined ? {} : { "If-Match": base.etag },
          },
          body: {
            artifact_types: rows.map(({ name, description }) => ({
              name: name.trim(),
              description: description.trim() === "" ? null : description.trim(),
            })),
          },
        }),
      );
      const saved = rowsOf(value);
      setBase({ rows: saved, etag: next });
      setRows(saved);
      know(`dataset/${dataset.id}`, { value, etag: next });
      void refresh("datasets");
      notify("Saved the artifact types");
    } catch (thrown) {
      setError(thrown);
      if (thrown instanceof ApiError && thrown.status === 412) void refresh(`dataset/${dataset.id}`);
    }
    setBusy(false);
  };

  if (rows.length === 0 && !isChanged)
    return (
      <Empty
        title="No artifact types yet"
        actions={
          <Button kind="primary" icon="plus" onClick={add} blocked={blocked}>
            Add a type
          </Button>
        }
      >
        <p>
          An artifact type is a sound to find: click, hum, plosive, or any word of yours. Labels and models
          use these names.
        </p>
      </Empty>
    );
  return (
    <form class="types" onSubmit={save} noValidate>
      <ol ref={list}>
        {rows.map((row, i) => (
          <li key={row.key}>
            <TextField
              label="Name"
              isLabelHidden={i > 0}
              value={row.name}
              onValue={(name) => change(row.key, { name })}
              fault={row.name === "" && error === undefined ? undefined : faults[i]}
              maxLength={64}
              spellcheck={false}
              readOnly={blocked !== undefined}
            />
            <TextField
              label="What it sounds like"
              isLabelHidden={i > 0}
              isOptional
              value={row.description}
              onValue={(description) => change(row.key, { description })}
              maxLength={2000}
              readOnly={blocked !== undefined}
            />
            <IconButton
              icon="trash"
              label={`Remove ${row.name === "" ? "the new type" : row.name}`}
              disabled={blocked !== undefined}
              onClick={() => remove(row.key)}
            />
          </li>
        ))}
      </ol>
      {error !== undefined && (
        <Problem
          attempted="Saving the artifact types"
          error={error}
          onRetry={
            error instanceof ApiError && error.status === 412
              ? () => {
                  const theirs = rowsOf(dataset);
                  setRows(joined(theirs, base.rows, rows));
                  setBase({ rows: theirs, etag });
                  setError(undefined);
                }
              : undefined
          }
        />
      )}
      <div class="row apart">
        <Button
          icon="plus"
          onClick={add}
          blocked={blocked ?? (rows.length >= 64 ? "A dataset has at most 64 types" : undefined)}
          data-add
        >
          Add a type
        </Button>
        <span class="row">
          {isChanged && (
            <>
              <span class="small muted" role="status">
                Not saved
              </span>
              <Button onClick={() => setRows(base.rows)}>Discard</Button>
            </>
          )}
          <Button kind="primary" type="submit" isBusy={isBusy} disabled={!isChanged || isFaulty}>
            Save types
          </Button>
        </span>
      </div>
    </form>
  );
}
