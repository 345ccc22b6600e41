// Exports of what is shown, in every format of the service.
import type { InferenceFile, InferenceJob } from "../../../../client/schema.ts";
import { exportApi } from "../../app/api.ts";
import { Icon } from "../../components/icon.tsx";
import { Menu } from "../../components/menu.tsx";
import { save } from "../../components/save.ts";

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
  const send = (format: (typeof ofJob | typeof ofFile)[number][0], isOneFile: boolean) => {
    const query = {
      format,
      ...(min > 0 && { min_confidence: min }),
      ...(types.length > 0 && { artifact_type: [...types] }),
      ...(isOneFile && { inference_file_id: file.id }),
    };
    const params = { path: { inference_job_id: job.id }, query };
    void save(exportApi.GET("/api/v1/inference-jobs/{inference_job_id}/export", { params, parseAs: "blob" }));
  };
  return (
    <Menu
      label="Export what is shown"
      className="button secondary"
      actions={[
        ...ofJob.map(([format, label]) => ({
          label,
          icon: "down" as const,
          run: () => send(format, false),
        })),
        ...ofFile.map(([format, label]) => ({
          label,
          icon: "audio" as const,
          run: () => send(format, true),
        })),
      ]}
    >
      <Icon name="down" />
      <span>Export</span>
    </Menu>
  );
}
