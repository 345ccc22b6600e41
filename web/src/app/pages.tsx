// The pages by their addresses. Each is a chunk of its own, loaded when it is opened.
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Empty, Loading } from "../components/states.tsx";
import { href } from "./base.ts";
import { path } from "./router.ts";
import { match, type Params } from "./routes.ts";

type Page = ComponentType<{ params: Params }>;
type Load = () => Promise<{ default: Page }>;

const pages: readonly (readonly [string, Load])[] = [
  ["/", () => import("../pages/overview/overview.tsx")],
  ["/datasets", () => import("../pages/datasets/datasets.tsx")],
  ["/datasets/:id", () => import("../pages/dataset/dataset.tsx")],
  ["/datasets/:id/upload", () => import("../pages/upload/upload.tsx")],
  ["/training", () => import("../pages/training-jobs/training-jobs.tsx")],
  ["/training/new", () => import("../pages/training-start/training-start.tsx")],
  ["/training/:id", () => import("../pages/training-job/training-job.tsx")],
  ["/models", () => import("../pages/models/models.tsx")],
  ["/models/compare", () => import("../pages/model-compare/model-compare.tsx")],
  ["/models/:id", () => import("../pages/model/model.tsx")],
  ["/inference", () => import("../pages/inference-jobs/inference-jobs.tsx")],
  ["/inference/new", () => import("../pages/inference-start/inference-start.tsx")],
  ["/inference/:id", () => import("../pages/inference-job/inference-job.tsx")],
  ["/datasets/:id/sets/:set", () => import("../pages/annotation-set/annotation-set.tsx")],
  ["/datasets/:id/sets/:set/files/:file", () => import("../pages/editor/editor.tsx")],
  ["/settings/api-keys", () => import("../pages/api-keys/api-keys.tsx")],
  ["/settings/webhooks", () => import("../pages/webhooks/webhooks.tsx")],
  ["/settings/webhooks/:id", () => import("../pages/webhook/webhook.tsx")],
  ["/settings/usage", () => import("../pages/usage/usage.tsx")],
  ["/components", () => import("../pages/components/components.tsx")],
];

const loaded = new Map<Load, Page>();

export function CurrentPage() {
  for (const [pattern, load] of pages) {
    const params = match(pattern, path.value);
    if (params !== undefined) return <Lazy key={path.value} load={load} params={params} />;
  }
  return (
    <Empty
      title="There is no such page"
      actions={
        <a class="button primary" href={href("/")}>
          Go to the overview
        </a>
      }
    >
      <p class="break">The address {path.value} leads nowhere.</p>
    </Empty>
  );
}

function Lazy({ load, params }: { load: Load; params: Params }) {
  const [Page, setPage] = useState<Page | "failed" | undefined>(() => loaded.get(load));
  useEffect(() => {
    if (Page !== undefined) return;
    let isLeft = false;
    load()
      .then(({ default: page }) => {
        loaded.set(load, page);
        if (!isLeft) setPage(() => page);
      })
      .catch(() => {
        if (!isLeft) setPage("failed");
      });
    return () => {
      isLeft = true;
    };
  }, [load]);
  if (Page === undefined) return <Loading what="the page" />;
  if (Page === "failed")
    return (
      <Empty
        title="The page could not be loaded"
        actions={
          <Button kind="primary" icon="retry" onClick={() => window.location.reload()}>
            Reload
          </Button>
        }
      >
        <p>The network failed, or the service has been updated since you opened the dashboard.</p>
      </Empty>
    );
  return <Page params={params} />;
}
