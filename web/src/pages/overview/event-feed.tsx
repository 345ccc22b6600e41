// The last events of the account, newest first. New ones come from the stream.
import { useEffect, useState } from "preact/hooks";
import { api, body } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { onEvents, type ServiceEvent } from "../../app/live.ts";
import { useResource } from "../../app/resource.ts";
import { CopyText } from "../../components/copy.tsx";
import { Empty, Shown } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";
import { placeOf, wordsOf } from "./event-words.ts";

const most = 20;

export function EventFeed() {
  const past = useResource("events", () =>
    body(api.GET("/api/v1/events", { params: { query: { page_size: most } } })),
  );
  const [fresh, setFresh] = useState<readonly ServiceEvent[]>([]);
  useEffect(
    () =>
      onEvents(
        (event) => setFresh((known) => [event, ...known].slice(0, most)),
        () => void past.reload(),
      ),
    [],
  );
  return (
    <Shown resource={past} what="the events" lines={6}>
      {({ items }) => {
        const newest = fresh.filter(({ id }) => !items.some((item) => item.id === id));
        const shown = [...newest, ...items].sort((a, b) => b.id - a.id).slice(0, most);
        if (shown.length === 0)
          return (
            <Empty isSmall title="No events in the last 24 hours">
              <p>Uploads, jobs, models and keys report here.</p>
            </Empty>
          );
        return (
          <ol class="feed">
            {shown.map((event) => (
              <Line key={event.id} event={event} isNew={newest.includes(event)} />
            ))}
          </ol>
        );
      }}
    </Shown>
  );
}

function Line({ event, isNew }: { event: ServiceEvent; isNew: boolean }) {
  const { noun, verb, tone } = wordsOf(event.type);
  const place = placeOf(event.type, event.data);
  const percent = event.data.progress_percent;
  return (
    <li class={isNew ? "is-new" : undefined}>
      <span class={`feed-mark ${tone}`} aria-hidden="true" />
      <span class="feed-text">
        {place?.to === undefined ? noun : <a href={href(place.to)}>{noun}</a>}{" "}
        <span class={tone === "bad" ? "bad-text" : "muted"}>{verb}</span>
        {event.type.endsWith(".progress") && typeof percent === "number" && (
          <span class="number"> {percent} %</span>
        )}
      </span>
      <span class="feed-end">
        {place !== undefined && (
          <CopyText
            text={place.id}
            shown={`…${place.id.slice(-6)}`}
            what={`id of the ${noun.toLowerCase()}`}
          />
        )}
        <span class="faint tiny">
          <Ago time={event.timestamp} isShort />
        </span>
      </span>
    </li>
  );
}
