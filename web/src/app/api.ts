// The typed client with the session of this page. Every request is listed for the drawer "API calls".
import { body, makeClient } from "../../../client/client.ts";
import { ApiError } from "../../../client/error.ts";
import { dashboardUrl } from "./base.ts";
import { began, ended } from "./calls.ts";
import { end, restore, sessionNumber, shownAccount } from "./session.ts";

export { ApiError, body };

/** Why a call failed, as a part of a sentence. */
export const reasonOf = (error: unknown): string =>
  error instanceof ApiError ? error.detail : "the service did not respond, or not to the end";

export const api = makeClient({ baseUrl: dashboardUrl, retryForMs: 12_000, timeoutMs: 30_000 });

/** Retries longer: uploads go on when the network returns. */
export const patientApi = makeClient({ baseUrl: dashboardUrl, retryForMs: 600_000, timeoutMs: 120_000 });

/** Does not retry: who calls it says what happens meanwhile, and tries again itself. */
export const onceApi = makeClient({ baseUrl: dashboardUrl, retryForMs: 0, timeoutMs: 30_000 });

/** For exports: the time is that of the whole answer, which may have hundreds of megabytes. */
export const exportApi = makeClient({ baseUrl: dashboardUrl, retryForMs: 12_000, timeoutMs: 3_600_000 });

const starts = new Map<string, number>();

const listed: Parameters<typeof api.use>[0] = {
  async onRequest({ id, request, schemaPath, params }) {
    const isJson = request.headers.get("Content-Type") === "application/json";
    const text = isJson ? await request.clone().text() : "";
    starts.set(id, performance.now());
    began(id, {
      method: request.method,
      path: schemaPath,
      params,
      ...(text === "" ? {} : { body: JSON.parse(text) }),
    });
  },
  async onResponse({ id, response }) {
    ended(
      id,
      response.status,
      performance.now() - (starts.get(id) ?? 0),
      response.headers.get("X-Request-Id"),
    );
    starts.delete(id);
  },
  onError({ id }) {
    ended(id, 0, performance.now() - (starts.get(id) ?? 0), null);
    starts.delete(id);
  },
};
for (const client of [api, onceApi, exportApi]) client.use(listed);

/** The session in which each request was sent. */
const sentIn = new Map<string, number>();

for (const client of [api, patientApi, onceApi, exportApi])
  client.use({
    onRequest({ id, request }) {
      sentIn.set(id, sessionNumber());
      const account = shownAccount();
      if (account !== undefined) request.headers.set("X-Plosive-Account", account);
    },
    onError({ id }) {
      sentIn.delete(id);
    },
    async onResponse({ id, response }) {
      const sent = sentIn.get(id) ?? sessionNumber();
      sentIn.delete(id);
      if (response.status !== 401 && response.status !== 409) return;
      const body = await response
        .clone()
        .json()
        .catch(() => undefined);
      const error = new ApiError(response, body);
      // The refusal of an earlier session does not end the present one.
      if (response.status === 401 && sent === sessionNumber()) end(error);
      // Another tab has signed in to another account, and this page is loaded anew. The code is the dashboard's, not the REST API's.
      else if ((error.code as string | undefined) === "account_changed") void restore({ quietly: true });
    },
  });

/** The body of a resource with its ETag, for changes that must not overwrite those of others. */
export async function versioned<T>(
  call: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<{ value: T; etag: string | undefined }> {
  const answer = await call;
  const value = await body(Promise.resolve(answer));
  return { value, etag: etagOf(answer.response) };
}

/** The ETag as the service sent it: a proxy that compresses the response marks it as weak, and changes need a strong one. */
export const etagOf = (response: Response): string | undefined =>
  response.headers.get("ETag")?.replace(/^W\//, "");
