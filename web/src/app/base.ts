// Where the dashboard and the API are. The server inserts a relative <base>, so all addresses hold behind any path
// prefix of a proxy.
const base = new URL(".", document.baseURI);

/** Path of the dashboard with a slash at its end, such as "/dashboard/". */
export const basePath = base.pathname;

/** The dashboard without a slash at its end. The API for pages is below it, authenticated by the session cookie. */
export const dashboardUrl = base.href.replace(/\/$/, "");

/** The service as programs address it, with a key. */
export const serviceUrl = new URL("..", base).href.replace(/\/$/, "");

/** The address of a page of the dashboard: href("/datasets?q=x"). */
export const href = (path: string) => basePath + path.replace(/^\//, "");
