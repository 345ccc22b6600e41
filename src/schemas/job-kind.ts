// The three job kinds, the names of their custom resources and runs (`<prefix>-<row id>-<attempt>`), and the keys of
// their objects in the object store. Used by src/submit.ts and controllers.

export const jobKindNames = ["training", "inference", "embedding"] as const;
export type JobKind = (typeof jobKindNames)[number];

const prefixes: Record<JobKind, string> = { training: "tj", inference: "ij", embedding: "ej" };
const uuid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const runPattern = new RegExp(`^(tj|ij|ej)-(${uuid})-([1-9][0-9]{0,5})$`);
const resourcePattern = new RegExp(`^(tj|ij|ej)-(${uuid})$`);
const kindOf = (prefix: string) => jobKindNames.find((kind) => prefixes[kind] === prefix)!;

/** Returns the name of a job's custom resource: 39 characters. */
export function resourceName(kind: JobKind, id: string): string {
  return `${prefixes[kind]}-${id}`;
}

/**
 * Returns the id of a custom resource's row. A name that the service gave contains the id; otherwise the id is the uid.
 */
export function jobIdOf(kind: JobKind, { name, uid = "" }: { name: string; uid?: string }): string {
  const named = parseResourceName(name);
  return named?.kind === kind ? named.id : uid;
}

/** Returns the id of a run, which is also the name of its Kubernetes Job. `job` is the result of resourceName(). */
export function runName(job: string, attempt: number): string {
  return `${job}-${attempt}`;
}

/** Returns the kind and row id in a custom resource's name; undefined for a name that the service did not give. */
export function parseResourceName(name: string): { kind: JobKind; id: string } | undefined {
  const match = resourcePattern.exec(name);
  return match === null ? undefined : { kind: kindOf(match[1]!), id: match[2]! };
}

/** Splits the id of a run into its parts; undefined for any other text. */
export function parseRunName(run: string): { kind: JobKind; id: string; attempt: number } | undefined {
  const match = runPattern.exec(run);
  if (match === null) return undefined;
  return { kind: kindOf(match[1]!), id: match[2]!, attempt: Number(match[3]) };
}

/** Returns the names of all runs of a job up to and including `run`. */
export function runsUntil(run: string): string[] {
  const end = run.lastIndexOf("-");
  return Array.from({ length: Number(run.slice(end + 1)) }, (_, index) =>
    runName(run.slice(0, end), index + 1),
  );
}

/** Keys and key prefixes in the object store. */
export const keys = {
  audio: (tenant: string, audioFile: string) => `audio/${tenant}/${audioFile}`,
  embedding: (tenant: string, audioFile: string, run: string) =>
    `embeddings/${tenant}/${audioFile}/${run}.safetensors`,
  peaks: (tenant: string, audioFile: string, run: string) => `peaks/${tenant}/${audioFile}/${run}.json`,
  model: (tenant: string, trainingJob: string, run: string, file: string) =>
    `models/${tenant}/${trainingJob}/${run}/${file}`,
  checkpoint: (run: string) => `runs/${run}/checkpoint`,
  result: (run: string, shard: number) => `runs/${run}/${shard}/result.json`,
  /** Prefixes of everything that runs derived from an audio file. */
  ofAudio: (tenant: string, audioFile: string) => [
    `embeddings/${tenant}/${audioFile}/`,
    `peaks/${tenant}/${audioFile}/`,
  ],
  /** Prefix of the model files of all runs of a training job. */
  ofTraining: (tenant: string, trainingJob: string) => `models/${tenant}/${trainingJob}/`,
  /** Prefix of the other objects (checkpoints, results) of all runs of a custom resource. */
  ofRuns: (resource: string) => `runs/${resource}-`,
};
