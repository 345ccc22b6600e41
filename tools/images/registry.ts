// Serves an OCI image layout (a folder) as a read-only registry, so that containerd pulls only missing layers. Called
// by deliver.ts for the duration of a delivery; listens on the host's end of the cluster's link.
import { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface Registry {
  /** host:port */
  readonly address: string;
  close(): Promise<void>;
}

/** Starts the registry. Image references are `<anything>/<name>:<tag>`; the layout names its images `<name>:<tag>`. */
export async function serveRegistry(layoutDir: string, host: string): Promise<Registry> {
  const blobOf = (digest: string) => join(layoutDir, "blobs", "sha256", digest.replace(/^sha256:/, ""));
  const manifestOf = (name: string, reference: string): Descriptor | undefined => {
    const index = JSON.parse(readFileSync(join(layoutDir, "index.json"), "utf8")) as {
      manifests: Descriptor[];
    };
    return index.manifests.find(
      ({ digest, annotations }) =>
        digest === reference || annotations?.["org.opencontainers.image.ref.name"] === `${name}:${reference}`,
    );
  };

  const server = createServer((request, response) => {
    const isHead = request.method === "HEAD";
    const { pathname } = new URL(request.url ?? "/", "http://registry");
    const [, name, kind, reference] =
      /^\/v2\/(?:.*\/)?([^/]+)\/(manifests|blobs)\/([^/]+)$/.exec(pathname) ?? [];
    if (pathname === "/v2/") response.end("{}");
    else if (!isHead && request.method !== "GET") refuse(response, 405);
    else if (name === undefined || reference === undefined) refuse(response, 404);
    else if (kind === "blobs") {
      if (/^sha256:[0-9a-f]{64}$/.test(reference))
        send(response, blobOf(reference), "application/octet-stream", reference, isHead);
      else refuse(response, 404);
    } else {
      const found = manifestOf(name, reference);
      if (found) send(response, blobOf(found.digest), found.mediaType, found.digest, isHead);
      else refuse(response, 404);
    }
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, host, resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the registry has no port");
  return {
    address: `${host}:${address.port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function refuse(response: ServerResponse, status: number): void {
  response.statusCode = status;
  response.end();
}

function send(response: ServerResponse, file: string, type: string, digest: string, isHead: boolean): void {
  if (!existsSync(file)) {
    refuse(response, 404);
    return;
  }
  response.setHeader("content-type", type);
  response.setHeader("content-length", statSync(file).size);
  response.setHeader("docker-content-digest", digest);
  if (isHead) response.end();
  // Large read buffers, because a layer has up to several GB.
  else
    createReadStream(file, { highWaterMark: 4 * 2 ** 20 })
      .on("error", () => response.destroy())
      .pipe(response);
}
