// The three kinds of jobs, the names of their custom resources and of their runs. One place for the rule
// `<prefix>-<row id>-<attempt>`; used by src/submit.ts and controllers.

export const jobKindNames = ["training", "inference", "embedding"] as const;
export type JobKind = (typeof jobKindNames)[number];

const prefixes: Record<JobKind, string> = { training: "tj", inference: "ij", embedding: "ej" };
const uuid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const runPattern = new RegExp(`^(tj|ij|ej)-(${uuid})-([1-9][0-9]{0,5})$`);
const resourcePattern = new RegExp(`^(tj|ij|ej)-(${uuid})$`);
const kindOf = (prefix: string) => jobKindNames.find((kind) => prefixes[kind] === prefix)!;

/** The name of a job's custom resource: 39 characters. */
export function resourceName(kind: JobKind, id: string): string {
  return `${prefixes[kind]}-${id}`;
}

/** The id of the row that a custom resource stands for: in its name when the service gave it, else its uid. */
export function jobIdOf(kind: JobKind, { name, uid = "" }: { name: string; uid?: string }): string {
  const named = parseResourceName(name);
  return named?.kind === kind ? named.id : uid;
}

/** The id of a run, which is the name of its Kubernetes Job. `job` is the name of resourceName(). */
export function runName(job: string, attempt: number): string {
  return `${job}-${attempt}`;
}

/** The row that a custom resource stands for; undefined for names that the service did not give. */
export function parseResourceName(name: string): { kind: JobKind; id: string } | undefined {
  const match = resourcePattern.exec(name);
  return match === null ? undefined : { kind: kindOf(match[1]!), id: match[2]! };
}

/** The parts of a run's id; undefined when it is none. */
export function parseRunName(run: string): { kind: JobKind; id: string; attempt: number } | undefined {
  const match = runPattern.exec(run);
  if (match === null) return undefined;
  return { kind: kindOf(match[1]!), id: match[2]!, attempt: Number(match[3]) };
}

/** A run and those of its job that came before it. */
export function runsUntil(run: string): string[] {
  const end = run.lastIndexOf("-");
  return Array.from({ length: Number(run.slice(end + 1)) }, (_, index) =>
    runName(run.slice(0, end), index + 1),
  );
}

/** Where things lie in the object store. */
export const keys = {
  audio: (tenant: string, audioFile: string) => `audio/${tenant}/${audioFile}`,
  embedding: (tenant: string, audioFile: string, run: string) =>
    `embeddings/${tenant}/${audioFile}/${run}.safetensors`,
  peaks: (tenant: string, audioFile: string, run: string) => `peaks/${tenant}/${audioFile}/${run}.json`,
  model: (tenant: string, trainingJob: string, run: string, file: string) =>
    `models/${tenant}/${trainingJob}/${run}/${file}`,
  checkpoint: (run: string) => `runs/${run}/checkpoint`,
  result: (run: string, shard: number) => `runs/${run}/${shard}/result.json`,
  /** All that runs made of an audio file. */
  ofAudio: (tenant: string, audioFile: string) => [
    `embeddings/${tenant}/${audioFile}/`,
    `peaks/${tenant}/${audioFile}/`,
  ],
  /** All that a training job's runs left of models. */
  ofTraining: (tenant: string, trainingJob: string) => `models/${tenant}/${trainingJob}/`,
  /** All that the runs of a job's custom resource left besides. */
  ofRuns: (resource: string) => `runs/${resource}-`,
};
