// The page of everybody who is not signed in, and the page that says that the service does not respond.
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../../app/api.ts";
import { serviceUrl } from "../../app/base.ts";
import { keptWork } from "../../app/kept.ts";
import { providerName, signInUrl } from "../../app/provider.ts";
import { restore, signIn } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { TextField } from "../../components/field.tsx";
import { Icon, Mark } from "../../components/icon.tsx";
import { Problem } from "../../components/states.tsx";

export function SignIn({ reason }: { reason: string | undefined }) {
  const [key, setKey] = useState("");
  const [isShown, setShown] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string>();
  const [error, setError] = useState<unknown>();
  const form = useRef<HTMLFormElement>(null);
  // After the layout effects: an open dialog, which blocks this page, has closed by then.
  useEffect(() => {
    const before = document.title;
    document.title = "Sign in · Plosive";
    form.current?.querySelector("input")?.focus();
    return () => {
      document.title = before;
    };
  }, []);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    setError(undefined);
    if (key.trim() === "") return refuse("Enter an API key. It begins with pl_.");
    setFault(undefined);
    setBusy(true);
    try {
      await signIn({ api_key: key.trim() });
    } catch (thrown) {
      setBusy(false);
      if (thrown instanceof ApiError && thrown.status === 401)
        refuse(`${thrown.detail}. Check that the key is complete and has not been revoked.`);
      else setError(thrown);
    }
  };
  const refuse = (text: string) => {
    setFault(text);
    form.current?.querySelector("input")?.focus();
  };
  return (
    <main class="alone">
      <div class="sign-in">
        <div class="sign-in-head">
          <Mark size={40} />
          <h1>Sign in to Plosive</h1>
          <p class="muted">
            Find and label the artifacts in voice recordings, and train a model to find them.
          </p>
        </div>
        {reason !== undefined && (
          <div class="notice warn" role="status">
            <Icon name="warning" />
            <p class="break">
              {reason} {keptWork.value}
            </p>
          </div>
        )}
        <form class="stack" ref={form} onSubmit={submit} noValidate>
          <TextField
            label="API key"
            type={isShown ? "text" : "password"}
            name="api-key"
            autocomplete="current-password"
            spellcheck={false}
            placeholder="pl_…"
            value={key}
            onValue={setKey}
            fault={fault}
            hint="The server exchanges the key for a session. This browser does not keep the key."
          />
          <div class="row apart">
            <label class="check-line">
              <input
                type="checkbox"
                checked={isShown}
                onChange={(event) => setShown(event.currentTarget.checked)}
              />
              Show the key
            </label>
            <Button kind="primary" type="submit" isBusy={isBusy}>
              Sign in
            </Button>
          </div>
          {error !== undefined && <Problem attempted="Signing in" error={error} />}
        </form>
        {providerName !== undefined && (
          // The target keeps the router from taking it for a page of the dashboard.
          <a class="button secondary" href={signInUrl()} target="_self">
            <span class="break">Sign in with {providerName}</span>
          </a>
        )}
        <details class="more">
          <summary>Where do I get a key?</summary>
          <p class="muted small">
            From somebody who has one: they create yours under Settings &gt; API Keys. The administrator of
            the service creates the first key of an account with <code>plosive-admin keys create</code>.
          </p>
        </details>
        <p class="tiny faint break">{serviceUrl}</p>
      </div>
      <div class="sign-in-wave" aria-hidden="true" />
    </main>
  );
}

export function Unreachable({ error }: { error: unknown }) {
  return (
    <main class="alone">
      <div class="sign-in">
        <div class="sign-in-head">
          <Mark size={40} />
          <h1>Plosive does not respond</h1>
        </div>
        <Problem attempted="Opening the dashboard" error={error} onRetry={() => restore()} />
      </div>
    </main>
  );
}
