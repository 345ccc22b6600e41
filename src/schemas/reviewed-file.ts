// Reviewed files of an annotation set in REST.
import { z } from "zod";
import { id, time } from "./rest.ts";

export const reviewedFile = z
  .object({
    audio_file_id: id("Audio file that somebody listened to from start to end"),
    created_at: time("When the file was marked as reviewed"),
  })
  .meta({ id: "ReviewedFile" });
