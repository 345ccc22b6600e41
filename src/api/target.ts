// Checks a URL that a client chose for a webhook or an upload. Called by their routes.
import { validationFailed, valueError } from "../errors.ts";
import { checkTarget } from "../webhooks/target.ts";
import type { HandlerDeps } from "./route.ts";

/**
 * Returns the URL with its host. Throws validationFailed. Checks only the URL itself: each request to it resolves the host
 * name and checks its addresses.
 */
export function targetOf(url: string, deps: HandlerDeps): { url: string; host: string } {
  const checked = checkTarget(url, deps.config.PLOSIVE_WEBHOOK_ALLOWED_ORIGINS);
  if ("refusal" in checked) throw validationFailed([valueError(["body", "url"], checked.refusal)]);
  return { url, host: checked.target.url.host };
}
