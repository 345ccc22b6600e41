// One random sequence: two clients concurrently annotate, edit, mark, copy, publish and delete in the same dataset and
// record the answers. Called by sequences.test.ts, which then compares them with the database; test/chaos uses
// randomOf.
import { poll } from "../support/poll.ts";
import { send } from "./send.ts";

/** Returns numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface Place {
  readonly url: string;
  readonly key: string;
  readonly datasetId: string;
  readonly audioFileIds: readonly string[];
}

/** A value that was written to an annotation, and when; `ended` is the time of the answer. */
export interface Write {
  readonly startMs: number;
  readonly began: number;
  readonly ended: number;
}

/** The answers to the clients of one sequence. */
export interface Notes {
  readonly requests: { method: string; path: string; status: number; text: string }[];
  /** By id: the set, and all successful writes. */
  readonly annotations: Map<string, { setId: string; writes: Write[]; isDeleted: boolean }>;
  /** By id: the version, the number of copied annotations, whether the set was deleted, and its publication. */
  readonly sets: Map<string, SetNotes>;
}

export interface SetNotes {
  readonly version: number;
  readonly copied: number;
  isDeleted: boolean;
  /** The answer to the publication, and the complete set with its marks right after it. */
  published?: { answer: Record<string, unknown>; document: string };
}

const lengthMs = 7;

export async function playSequence(place: Place, seed: number, steps: number): Promise<Notes> {
  const notes: Notes = { requests: [], annotations: new Map(), sets: new Map() };
  const first = client(place, notes, randomOf(seed));
  await first.createSet();
  await Promise.all(
    [first, client(place, notes, randomOf(seed + 0x9e3779b9))].map(async (each) => {
      for (let step = 0; step < steps; step++) await each.step();
    }),
  );
  return notes;
}

/** The other sequences of the account may hold its share of the large reads for longer than this one waits. */
export const isOverShare = (status: number, text: string) =>
  status === 429 &&
  /requests that read very many rows|exports and whole annotation sets/.test(JSON.parse(text).detail);

/** The set with its annotations and its marks, as text. Asks again when other sequences of the account hold its share. */
export async function documentOf(place: Place, setId: string): Promise<string> {
  const path = `/api/v1/datasets/${place.datasetId}/annotation-sets/${setId}`;
  const read = (part: string) =>
    poll(`a share for ${part}`, async () => {
      const answer = await send(place.url, "GET", part, [["X-API-Key", place.key]]);
      return isOverShare(answer.status, answer.text) ? null : answer;
    });
  const parts = await Promise.all([path, `${path}/reviewed`].map(read));
  return parts.map((part) => `${part.status} ${part.text}`).join("\n");
}

function client(place: Place, notes: Notes, random: () => number) {
  const sets = `/api/v1/datasets/${place.datasetId}/annotation-sets`;
  const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];

  const ask = async (method: string, path: string, body?: object) => {
    const began = performance.now();
    const headers: [string, string][] = [["X-API-Key", place.key]];
    if (body !== undefined) headers.push(["Content-Type", "application/json"]);
    const answer = await send(place.url, method, path, headers, body && JSON.stringify(body));
    notes.requests.push({ method, path, status: answer.status, text: answer.text });
    const json = answer.status < 300 && answer.text !== "" ? JSON.parse(answer.text) : undefined;
    return { status: answer.status, json, began, ended: performance.now() };
  };
  const label = () => {
    const startMs = Math.floor(random() * 50_000);
    return {
      audio_file_id: pick(place.audioFileIds)!,
      artifact_type: random() < 0.5 ? "click" : "hum",
      start_ms: startMs,
      end_ms: startMs + lengthMs,
    };
  };
  const note = (setId: string, json: { id: string; start_ms: number }, began: number, ended: number) => {
    const known = notes.annotations.get(json.id) ?? { setId, writes: [], isDeleted: false };
    known.writes.push({ startMs: json.start_ms, began, ended });
    notes.annotations.set(json.id, known);
  };

  const createSet = async (fromId?: string) => {
    const body = fromId === undefined ? undefined : { from_annotation_set_id: fromId };
    const { status, json } = await ask("POST", sets, body);
    if (status === 201)
      notes.sets.set(json.id, { version: json.version, copied: json.total_annotations, isDeleted: false });
  };
  const annotate = async (setId: string) => {
    const { status, json, began, ended } = await ask("POST", `${sets}/${setId}/annotations`, label());
    if (status === 201) note(setId, json, began, ended);
  };
  const bulk = async (setId: string) => {
    const annotations = Array.from({ length: 1 + Math.floor(random() * 5) }, label);
    const { status, json, began, ended } = await ask("POST", `${sets}/${setId}/annotations/bulk`, {
      annotations,
    });
    if (status === 201) for (const item of json.items) note(setId, item, began, ended);
  };
  const edit = async () => {
    const [id, known] = pick([...notes.annotations]) ?? [];
    if (id === undefined || known === undefined) return;
    const { start_ms, end_ms } = label();
    const path = `${sets}/${known.setId}/annotations/${id}`;
    const { status, json, began, ended } = await ask("PATCH", path, { start_ms, end_ms });
    if (status === 200) note(known.setId, json, began, ended);
  };
  const erase = async () => {
    const [id, known] = pick([...notes.annotations]) ?? [];
    if (id === undefined || known === undefined) return;
    const { status } = await ask("DELETE", `${sets}/${known.setId}/annotations/${id}`);
    if (status === 204) known.isDeleted = true;
  };
  const mark = async (setId: string) => {
    const method = random() < 0.7 ? "PUT" : "DELETE";
    await ask(method, `${sets}/${setId}/reviewed/${pick(place.audioFileIds)}`);
  };
  const publish = async (setId: string) => {
    const { status, json } = await ask("POST", `${sets}/${setId}/publish`);
    if (status !== 200) return;
    const document = await documentOf(place, setId);
    notes.sets.get(setId)!.published = { answer: json, document };
  };
  const eraseSet = async (setId: string) => {
    const { status } = await ask("DELETE", `${sets}/${setId}`);
    if (status === 204) notes.sets.get(setId)!.isDeleted = true;
  };

  return {
    createSet,
    step: async () => {
      const setId = pick([...notes.sets.keys()])!;
      const dice = random();
      if (dice < 0.22) await annotate(setId);
      else if (dice < 0.42) await bulk(setId);
      else if (dice < 0.56) await edit();
      else if (dice < 0.66) await erase();
      else if (dice < 0.74) await mark(setId);
      else if (dice < 0.84) await publish(setId);
      else if (dice < 0.93) await createSet(random() < 0.8 ? setId : undefined);
      else if (dice < 0.96) await eraseSet(setId);
      else await ask("GET", `${sets}/${setId}`);
    },
  };
}
