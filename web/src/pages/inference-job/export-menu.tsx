// Exports of what is shown, in every format of the service.
import type { InferenceFile, InferenceJob } from "../../../../client/schema.ts";
import { dashboardUrl } from "../../app/base.ts";
import { Icon } from "../../components/icon.tsx";
import { Menu } from "../../components/menu.tsx";

const ofJob = [
  ["json", "JSON"],
  ["csv", "CSV"],
  ["dcase", "DCASE list"],
  ["annotation-tool", "For Label Studio"],
] as const;

/** The times in these refer to one recording. */
const ofFile = [
  ["audacity", "Audacity labels of this file"],
  ["webvtt", "WebVTT of this file"],
] as const;

export function ExportMenu({
  job,
  file,
  min,
  types,
}: {
  job: InferenceJob;
  file: InferenceFile;
  min: number;
  /** Only these; empty: all. */
  types: readonly string[];
}) {
  const save = (format: string, isOneFile: boolean) => {
    const query = new URLSearchParams({ format });
    if (min > 0) query.set("min_confidence", String(min));
    for (const type of types) query.append("artifact_type", type);
    if (isOneFile) query.set("inference_file_id", file.id);
    const link = document.createElement("a");
    link.href = `${dashboardUrl}/api/v1/inference-jobs/${job.id}/export?${query}`;
    // An answer that is an error is saved too, instead of taking the place of this page.
    link.download = "";
    link.click();
  };
  return (
    <Menu
      label="Export what is shown"
      className="button secondary"
      actions={[
        ...ofJob.map(([format, label]) => ({
          label,
          icon: "down" as const,
          run: () => save(format, false),
        })),
        ...ofFile.map(([format, label]) => ({
          label,
          icon: "audio" as const,
          run: () => save(format, true),
        })),
      ]}
    >
      <Icon name="down" />
      <span>Export</span>
    </Menu>
  );
}
