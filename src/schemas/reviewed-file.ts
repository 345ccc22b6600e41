// Reviewed marks of an annotation set in REST.
import { z } from "zod";
import { id, time } from "./rest.ts";

export const reviewedFile = z
  .object({
    audio_file_id: id("Audio file that was listened to as a whole"),
    created_at: time("When it was marked"),
  })
  .meta({ id: "ReviewedFile" });
