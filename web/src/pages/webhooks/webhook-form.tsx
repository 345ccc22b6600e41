// The fields of a webhook, in the dialogs that create and change one.
import { useState } from "preact/hooks";
import { Checkbox, TextField } from "../../components/field.tsx";
import { type EventType, groups } from "./event-types.ts";

export interface WebhookInput {
  readonly url: string;
  readonly description: string;
  /** Empty: all types. */
  readonly types: readonly EventType[];
}

export function useWebhookInput(initial: WebhookInput) {
  const [input, setInput] = useState(initial);
  const [isLimited, setLimited] = useState(initial.types.length > 0);
  const types = isLimited ? input.types : [];
  const isReady = faultOfUrl(input.url) === undefined && input.url !== "" && (!isLimited || types.length > 0);
  return {
    isReady,
    value: { url: input.url.trim(), description: input.description.trim(), types: [...types] },
    fields: (
      <>
        <TextField
          label="URL"
          type="url"
          placeholder="https://hooks.example.com/plosive"
          hint="Plosive sends each event there as a POST. A public https address with a host name, on port 443 or 8443."
          value={input.url}
          onValue={(url) => setInput({ ...input, url })}
          fault={faultOfUrl(input.url)}
          maxLength={2048}
          spellcheck={false}
          required
        />
        <TextField
          label="Purpose"
          isOptional
          value={input.description}
          onValue={(description) => setInput({ ...input, description })}
          maxLength={255}
        />
        <fieldset class="choices">
          <legend>Events</legend>
          <label class="check-line">
            <input type="radio" name="limited" checked={!isLimited} onChange={() => setLimited(false)} />
            All, and those of later versions
          </label>
          <label class="check-line">
            <input type="radio" name="limited" checked={isLimited} onChange={() => setLimited(true)} />
            Only these:
          </label>
          {isLimited && (
            <div class="choices-inner event-types">
              {groups.map((group) => (
                <fieldset key={group.label}>
                  <legend>{group.label}</legend>
                  {group.types.map((type) => (
                    <Checkbox
                      key={type}
                      label={<span class="mono">{type}</span>}
                      isChecked={input.types.includes(type)}
                      onValue={(isChecked) =>
                        setInput({
                          ...input,
                          types: isChecked
                            ? [...input.types, type]
                            : input.types.filter((other) => other !== type),
                        })
                      }
                    />
                  ))}
                </fieldset>
              ))}
            </div>
          )}
        </fieldset>
      </>
    ),
  };
}

/** Only what is surely wrong: the service decides, and an administrator may allow other addresses. */
function faultOfUrl(text: string): string | undefined {
  if (text.trim() === "") return undefined;
  return URL.canParse(text.trim()) && /^https?:/.test(text.trim())
    ? undefined
    : "Enter an address that begins with https://.";
}
