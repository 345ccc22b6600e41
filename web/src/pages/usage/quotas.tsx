// How much of each quota is used. Shown on the overview and under Settings > Usage.
import type { Usage } from "../../../../client/schema.ts";
import { bytes, count } from "../../app/format.ts";
import { Meter } from "../../components/meter.tsx";

type Quotas = Usage["quotas"];
export type QuotaName = keyof Quotas;

const names: Record<QuotaName, [label: string, note: string]> = {
  audio_bytes: ["Audio", "With pending uploads and files of inference jobs"],
  datasets: ["Datasets", ""],
  audio_files_per_dataset: ["Audio files per dataset", "In the largest dataset"],
  annotations_per_set: ["Annotations per set", "In the largest set"],
  annotation_sets: ["Annotation sets", ""],
  annotations: ["Annotations", "In all annotation sets"],
  running_training_jobs: ["Training jobs at once", "Further jobs wait"],
  waiting_training_jobs: ["Waiting training jobs", "Further jobs are refused"],
  running_inference_jobs: ["Inference jobs at once", "Further jobs wait"],
  waiting_inference_jobs: ["Waiting inference jobs", "Further jobs are refused"],
  inference_files: ["Files in inference jobs", "In all jobs that are not deleted"],
  api_keys: ["API keys", ""],
  webhooks: ["Webhooks", ""],
};

export const allQuotas = Object.keys(names) as QuotaName[];

export function QuotaList({ quotas, names: shown }: { quotas: Quotas; names: readonly QuotaName[] }) {
  return (
    <ul class="quotas">
      {shown.map((name) => (
        <Quota key={name} name={name} quota={quotas[name]} />
      ))}
    </ul>
  );
}

function Quota({ name, quota: { used, limit } }: { name: QuotaName; quota: Quotas[QuotaName] }) {
  const [label, note] = names[name];
  const write = name === "audio_bytes" ? bytes : (value: number) => count(value);
  const share = limit === null ? 0 : used / limit;
  const text = limit === null ? `${write(used)}, no limit` : `${write(used)} of ${write(limit)}`;
  return (
    <li>
      <div class="quota-text">
        <span class="strong">{label}</span>
        <span class="number">
          {write(used)}
          <span class="faint"> {limit === null ? "· no limit" : `of ${write(limit)}`}</span>
        </span>
      </div>
      {limit !== null && (
        <Meter
          label={label}
          value={used}
          max={limit}
          text={text}
          tone={share >= 1 ? "bad" : share >= 0.8 ? "warn" : "accent"}
        />
      )}
      {(note !== "" || share >= 0.8) && (
        <p class="tiny faint">
          {share >= 1 ? "Used up. " : share >= 0.8 ? "Nearly used up. " : ""}
          {note}
        </p>
      )}
    </li>
  );
}
