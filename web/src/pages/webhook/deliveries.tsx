// The deliveries of a webhook. Nothing tells a page about them, so the list is read again while one is pending.
import { useEffect } from "preact/hooks";
import type { Webhook, WebhookDelivery } from "../../../../client/schema.ts";
import { api, body, reasonOf } from "../../app/api.ts";
import { refresh, useResource } from "../../app/resource.ts";
import { query, setQuery } from "../../app/router.ts";
import { oneOf } from "../../app/table-state.ts";
import { uniqueName } from "../../app/unique.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { CopyText } from "../../components/copy.tsx";
import { Select } from "../../components/field.tsx";
import { Empty, Shown } from "../../components/states.tsx";
import { type Column, Pager, Table, usePage } from "../../components/table.tsx";
import { Ago } from "../../components/time.tsx";
import { notify } from "../../components/toast.tsx";

const pageSize = 50;
const statuses = ["pending", "delivered", "failed"] as const;
const statusWords = { pending: "Pending", delivered: "Delivered", failed: "Given up" } as const;

const errorWords: Record<NonNullable<WebhookDelivery["last_error"]>, string> = {
  status: "The receiver answered with an error",
  redirect: "The receiver redirected; redirects are not followed",
  timeout: "The receiver did not answer in 15 seconds",
  address: "The name has a private or unknown address",
  connection: "No connection to the receiver",
  tls: "The certificate of the receiver is not valid",
  protocol: "The answer is not valid HTTP",
  secret: "The signing secret cannot be read: rotate it",
  webhook_disabled: "The webhook was disabled",
};

export function Deliveries({ webhook }: { webhook: Webhook }) {
  const page = usePage();
  const status = oneOf(query.value.get("status"), statuses);
  const request = { page, page_size: pageSize, ...(status === undefined ? {} : { status: [status] }) };
  const list = useResource(
    `webhook/${webhook.id}/deliveries?${JSON.stringify(request)}`,
    () =>
      body(
        api.GET("/api/v1/webhooks/{webhook_id}/deliveries", {
          params: { path: { webhook_id: webhook.id }, query: request },
        }),
      ),
    () => true,
  );
  const isPending =
    list.data?.items.some((delivery) => delivery.status === "pending" && isSoon(delivery)) === true;
  useEffect(() => {
    if (!isPending) return;
    const timer = setInterval(() => {
      if (!document.hidden) void list.reload();
    }, 4_000);
    return () => clearInterval(timer);
  }, [isPending, list.reload]);
  return (
    <section aria-labelledby="deliveries">
      <div class="row apart section-title">
        <h2 id="deliveries">Deliveries</h2>
        <span class="row">
          <Select
            label="Status"
            isLabelHidden
            value={status ?? ""}
            onValue={(next) => setQuery({ status: next, page: undefined })}
          >
            <option value="">All statuses</option>
            {statuses.map((name) => (
              <option key={name} value={name}>
                {statusWords[name]}
              </option>
            ))}
          </Select>
          <Pager page={page} pageSize={pageSize} total={list.data?.total ?? 0} what="the deliveries" />
        </span>
      </div>
      <Shown resource={list} what="the deliveries">
        {({ items }) =>
          items.length === 0 ? (
            <Empty isSmall title={status === undefined ? "No deliveries yet" : "No such deliveries"}>
              <p>
                Each event that is sent to the receiver appears here, until 7 days after its end. Send a test
                event to see one.
              </p>
            </Empty>
          ) : (
            <Table
              caption="Deliveries"
              columns={columns}
              rows={items}
              keyOf={({ id }) => id}
              isOld={list.isOther}
            />
          )
        }
      </Shown>
    </section>
  );
}

/** Its next attempt is within a minute. */
const isSoon = ({ next_attempt_at: at }: WebhookDelivery) =>
  at === null || Date.parse(at) - Date.now() < 60_000;

const columns: readonly Column<WebhookDelivery>[] = [
  {
    id: "type",
    header: "Event",
    isFlexible: true,
    cell: ({ type, message_id }) => (
      <span class="stack-tight">
        <span class="mono break">{type}</span>
        <CopyText text={message_id} shown={`${message_id.slice(0, 12)}…`} what="webhook-id" />
      </span>
    ),
  },
  {
    id: "status",
    header: "Status",
    isFlexible: true,
    cell: ({ status, last_status, last_error, next_attempt_at }) => (
      <span class="stack-tight">
        <span>
          <Badge tone={status === "delivered" ? "good" : status === "failed" ? "bad" : "busy"}>
            {statusWords[status]}
            {last_status !== null && <span class="number"> · {last_status}</span>}
          </Badge>
        </span>
        {last_error !== null && <span class="small muted">{errorWords[last_error]}</span>}
        {status === "pending" && next_attempt_at !== null && (
          <span class="small faint">
            {Date.parse(next_attempt_at) > Date.now() ? (
              <>
                Next attempt <Ago time={next_attempt_at} />
              </>
            ) : (
              "Waits to be sent"
            )}
          </span>
        )}
      </span>
    ),
  },
  { id: "attempts", header: "Attempts", isNumber: true, cell: ({ attempts }) => attempts },
  { id: "created", header: "Created", cell: ({ created_at }) => <Ago time={created_at} /> },
  {
    id: "tools",
    header: "Actions",
    isHeaderHidden: true,
    cell: (delivery) => (
      <Button isSmall icon="retry" onClick={() => void redeliver(delivery)}>
        Send again
      </Button>
    ),
  },
];

async function redeliver({ webhook_id, id }: WebhookDelivery): Promise<void> {
  try {
    await body(
      api.POST("/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver", {
        params: { path: { webhook_id, delivery_id: id }, header: { "Idempotency-Key": uniqueName() } },
      }),
    );
    notify("The delivery is sent again");
    await refresh(`webhook/${webhook_id}/deliveries`);
  } catch (error) {
    notify(`Sending again failed: ${reasonOf(error)}`, { tone: "bad" });
  }
}
