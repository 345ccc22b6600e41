// How many uploads are under way, for the navigation. A file of its own, so that the uploads themselves are loaded only
// with their page.
import { signal } from "@preact/signals";

export interface UploadSummary {
  readonly datasetId: string | undefined;
  readonly active: number;
  readonly failed: number;
}

export const uploadSummary = signal<UploadSummary>({ datasetId: undefined, active: 0, failed: 0 });
