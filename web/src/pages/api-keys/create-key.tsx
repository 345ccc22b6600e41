// The dialog that creates an API key.
import { useState } from "preact/hooks";
import type { CreatedApiKey } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { refresh } from "../../app/resource.ts";
import { session } from "../../app/session.ts";
import { FormDialog } from "../../components/dialog.tsx";
import { Checkbox, Select, TextField } from "../../components/field.tsx";
import { expiresAt, type Lifetime, lifetimes, type Scope, scopes, scopeWords } from "./key-words.ts";

export function CreateKey({
  onClose,
  onMade,
}: {
  onClose: () => void;
  onMade: (key: CreatedApiKey) => void;
}) {
  const own = session.value?.scopes ?? [];
  // A key with scopes creates only keys whose scopes it has itself.
  const grantable = own.length === 0 ? scopes : scopes.filter((scope) => own.includes(scope));
  const [name, setName] = useState("");
  const [isLimited, setLimited] = useState(own.length > 0);
  const [chosen, setChosen] = useState<readonly Scope[]>(own.length > 0 ? grantable : ["read"]);
  const [lifetime, setLifetime] = useState<Lifetime>("never");
  const [date, setDate] = useState("");
  const expiry = expiresAt(lifetime, date, Date.now());
  const submit = async () => {
    const made = await body(
      api.POST("/api/v1/auth/api-keys", {
        body: {
          name: name.trim(),
          ...(isLimited ? { scopes: [...chosen] } : {}),
          ...(expiry == null ? {} : { expires_at: expiry }),
        },
      }),
    );
    onMade(made);
    void refresh("api-keys");
  };
  return (
    <FormDialog
      title="Create an API key"
      action="Create API key"
      attempted="Creating the key"
      submit={submit}
      onClose={onClose}
      isReady={name.trim() !== "" && (!isLimited || chosen.length > 0) && expiry !== undefined}
    >
      <TextField
        label="Name"
        hint="What uses the key: build server, Ana's laptop."
        value={name}
        onValue={setName}
        maxLength={255}
        required
      />
      <fieldset class="choices">
        <legend>The key may do</legend>
        <label class="check-line">
          <input
            type="radio"
            name="limited"
            checked={!isLimited}
            disabled={own.length > 0}
            onChange={() => setLimited(false)}
          />
          Everything
        </label>
        <label class="check-line">
          <input type="radio" name="limited" checked={isLimited} onChange={() => setLimited(true)} />
          Only this:
        </label>
        {isLimited && (
          <div class="choices-inner">
            {grantable.map((scope) => (
              <Checkbox
                key={scope}
                label={scopeWords[scope][0]}
                hint={scopeWords[scope][1]}
                isChecked={chosen.includes(scope)}
                onValue={(isChecked) =>
                  setChosen(isChecked ? [...chosen, scope] : chosen.filter((other) => other !== scope))
                }
              />
            ))}
          </div>
        )}
        <p class="hint">The scopes of a key never change.</p>
      </fieldset>
      <Select label="Expires" value={lifetime} onValue={(id) => setLifetime(id as Lifetime)}>
        {lifetimes.map(({ id, label }) => (
          <option key={id} value={id}>
            {label}
          </option>
        ))}
      </Select>
      {lifetime === "date" && (
        <TextField
          label="Last day"
          type="date"
          value={date}
          onValue={setDate}
          fault={date !== "" && expiry === undefined ? "Choose a day in the future." : undefined}
        />
      )}
    </FormDialog>
  );
}
