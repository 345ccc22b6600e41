// Files and refusals for the dashboard's queue of uploads. Called by test/web/uploads*.test.ts.
import { ApiError } from "../../client/error.ts";
import type { Source } from "../../web/src/uploads/queue.ts";
import { poll } from "./poll.ts";

export const until = (isTrue: () => boolean) => poll("the queue", isTrue, 10_000);

export const source = (name: string, size = 1_000): Source => ({
  name,
  path: name,
  size,
  lastModified: 1,
  bytes: new Blob([]),
});

export const apiError = (status: number, body: object) => {
  const response = new Response(null, { status });
  Object.defineProperty(response, "url", { value: "https://plosive.example.com/api/v1/x" });
  return new ApiError(response, body);
};
