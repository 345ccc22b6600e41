// The list of the jobs of one kind: filters in the address, live. Used by the pages of training and inference jobs.
import type { ComponentChildren, VNode } from "preact";
import type { ServiceEvent } from "../app/live.ts";
import { type Resource, useResource } from "../app/resource.ts";
import { navigate, query, setQuery } from "../app/router.ts";
import { missing } from "../app/session.ts";
import { useShortcut } from "../app/shortcuts.ts";
import { Button } from "../components/button.tsx";
import { Select } from "../components/field.tsx";
import { Empty, Shown } from "../components/states.tsx";
import { type Column, Pager, Table, usePage, useSort } from "../components/table.tsx";
import { Page } from "../shell/page.tsx";
import type { Job } from "./job-state.tsx";
import type { JobStatus } from "./status.ts";
import { StatusFilter, useStatuses } from "./status-filter.tsx";

const pageSize = 50;

interface Named {
  readonly id: string;
  readonly name: string;
}

export interface JobListRequest {
  readonly page: number;
  readonly page_size: number;
  readonly status?: JobStatus[];
  readonly order?: "asc";
}

interface Props<J extends Job> {
  readonly title: string;
  readonly note: string;
  /** What a job is called in sentences, such as "training". */
  readonly noun: string;
  readonly caption: string;
  /** The button, and the path of the page, that start a job. */
  readonly start: string;
  readonly startPath: string;
  /** The filter beside the one by state; its choice is kept in the address as `name`. */
  readonly filter: {
    readonly name: string;
    readonly label: string;
    readonly all: string;
    readonly options: Resource<{ readonly items: readonly Named[] }>;
  };
  /** `chosen`: the id that the filter asks for; undefined: all. */
  readonly load: (
    request: JobListRequest,
    chosen: string | undefined,
  ) => Promise<{ readonly items: readonly J[]; readonly total: number }>;
  readonly isConcerned: (event: ServiceEvent) => boolean;
  readonly columns: readonly Column<J>[];
  /** Shown while the account has no such job. */
  readonly empty: (startButton: VNode) => ComponentChildren;
}

export function JobList<J extends Job>(props: Props<J>) {
  const { title, note, noun, caption, start, startPath, filter, load, isConcerned, columns, empty } = props;
  const page = usePage();
  const { choice, wanted } = useStatuses();
  const chosen = query.value.get(filter.name) ?? "";
  const sort = useSort(["created"], { column: "created", isDescending: true });
  const request: JobListRequest = {
    page,
    page_size: pageSize,
    ...(wanted === undefined ? {} : { status: wanted }),
    ...(sort.isDescending ? {} : { order: "asc" }),
  };
  const list = useResource(
    `${startPath}?${JSON.stringify([request, chosen])}`,
    () => load(request, chosen === "" ? undefined : chosen),
    isConcerned,
  );
  const blocked = missing("write");
  const begin = () => navigate(startPath);
  useShortcut(blocked === undefined ? "c" : undefined, start, begin);
  const isFiltered = choice !== "" || chosen !== "";
  const isNew = list.data?.total === 0 && !isFiltered && page === 1 && !list.isOther;
  const what = `the ${caption.toLowerCase()}`;
  const button = (
    <Button kind="primary" icon="plus" onClick={begin} blocked={blocked}>
      {start}
    </Button>
  );
  return (
    <Page title={title} note={note} actions={isNew ? undefined : button}>
      {!isNew && (
        <div class="row apart toolbar">
          <div class="row">
            <StatusFilter choice={choice} />
            <Select
              label={filter.label}
              isLabelHidden
              value={chosen}
              onValue={(id) => setQuery({ [filter.name]: id, page: undefined })}
            >
              <option value="">{filter.all}</option>
              {filter.options.data?.items.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </Select>
          </div>
          <Pager page={page} pageSize={pageSize} total={list.data?.total ?? 0} what={what} />
        </div>
      )}
      <Shown resource={list} what={what}>
        {({ items }) =>
          items.length > 0 ? (
            <Table
              caption={caption}
              columns={columns}
              serverSorted={["created"]}
              rows={items}
              keyOf={({ id }) => id}
              sort={sort}
              isOld={list.isOther}
            />
          ) : isNew ? (
            empty(button)
          ) : (
            <Empty
              isSmall
              title={`No ${noun} fits the filters`}
              actions={
                <Button
                  onClick={() => setQuery({ status: undefined, [filter.name]: undefined, page: undefined })}
                >
                  Show all {noun}s
                </Button>
              }
            />
          )
        }
      </Shown>
    </Page>
  );
}
