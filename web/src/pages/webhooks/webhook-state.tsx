// Whether events go to a webhook, and why not.
import type { Webhook } from "../../../../client/schema.ts";
import { Badge } from "../../components/badge.tsx";
import { Ago } from "../../components/time.tsx";

export function WebhookState({ webhook }: { webhook: Webhook }) {
  const { enabled, disabled_reason: reason, failing_since: since } = webhook;
  if (!enabled)
    return reason === null ? (
      <Badge tone="quiet">Disabled</Badge>
    ) : (
      <Badge tone="bad">
        {reason === "gone" ? "Disabled: the receiver answered 410" : "Disabled: it failed for days"}
      </Badge>
    );
  if (since !== null)
    return (
      <Badge tone="warn">
        Failing since <Ago time={since} />
      </Badge>
    );
  return <Badge tone="good">Enabled</Badge>;
}
