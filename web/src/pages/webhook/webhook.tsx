// One webhook: its state, its deliveries, sending them again, its secret.
import { useState } from "preact/hooks";
import type { Webhook } from "../../../../client/schema.ts";
import { api, body, reasonOf, versioned } from "../../app/api.ts";
import { plural } from "../../app/format.ts";
import { refresh, useResource } from "../../app/resource.ts";
import type { Params } from "../../app/routes.ts";
import { uniqueName } from "../../app/unique.ts";
import { Tag } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { CopyId } from "../../components/copy.tsx";
import { FormDialog } from "../../components/dialog.tsx";
import { Menu } from "../../components/menu.tsx";
import { Secret } from "../../components/secret.tsx";
import { Shown } from "../../components/states.tsx";
import { notify } from "../../components/toast.tsx";
import { Page } from "../../shell/page.tsx";
import type { EventType } from "../webhooks/event-types.ts";
import { useWebhookInput } from "../webhooks/webhook-form.tsx";
import { WebhookState } from "../webhooks/webhook-state.tsx";
import { Deliveries } from "./deliveries.tsx";

export default function WebhookPage({ params }: { params: Params }) {
  const id = params.id ?? "";
  const path = { webhook_id: id };
  const resource = useResource(
    `webhook/${id}`,
    () => versioned(api.GET("/api/v1/webhooks/{webhook_id}", { params: { path } })),
    ({ data }) => data.webhook_id === id,
  );
  const [opened, open] = useState<"edit" | "rotate" | "delete">();
  const [secret, setSecret] = useState<string>();
  const webhook = resource.data?.value;

  const run = async (what: string, work: () => Promise<string>) => {
    try {
      notify(await work());
      await refresh("webhook");
    } catch (error) {
      notify(`${what} failed: ${reasonOf(error)}`, { tone: "bad" });
    }
  };
  const test = () =>
    run("Sending the test event", async () => {
      await body(
        api.POST("/api/v1/webhooks/{webhook_id}/test", {
          params: { path, header: { "Idempotency-Key": uniqueName() } },
        }),
      );
      return "A test event is on its way";
    });
  const enable = (enabled: boolean) =>
    run(enabled ? "Enabling the webhook" : "Disabling the webhook", async () => {
      await body(api.PATCH("/api/v1/webhooks/{webhook_id}", { params: { path }, body: { enabled } }));
      return enabled ? "Enabled the webhook" : "Disabled the webhook";
    });

  return (
    <Page
      title={webhook === undefined ? "Webhook" : hostOf(webhook.url)}
      crumbs={[{ label: "Settings" }, { label: "Webhooks", to: "/settings/webhooks" }]}
      note={
        webhook && (
          <>
            <p class="mono break">{webhook.url}</p>
            {webhook.description !== "" && <p class="break">{webhook.description}</p>}
            <p class="row small faint">
              <WebhookState webhook={webhook} /> <CopyId id={id} what="id of the webhook" />
            </p>
          </>
        )
      }
      actions={
        webhook && (
          <>
            <Menu
              label="More actions"
              className="button secondary square"
              actions={[
                { label: "Edit", icon: "edit", run: () => open("edit") },
                { label: "Rotate the signing secret", icon: "retry", run: () => open("rotate") },
                webhook.enabled
                  ? { label: "Disable", icon: "pause", run: () => void enable(false) }
                  : { label: "Enable", icon: "play", run: () => void enable(true) },
                { label: "Delete", icon: "trash", isDanger: true, run: () => open("delete") },
              ]}
            />
            <Button
              icon="send"
              onClick={test}
              blocked={webhook.enabled ? undefined : "The webhook is disabled"}
            >
              Send a test event
            </Button>
          </>
        )
      }
    >
      {secret !== undefined && (
        <Secret
          title="Copy the new signing secret now"
          text={secret}
          what="signing secret"
          onDone={() => setSecret(undefined)}
        >
          For 24 hours, requests carry signatures of the old and of the new secret. The new one is not shown
          again.
        </Secret>
      )}
      <Shown resource={resource} what="the webhook">
        {({ value }) => (
          <div class="stack-wide">
            <section aria-labelledby="events">
              <h2 id="events" class="section-title">
                Events
              </h2>
              {value.types.length === 0 ? (
                <p class="muted">All events, and those of later versions.</p>
              ) : (
                <p class="tags" title={plural(value.types.length, "type")}>
                  {value.types.map((type) => (
                    <Tag key={type}>{type}</Tag>
                  ))}
                </p>
              )}
            </section>
            <Deliveries webhook={value} />
          </div>
        )}
      </Shown>
      {webhook && opened === "edit" && (
        <Edit webhook={webhook} etag={resource.data?.etag} onClose={() => open(undefined)} />
      )}
      {webhook && opened === "rotate" && (
        <FormDialog
          title="Rotate the signing secret"
          action="Rotate secret"
          attempted="Rotating the secret"
          onClose={() => open(undefined)}
          submit={async () => {
            const made = await body(
              api.POST("/api/v1/webhooks/{webhook_id}/rotate-secret", {
                params: { path, header: { "Idempotency-Key": uniqueName() } },
              }),
            );
            setSecret(made.secret);
            open(undefined);
          }}
        >
          <p>
            A new secret signs the requests from now on. For 24 hours they carry a signature of the old secret
            too, so that your receiver has time.
          </p>
        </FormDialog>
      )}
      {webhook && opened === "delete" && (
        <FormDialog
          title="Delete the webhook"
          action="Delete webhook"
          isDanger
          attempted="Deleting the webhook"
          onClose={() => open(undefined)}
          submit={async (go) => {
            await body(api.DELETE("/api/v1/webhooks/{webhook_id}", { params: { path } }));
            notify("Deleted the webhook");
            go("/settings/webhooks", { replace: true });
            await refresh("webhooks");
          }}
        >
          <p class="break">
            <strong>{webhook.url}</strong> gets no more events, and the list of its deliveries is deleted.
            Deliveries that wait are not sent.
          </p>
        </FormDialog>
      )}
    </Page>
  );
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : url);

function Edit({
  webhook,
  etag,
  onClose,
}: {
  webhook: Webhook;
  etag: string | undefined;
  onClose: () => void;
}) {
  const { fields, value, isReady } = useWebhookInput({
    url: webhook.url,
    description: webhook.description,
    types: webhook.types as EventType[],
  });
  return (
    <FormDialog
      title="Edit the webhook"
      action="Save"
      attempted="Saving the webhook"
      onClose={onClose}
      isReady={isReady}
      submit={async () => {
        await body(
          api.PATCH("/api/v1/webhooks/{webhook_id}", {
            params: {
              path: { webhook_id: webhook.id },
              header: etag === undefined ? {} : { "If-Match": etag },
            },
            body: value,
          }),
        );
        notify("Saved the webhook");
        await refresh("webhook");
        onClose();
      }}
    >
      {fields}
    </FormDialog>
  );
}
