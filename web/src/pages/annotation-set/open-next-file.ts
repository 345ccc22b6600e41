// Opens the editor where the labelling of a set goes on. Used by the dataset's list of sets and by the page of a set.
import { reasonOf } from "../../app/api.ts";
import { count } from "../../app/format.ts";
import { navigate } from "../../app/router.ts";
import { notify } from "../../components/toast.tsx";
import { filesOf, mostFiles, readReviewed } from "../../editor/files.ts";
import { nextUnreviewed } from "../../editor/next-file.ts";

/** The first file that nobody has reviewed; if all are, the first one. Only the oldest `mostFiles` are looked at. */
export async function openNextFile(datasetId: string, setId: string): Promise<void> {
  try {
    const [files, reviewed] = await Promise.all([filesOf(datasetId), readReviewed(datasetId, setId)]);
    const ids = files.map(({ id }) => id);
    const unreviewed = nextUnreviewed(ids, reviewed, "");
    if (unreviewed === undefined && ids.length >= mostFiles)
      return notify(`The oldest ${count(mostFiles)} files are reviewed. Choose a later one in the list.`);
    const next = unreviewed ?? ids[0];
    if (next === undefined) notify("No audio file is ready yet: upload recordings first", { tone: "bad" });
    else navigate(`/datasets/${datasetId}/sets/${setId}/files/${next}`);
  } catch (error) {
    notify(`Looking for the next file failed: ${reasonOf(error)}`, { tone: "bad" });
  }
}
