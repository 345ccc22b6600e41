// Sends one request to the object store by XMLHttpRequest, which reports progress.

/** Without a byte for this long, the connection is given up. */
const stallMs = 60_000;

/** The store's answer as fetch would give it. Rejects if there was none. */
export function sendByXhr(
  url: string,
  { method, body }: { readonly method: string; readonly body: Blob | FormData },
  { onProgress, signal }: { onProgress: (sentBytes: number) => void; signal: AbortSignal },
): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const xhr = new XMLHttpRequest();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const abort = () => xhr.abort();
  const beat = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      reject(new Error("the connection has stalled"));
      xhr.abort();
    }, stallMs);
  };
  xhr.upload.onprogress = ({ loaded }) => {
    beat();
    onProgress(loaded);
  };
  xhr.onload = () => {
    const { status, responseText } = xhr;
    resolve(new Response(status === 204 || responseText === "" ? null : responseText, { status }));
  };
  xhr.onerror = () => reject(new Error("no connection"));
  xhr.onabort = () => reject(new Error("aborted"));
  xhr.onloadend = () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  };
  if (signal.aborted) return Promise.reject(new Error("aborted"));
  signal.addEventListener("abort", abort);
  xhr.open(method, url);
  beat();
  xhr.send(body);
  return promise;
}
