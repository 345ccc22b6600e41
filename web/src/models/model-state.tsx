// Whether a model can be used.
import type { Model } from "../../../client/schema.ts";
import { Badge } from "../components/badge.tsx";

export function ModelState({ model: { is_active, archived_at } }: { model: Model }) {
  if (archived_at !== null) return <Badge tone="quiet">Archived</Badge>;
  return is_active ? <Badge tone="good">Active</Badge> : <Badge tone="quiet">Inactive</Badge>;
}
