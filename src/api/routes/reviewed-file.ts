// .../annotation-sets/{annotation_set_id}/reviewed: the reviewed files of a set. Training treats the unlabelled parts
// of a reviewed file as free of artifacts. A file with a label counts as reviewed without being marked.
import { z } from "zod";
import { lockDraft, oneAnnotationSet } from "../../db/annotation-set.ts";
import { lengthsOfAudio } from "../../db/audio-file.ts";
import { deleteReviewed, insertReviewed, isReviewed, listReviewed } from "../../db/reviewed-file.ts";
import { audioFileNotFound, audioNotReady } from "../../errors.ts";
import { id, listOf, pageQuery } from "../../schemas/rest.ts";
import { reviewedFile } from "../../schemas/reviewed-file.ts";
import { etagOfSet } from "../conditional.ts";
import { defineRoute } from "../route.ts";
import { listReply, viewOf } from "../view.ts";
import { setEtagHeader } from "./annotation.ts";
import { changesDraft, inSet, placeOf } from "./annotation-set.ts";

const base = "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/reviewed";
const params = inSet.extend({ audio_file_id: id("Id of the audio file") });

const list = defineRoute("GET", base, {
  operationId: "listReviewedFiles",
  summary: "List the files that are marked as reviewed",
  description: "Files with annotations count as reviewed too, but the list contains only marked files.",
  params: inSet,
  query: z.object(pageQuery),
  reads: "all",
  answer: { status: 200, description: "One page", schema: listOf(reviewedFile) },
  handler: async (call) => {
    const { query, deps } = call;
    const place = placeOf(call);
    await oneAnnotationSet(deps.db, place);
    return listReply(await listReviewed(deps.db, place, query), query, viewOf(reviewedFile));
  },
});

const mark = defineRoute("PUT", `${base}/{audio_file_id}`, {
  operationId: "markReviewedFile",
  summary: "Mark a file as reviewed: its unlabelled parts are free of artifacts",
  params,
  answer: { status: 204, description: "The file is marked" },
  ...changesDraft,
  conflicts: [...changesDraft.conflicts, "audio_not_ready"],
  handler: async (call) => {
    const { params, tenantId, deps } = call;
    const [place, fileId] = [placeOf(call), params.audio_file_id];
    const revision = await deps.db.transaction(async (tx) => {
      const readLength = async () => {
        const length = (await lengthsOfAudio(tx, tenantId, params.dataset_id, [fileId])).get(fileId);
        if (length === undefined) throw audioFileNotFound();
        return length;
      };
      const counted = await lockDraft(tx, place, { check: readLength });
      if ((await readLength()) === "not uploaded")
        throw audioNotReady("The audio file has not been uploaded and confirmed yet");
      await insertReviewed(tx, place, fileId);
      return counted;
    });
    return { headers: { [setEtagHeader]: etagOfSet(revision) } };
  },
});

const unmark = defineRoute("DELETE", `${base}/{audio_file_id}`, {
  operationId: "unmarkReviewedFile",
  summary: "Remove the mark of a reviewed file",
  params,
  answer: { status: 204, description: "The file is no longer marked" },
  ...changesDraft,
  handler: async (call) => {
    const [place, fileId] = [placeOf(call), call.params.audio_file_id];
    const revision = await call.deps.db.transaction(async (tx) => {
      const check = async () => {
        if (!(await isReviewed(tx, place, fileId))) throw audioFileNotFound();
      };
      const counted = await lockDraft(tx, place, { check });
      if (!(await deleteReviewed(tx, place, fileId))) throw audioFileNotFound();
      return counted;
    });
    return { headers: { [setEtagHeader]: etagOfSet(revision) } };
  },
});

export const routes = [list, mark, unmark];
