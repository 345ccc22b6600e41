// Settings > Webhooks: the list, and the dialog that creates one.
import { useMemo, useState } from "preact/hooks";
import type { Webhook, WebhookWithSecret } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { plural } from "../../app/format.ts";
import { refresh, useResource } from "../../app/resource.ts";
import { query, setQuery } from "../../app/router.ts";
import { missing } from "../../app/session.ts";
import { useShortcut } from "../../app/shortcuts.ts";
import { uniqueName } from "../../app/unique.ts";
import { Button } from "../../components/button.tsx";
import { FormDialog } from "../../components/dialog.tsx";
import { Secret } from "../../components/secret.tsx";
import { Empty, Shown } from "../../components/states.tsx";
import { type Column, Pager, Table, usePage } from "../../components/table.tsx";
import { Ago } from "../../components/time.tsx";
import { Page } from "../../shell/page.tsx";
import { useWebhookInput } from "./webhook-form.tsx";
import { WebhookState } from "./webhook-state.tsx";

const pageSize = 50;

const columns: readonly Column<Webhook>[] = [
  {
    id: "url",
    header: "Receiver",
    isFlexible: true,
    cell: ({ id, url, description }) => (
      <span class="stack-tight">
        <a class="row-link break" href={href(`/settings/webhooks/${id}`)}>
          {url}
        </a>
        {description !== "" && <span class="small faint break">{description}</span>}
      </span>
    ),
  },
  {
    id: "types",
    header: "Events",
    cell: ({ types }) => (
      <span class="muted" title={types.join(", ")}>
        {types.length === 0 ? "All" : plural(types.length, "type")}
      </span>
    ),
  },
  { id: "state", header: "Status", cell: (webhook) => <WebhookState webhook={webhook} /> },
  { id: "created", header: "Created", cell: ({ created_at }) => <Ago time={created_at} /> },
];

export default function Webhooks() {
  const page = usePage();
  const blocked = missing("admin");
  const list = useResource(
    `webhooks/${page}`,
    () => body(api.GET("/api/v1/webhooks", { params: { query: { page, page_size: pageSize } } })),
    ({ type }) => type.startsWith("webhook."),
  );
  const [made, setMade] = useState<WebhookWithSecret>();
  const isCreating = query.value.get("new") === "1" && blocked === undefined;
  const create = () => setQuery({ new: "1" });
  useShortcut(blocked === undefined ? "c" : undefined, "Create a webhook", create);
  const button = (
    <Button kind="primary" icon="plus" onClick={create} blocked={blocked}>
      Create webhook
    </Button>
  );
  return (
    <Page
      title="Webhooks"
      crumbs={[{ label: "Settings" }]}
      note="Plosive tells your own service what happens, by signed POST requests in the format of Standard Webhooks."
      actions={list.data?.total === 0 ? undefined : button}
    >
      {made && (
        <Secret
          title="Copy the signing secret now"
          text={made.secret}
          what="signing secret"
          onDone={() => setMade(undefined)}
        >
          Your receiver verifies each request with it. It is not shown again.
        </Secret>
      )}
      {blocked !== undefined ? (
        <Empty isSmall title="Your key may not manage webhooks">
          <p>{blocked}. Sign in with a key that has it.</p>
        </Empty>
      ) : (
        <Shown resource={list} what="the webhooks">
          {({ items, total }) =>
            items.length === 0 ? (
              <Empty title="No webhooks yet" actions={button}>
                <p>
                  Create one to hear when a file is embedded, a training ends or a model is ready, without
                  asking.
                </p>
              </Empty>
            ) : (
              <>
                <Table caption="Webhooks" columns={columns} rows={items} keyOf={({ id }) => id} />
                <Pager page={page} pageSize={pageSize} total={total} what="the webhooks" />
              </>
            )
          }
        </Shown>
      )}
      {isCreating && (
        <Create
          onClose={() => setQuery({ new: undefined })}
          onMade={(webhook) => {
            setMade(webhook);
            setQuery({ new: undefined });
          }}
        />
      )}
    </Page>
  );
}

function Create({ onClose, onMade }: { onClose: () => void; onMade: (made: WebhookWithSecret) => void }) {
  const { fields, value, isReady } = useWebhookInput({ url: "", description: "", types: [] });
  const idempotencyKey = useMemo(uniqueName, [JSON.stringify(value)]);
  const submit = async () => {
    const made = await body(
      api.POST("/api/v1/webhooks", {
        params: { header: { "Idempotency-Key": idempotencyKey } },
        body: value,
      }),
    );
    onMade(made);
    void refresh("webhooks");
  };
  return (
    <FormDialog
      title="Create a webhook"
      action="Create webhook"
      attempted="Creating the webhook"
      submit={submit}
      onClose={onClose}
      isReady={isReady}
    >
      {fields}
    </FormDialog>
  );
}
