// The log of a job, newest first.
import type { JobEvent } from "../../../client/schema.ts";
import { moment } from "../app/format.ts";
import { useResource } from "../app/resource.ts";
import { Icon } from "../components/icon.tsx";
import { Empty, Shown } from "../components/states.tsx";
import { Pager, usePage } from "../components/table.tsx";
import { Ago } from "../components/time.tsx";
import { type JobKind, jobCalls } from "./job-calls.ts";

const useJobEvents = (kind: JobKind, id: string, page: number) =>
  useResource(
    `${kind}-job/${id}/events/${page}`,
    () => jobCalls[kind].events(id, page),
    ({ data }) => data[`${kind}_job_id`] === id,
  );

export function JobLog({ kind, id }: { kind: JobKind; id: string }) {
  const page = usePage();
  const events = useJobEvents(kind, id, page);
  return (
    <Shown resource={events} what="the log of the job">
      {({ items, total, page_size }) => (
        <>
          <Pager page={page} pageSize={page_size} total={total} what="the log" />
          {items.length === 0 ? (
            <Empty isSmall title="The log is empty" />
          ) : (
            <ol class="job-log">
              {items.map((event) => (
                <Line key={event.id} event={event} />
              ))}
            </ol>
          )}
        </>
      )}
    </Shown>
  );
}

const Line = ({ event: { level, message, created_at } }: { event: JobEvent }) => (
  <li class={level}>
    <span class="faint tiny" title={moment(created_at)}>
      <Ago time={created_at} isShort />
    </span>
    <span class="break">
      {level !== "info" && <Icon name={level === "error" ? "error" : "warning"} size={14} />}
      {level !== "info" && <span class="visually-hidden">{level}: </span>}
      {message}
    </span>
  </li>
);

/** Warnings of the service about the settings of a job, which its state shows only until it runs. */
export function JobWarnings({ kind, id }: { kind: JobKind; id: string }) {
  const newest = useJobEvents(kind, id, 1);
  // They come with the creation of the job, so they are on the last page.
  const { total, page_size } = { total: 0, page_size: 1, ...newest.data };
  const oldest = useJobEvents(kind, id, Math.max(1, Math.ceil(total / page_size)));
  const warnings = (oldest.data?.items ?? []).filter(({ level }) => level === "warning");
  if (warnings.length === 0) return null;
  return (
    <div class="notice warn" role="status">
      <Icon name="warning" />
      <div class="stack-tight">
        {warnings.map(({ id: number, message }) => (
          <p key={number} class="break">
            {message}
          </p>
        ))}
      </div>
    </div>
  );
}
