// The drawer "API calls": the requests of this page as commands and as programs. It stays open beside the page.
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { serviceUrl } from "../app/base.ts";
import { type CallRecord, calls } from "../app/calls.ts";
import { addressOf, clientCodeOf, curlOf } from "../app/code.ts";
import { oneOf } from "../app/table-state.ts";
import { IconButton } from "./button.tsx";
import { Code } from "./code.tsx";
import { isDrawerOpen } from "./code-drawer-state.ts";
import { CopyText } from "./copy.tsx";
import { useFocusBack } from "./focus.ts";
import { Icon } from "./icon.tsx";
import { Tabs } from "./tabs.tsx";

const languages = [
  { id: "curl", label: "curl" },
  { id: "client", label: "TypeScript" },
] as const;
type Language = (typeof languages)[number]["id"];
const language = signal<Language>("curl");

export function CodeDrawer() {
  const [chosen, setChosen] = useState<string>();
  const drawer = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useFocusBack(drawer);
  useLayoutEffect(() => heading.current?.focus(), []);
  const known = calls.value;
  const call = known.find(({ id }) => id === chosen) ?? known[0];
  return (
    <aside
      class="drawer"
      ref={drawer}
      aria-labelledby="drawer-title"
      onKeyDown={(event) => {
        if (event.key === "Escape") isDrawerOpen.value = false;
      }}
    >
      <div class="drawer-head">
        <h2 id="drawer-title" ref={heading} tabIndex={-1}>
          API calls
        </h2>
        <IconButton icon="close" label="Close API calls" onClick={() => (isDrawerOpen.value = false)} />
      </div>
      <p class="muted small">
        What this page asked the service, newest first. Every page uses the public REST API alone.
      </p>
      {call === undefined ? (
        <p class="muted small">No requests yet.</p>
      ) : (
        <>
          <ul class="call-list">
            {known.map((record) => (
              <li key={record.id}>
                <button
                  type="button"
                  aria-pressed={record.id === call.id}
                  onClick={() => setChosen(record.id)}
                >
                  <span class={`method ${record.method === "GET" ? "" : "writes"}`}>{record.method}</span>
                  <span class="clip mono">{shortened(record)}</span>
                  <Outcome call={record} />
                </button>
              </li>
            ))}
          </ul>
          <Tabs
            label="Language"
            tabs={languages}
            current={language.value}
            onSelect={(id) => {
              language.value = oneOf(id, ["curl", "client"]) ?? "curl";
            }}
          >
            <Code
              text={language.value === "curl" ? curlOf(call, serviceUrl) : clientCodeOf(call, serviceUrl)}
            />
          </Tabs>
          <p class="tiny faint">
            {language.value === "curl" ? (
              <>
                Put a key into <code>$API_KEY</code> first. The session of this page is not valid there.
              </>
            ) : (
              <>
                The typed client is the folder <code>client/</code> of the repository.
              </>
            )}
          </p>
          {call.requestId !== null && (
            <p class="tiny faint row">
              Request id <CopyText text={call.requestId} what="request id" />
            </p>
          )}
        </>
      )}
    </aside>
  );
}

/** Short enough to tell rows apart: without what all addresses begin with, and without ids. */
const shortened = (call: CallRecord) =>
  addressOf(call)
    .replace("/api/v1", "")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "…");

function Outcome({ call: { status, tookMs } }: { call: CallRecord }) {
  if (status === undefined) return <span class="faint tiny">…</span>;
  return (
    <span class={`outcome tiny number ${status >= 400 || status === 0 ? "bad" : ""}`}>
      {status === 0 ? "no answer" : status}
      {status >= 400 && <Icon name="warning" size={12} />}
      <span class="faint"> {Math.round(tookMs ?? 0)} ms</span>
    </span>
  );
}
