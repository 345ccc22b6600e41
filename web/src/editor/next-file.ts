// Which file of a set comes next. Pure.
import type { AudioFile } from "../../../client/schema.ts";

type File = Pick<AudioFile, "id" | "created_at">;

/**
 * The first file behind the present one that is not reviewed; from the beginning if there is none behind it. `files` reads a
 * dataset's files from a time on, oldest first, and no further than the search goes.
 */
export async function nextUnreviewed(
  files: (createdAfter?: string) => AsyncIterable<File>,
  reviewed: ReadonlySet<string>,
  present?: File,
): Promise<string | undefined> {
  if (present !== undefined) {
    let isBehind = false;
    for await (const { id } of files(present.created_at)) {
      if (isBehind && !reviewed.has(id)) return id;
      isBehind ||= id === present.id;
    }
  }
  for await (const { id } of files()) {
    if (id === present?.id) break;
    if (!reviewed.has(id)) return id;
  }
  return undefined;
}
