// What to know before a set is published: what would be refused afterwards. Pure.
import type { AnnotationSet, Dataset } from "../../../../client/schema.ts";
import { plural } from "../../app/format.ts";

export function cautionsOf(
  { artifact_types: types }: Pick<Dataset, "artifact_types">,
  set: Pick<AnnotationSet, "total_annotations" | "annotations_by_type">,
  filesWithUnsaved: number,
): readonly string[] {
  const unlabelled = types
    .map(({ name }) => name)
    .filter((name) => !((set.annotations_by_type[name] ?? 0) > 0));
  return [
    set.total_annotations === 0
      ? "The set is empty. It can be published, but every training on it is refused."
      : unlabelled.length > 0
        ? `It has no annotations of ${unlabelled.join(", ")}. Trainings that ask for ${unlabelled.length === 1 ? "this type" : "these types"} are refused.`
        : "",
    filesWithUnsaved > 0
      ? `This browser has changes of ${plural(filesWithUnsaved, "file")} that are not saved. They are refused after the publication: open the set's files first.`
      : "",
  ].filter((text) => text !== "");
}
