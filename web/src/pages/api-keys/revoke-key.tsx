// The dialog that revokes a key.
import { useState } from "preact/hooks";
import type { ApiKey } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { refresh } from "../../app/resource.ts";
import { end, session } from "../../app/session.ts";
import { FormDialog } from "../../components/dialog.tsx";
import { Checkbox } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { Ago } from "../../components/time.tsx";
import { notify } from "../../components/toast.tsx";

export function RevokeKey({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const isOwn = apiKey.id === session.value?.key_id;
  const [isSure, setSure] = useState(!isOwn);
  const submit = async () => {
    await body(api.DELETE("/api/v1/auth/api-keys/{key_id}", { params: { path: { key_id: apiKey.id } } }));
    if (isOwn) {
      onClose();
      end("You have revoked the key that you were signed in with. Sign in with another key.");
      return;
    }
    notify(`Revoked the key “${apiKey.name}”`);
    await refresh("api-keys");
    onClose();
  };
  return (
    <FormDialog
      title="Revoke the key"
      action={isOwn ? "Revoke and sign out" : "Revoke key"}
      isDanger
      attempted="Revoking the key"
      submit={submit}
      onClose={onClose}
      isReady={isSure}
    >
      <p class="break">
        <strong>{apiKey.name}</strong> <span class="mono muted">{apiKey.key_prefix}…</span> becomes invalid at
        once and for ever. Programs that use it get 401.
      </p>
      <p class="muted">
        {apiKey.last_used_at === null ? (
          "The key was never used."
        ) : (
          <>
            It was last used <Ago time={apiKey.last_used_at} />.
          </>
        )}
      </p>
      {isOwn && (
        <>
          <div class="notice warn">
            <Icon name="warning" />
            <p>
              <strong>You are signed in with this key.</strong> Revoking it signs you out. Make sure that you
              have another key.
            </p>
          </div>
          <Checkbox label="I have another key" isChecked={isSure} onValue={setSure} />
        </>
      )}
    </FormDialog>
  );
}
