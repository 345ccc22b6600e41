// The dialog that replaces a key with a new one.
import { useState } from "preact/hooks";
import type { ApiKey, CreatedApiKey } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { refresh } from "../../app/resource.ts";
import { session } from "../../app/session.ts";
import { FormDialog } from "../../components/dialog.tsx";
import { Select } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";

const overlaps = [
  [0, "It stops at once"],
  [600, "10 minutes"],
  [3_600, "An hour"],
  [86_400, "A day"],
] as const;

export function RotateKey({
  apiKey,
  onClose,
  onMade,
}: {
  apiKey: ApiKey;
  onClose: () => void;
  onMade: (key: CreatedApiKey) => void;
}) {
  const [overlap, setOverlap] = useState("3600");
  const isOwn = apiKey.id === session.value?.key_id;
  const submit = async () => {
    const made = await body(
      api.POST("/api/v1/auth/api-keys/{key_id}/rotate", {
        params: { path: { key_id: apiKey.id } },
        body: { overlap_seconds: Number(overlap) },
      }),
    );
    onMade(made);
    void refresh("api-keys");
  };
  return (
    <FormDialog
      title="Rotate the key"
      action="Rotate key"
      attempted="Rotating the key"
      submit={submit}
      onClose={onClose}
    >
      <p class="break">
        A new key with the same name and scopes takes the place of <strong>{apiKey.name}</strong>{" "}
        <span class="mono muted">{apiKey.key_prefix}…</span>
      </p>
      <Select
        label="The old key keeps working for"
        value={overlap}
        onValue={setOverlap}
        hint="Time to put the new key into your programs."
      >
        {overlaps
          // The end of the session would hide the new key.
          .filter(([seconds]) => !isOwn || seconds > 0)
          .map(([seconds, label]) => (
            <option key={seconds} value={seconds}>
              {label}
            </option>
          ))}
      </Select>
      {isOwn && (
        <div class="notice warn">
          <Icon name="warning" />
          <p>
            You are signed in with this key. Your session ends when the old key stops: sign in with the new
            one then.
          </p>
        </div>
      )}
    </FormDialog>
  );
}
