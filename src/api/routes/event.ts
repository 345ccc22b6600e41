// /api/v1/events: the events of the account in the last 24 hours, as a list and as a stream of server-sent events.
import { listEvents, oneEventPosition } from "../../db/event.ts";
import { tooManyStreams, validationFailed, valueError } from "../../errors.ts";
import { event, listEventsQuery, streamEventsQuery, streamedEvent } from "../../schemas/event.ts";
import { listOf } from "../../schemas/rest.ts";
import { eventStream } from "../event-stream.ts";
import { type Call, defineRoute } from "../route.ts";
import { listReply, viewEvent } from "../view.ts";

const mostStreams = 10;

const list = defineRoute("GET", "/api/v1/events", {
  operationId: "listEvents",
  summary: "List the events of the last 24 hours, newest first",
  query: listEventsQuery,
  reads: "all",
  answer: { status: 200, description: "One page", schema: listOf(event) },
  handler: async ({ query, tenantId, deps }) =>
    listReply(await listEvents(deps.db, tenantId, query), query, viewEvent),
});

const stream = defineRoute("GET", "/api/v1/events/stream", {
  operationId: "streamEvents",
  summary: "Receive events as they happen, as server-sent events",
  description:
    "Each event has an id. A client that reconnects with its last id in the header Last-Event-ID receives the events that " +
    "it missed in the last 24 hours. The stream has a comment every 15 seconds. It ends when the key is revoked or the " +
    "service is updated.",
  query: streamEventsQuery,
  resumable: true,
  answer: {
    status: 200,
    description: "A sequence of events of this form",
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
      // Tells proxies such as nginx not to buffer the stream.
      headers: { "X-Accel-Buffering": "no" },
    };
  },
});

/** Returns the id in Last-Event-ID; without the header, the id of the newest event. Throws validationFailed. */
async function startOf(call: Call): Promise<number> {
  const given = call.request.headers["last-event-id"];
  const { own, given: lastGiven } = await oneEventPosition(call.deps.db, call.tenantId);
  // A client that has not received any event sends an empty header or none.
  if (given === undefined || given === "") return own;
  const refuse = (why: string) => validationFailed([valueError(["header", "Last-Event-ID"], why)]);
  if (typeof given !== "string" || !/^\d{1,15}$/.test(given)) throw refuse("this is not the id of an event");
  if (Number(given) > lastGiven) throw refuse("no event has this id yet");
  return Number(given);
}

export const routes = [list, stream];
