// Opens the editor where the labelling of a set goes on. Used by the dataset's list of sets and by the page of a set.
import { reasonOf } from "../../app/api.ts";
import { here, navigate } from "../../app/router.ts";
import { notify } from "../../components/toast.tsx";
import { readReviewed, readyFiles } from "../../editor/files.ts";
import { nextUnreviewed } from "../../editor/next-file.ts";

/** The first file that nobody has reviewed; if all are, the first one. */
export async function openNextFile(datasetId: string, setId: string): Promise<void> {
  const isHere = here();
  const files = () => readyFiles(datasetId, undefined, isHere);
  try {
    const reviewed = await readReviewed(datasetId, setId);
    const next = (await nextUnreviewed(files, reviewed)) ?? (await nextUnreviewed(files, new Set()));
    if (!isHere()) return;
    if (next === undefined) notify("No audio file is ready yet: upload recordings first", { tone: "bad" });
    else navigate(`/datasets/${datasetId}/sets/${setId}/files/${next}`);
  } catch (error) {
    notify(`Looking for the next file failed: ${reasonOf(error)}`, { tone: "bad" });
  }
}
