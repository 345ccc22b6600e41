// CPU profile of the API server during the benchmark, for `go tool pprof`, and its metrics. Called by main.ts with
// --profiles.
import { readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { BenchCluster } from "./cluster.ts";

/** Starts a profile. The returned function waits for its end and fetches the metrics. */
export function profileApiServer(cluster: BenchCluster, folder: string): () => Promise<void> {
  const profiled = ask(cluster, "/debug/pprof/profile?seconds=30", join(folder, "api-server.pprof"));
  return async () => {
    await profiled;
    await ask(cluster, "/metrics", join(folder, "api-server.metrics"));
  };
}

async function ask(cluster: BenchCluster, path: string, file: string): Promise<void> {
  const { host } = new URL(cluster.plane.server);
  const folder = dirname(cluster.tls.caFile);
  const [ca, cert, key] = ["ca.crt", "admin.crt", "admin.key"].map((name) =>
    readFileSync(join(folder, name)),
  );
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(`https://${host}${path}`, { ca, cert, key }, resolve).on("error", reject).end();
  });
  writeFileSync(file, await buffer(answer));
}
