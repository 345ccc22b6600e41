// Settings > API Keys: create, rotate and revoke keys.
import { useState } from "preact/hooks";
import type { ApiKey, CreatedApiKey } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { useResource } from "../../app/resource.ts";
import { query, setQuery } from "../../app/router.ts";
import { missing, session } from "../../app/session.ts";
import { useShortcut } from "../../app/shortcuts.ts";
import { Badge, Tag } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Menu } from "../../components/menu.tsx";
import { Secret } from "../../components/secret.tsx";
import { Empty, Shown } from "../../components/states.tsx";
import { type Column, Table, useSort } from "../../components/table.tsx";
import { Ago, Day } from "../../components/time.tsx";
import { Page } from "../../shell/page.tsx";
import { CreateKey } from "./create-key.tsx";
import { expiryOf, scopeWords } from "./key-words.ts";
import { RevokeKey } from "./revoke-key.tsx";
import { RotateKey } from "./rotate-key.tsx";

type Opened = { readonly what: "rotate" | "revoke"; readonly key: ApiKey } | undefined;

export default function ApiKeys() {
  const blocked = missing("admin");
  const keys = useResource(
    "api-keys",
    () => body(api.GET("/api/v1/auth/api-keys")),
    ({ type }) => type.startsWith("api_key."),
  );
  const [opened, open] = useState<Opened>();
  const [made, setMade] = useState<CreatedApiKey>();
  const sort = useSort(["name", "created", "used", "expires"], { column: "created", isDescending: true });
  const isCreating = query.value.get("new") === "1" && blocked === undefined;
  const create = () => setQuery({ new: "1" });
  const close = () => open(undefined);
  useShortcut(blocked === undefined ? "c" : undefined, "Create an API key", create);
  return (
    <Page
      title="API Keys"
      crumbs={[{ label: "Settings" }]}
      note="Programs send a key in the header X-API-Key. Plosive keeps only a hash of each key, so a key is shown once, when it is created."
      actions={
        <Button kind="primary" icon="plus" onClick={create} blocked={blocked}>
          Create API key
        </Button>
      }
    >
      {made && (
        <Secret
          title={`Copy the key “${made.name}” now`}
          text={made.key}
          what="API key"
          onDone={() => setMade(undefined)}
        >
          It is not shown again: Plosive keeps only a hash of it. If you lose it, revoke it and create
          another.
        </Secret>
      )}
      {blocked !== undefined ? (
        <Empty isSmall title="Your key may not manage keys">
          <p>{blocked}. Sign in with a key that has it, or ask the person who gave you yours.</p>
        </Empty>
      ) : (
        <Shown resource={keys} what="the API keys">
          {(items) => (
            <Table
              caption="API keys"
              columns={columnsOf(open)}
              rows={items}
              keyOf={({ id }) => id}
              sort={sort}
            />
          )}
        </Shown>
      )}
      {isCreating && (
        <CreateKey
          onClose={() => setQuery({ new: undefined })}
          onMade={(key) => {
            setMade(key);
            setQuery({ new: undefined });
          }}
        />
      )}
      {opened?.what === "rotate" && (
        <RotateKey
          apiKey={opened.key}
          onClose={close}
          onMade={(key) => {
            setMade(key);
            close();
          }}
        />
      )}
      {opened?.what === "revoke" && <RevokeKey apiKey={opened.key} onClose={close} />}
    </Page>
  );
}

function columnsOf(open: (opened: Opened) => void): readonly Column<ApiKey>[] {
  return [
    {
      id: "name",
      header: "Name",
      isFlexible: true,
      by: ({ name }) => name,
      cell: ({ id, name }) => (
        <span class="row">
          <span class="strong break">{name}</span>
          {id === session.value?.key_id && <Badge tone="accent">This session</Badge>}
        </span>
      ),
    },
    { id: "prefix", header: "Key", cell: ({ key_prefix }) => <span class="mono muted">{key_prefix}…</span> },
    {
      id: "scopes",
      header: "Scopes",
      cell: ({ scopes }) =>
        scopes.length === 0 ? (
          <span class="muted">Everything</span>
        ) : (
          <span class="tags">
            {scopes.map((scope) => (
              <Tag key={scope}>{scopeWords[scope][0]}</Tag>
            ))}
          </span>
        ),
    },
    {
      id: "created",
      header: "Created",
      isExtra: true,
      descendsFirst: true,
      by: ({ created_at }) => Date.parse(created_at),
      cell: ({ created_at }) => <Day time={created_at} />,
    },
    {
      id: "used",
      header: "Last used",
      descendsFirst: true,
      by: ({ last_used_at: at }) => (at === null ? null : Date.parse(at)),
      cell: ({ last_used_at: at }) =>
        at === null ? <span class="faint">Never used</span> : <Ago time={at} />,
    },
    {
      id: "expires",
      header: "Expires",
      by: ({ expires_at: at }) => (at === null ? null : Date.parse(at)),
      cell: (key) => <Expiry apiKey={key} />,
    },
    {
      id: "tools",
      header: "Actions",
      isHeaderHidden: true,
      cell: (key) => (
        <Menu
          label={`Actions for the key ${key.name}`}
          actions={[
            { label: "Rotate", icon: "retry", run: () => open({ what: "rotate", key }) },
            { label: "Revoke", icon: "trash", isDanger: true, run: () => open({ what: "revoke", key }) },
          ]}
        />
      ),
    },
  ];
}

function Expiry({ apiKey }: { apiKey: ApiKey }) {
  const { expires_at: at } = apiKey;
  const state = expiryOf(apiKey, Date.now());
  if (at === null) return <span class="faint">Never expires</span>;
  if (state === "over") return <Badge tone="bad">Expired</Badge>;
  return state === "soon" ? (
    <Badge tone="warn">
      <Ago time={at} />
    </Badge>
  ) : (
    <Day time={at} />
  );
}
