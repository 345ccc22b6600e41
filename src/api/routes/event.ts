// /api/v1/events: what happened to the things of the account in the last 24 hours, as a list and as a stream of
// server-sent events.
import { listEvents, oneEventPosition } from "../../db/event.ts";
import { tooManyStreams, validationFailed, valueError } from "../../errors.ts";
import { event, listEventsQuery, streamEventsQuery, streamedEvent } from "../../schemas/event.ts";
import { listOf } from "../../schemas/rest.ts";
import { eventStream } from "../event-stream.ts";
import { type Call, defineRoute } from "../route.ts";
import { envelope, viewEvent } from "../view.ts";

const mostStreams = 10;

export const list = defineRoute({
  method: "GET",
  path: "/api/v1/events",
  operationId: "listEvents",
  summary: "List what happened in the last 24 hours, newest first",
  tag: "Events",
  query: listEventsQuery,
  answer: { status: 200, description: "One page", schema: listOf(event) },
  handler: async ({ query, tenantId, deps }) => ({
    body: envelope(await listEvents(deps.db, tenantId, query), query, viewEvent),
  }),
});

export const stream = defineRoute({
  method: "GET",
  path: "/api/v1/events/stream",
  operationId: "streamEvents",
  summary: "Receive events as they happen, as server-sent events",
  description:
    "Each event has its id; with the last one in the header Last-Event-ID a client that was away gets what it missed in " +
    "the last 24 hours. A comment comes every 15 seconds. The stream ends when the key is revoked or the service is " +
    "updated.",
  tag: "Events",
  query: streamEventsQuery,
  resumable: true,
  answer: {
    status: 200,
    description: "One event after the other, each of this form",
    schema: streamedEvent,
    contentType: "text/event-stream; charset=utf-8",
  },
  handler: async (call) => {
    const { query, tenantId, deps } = call;
    const after = await startOf(call);
    const leave = deps.live.acquire(tenantId, "stream", mostStreams);
    if (leave === null) throw tooManyStreams(mostStreams);
    return {
      stream: eventStream(call, { after, types: query.types, onEnd: leave }),
      // Proxies that collect answers before they pass them on would make a stream useless.
      headers: { "X-Accel-Buffering": "no" },
    };
  },
});

/** The number in Last-Event-ID; without the header, the newest event. */
async function startOf(call: Call): Promise<number> {
  const given = call.request.headers["last-event-id"];
  const { own, given: lastGiven } = await oneEventPosition(call.deps.db, call.tenantId);
  // A client that never got an event sends the header empty or not at all.
  if (given === undefined || given === "") return own;
  const refuse = (why: string) => validationFailed([valueError(["header", "Last-Event-ID"], why)]);
  if (typeof given !== "string" || !/^\d{1,15}$/.test(given)) throw refuse("this is not the id of an event");
  if (Number(given) > lastGiven) throw refuse("no event has this id yet");
  return Number(given);
}
