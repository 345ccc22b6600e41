// A million annotations in one answer, to a fast and to a slow reader: the duration and the peak memory of the API
// process. Called by main.ts.
import { connect } from "node:net";
import { watchMemory } from "./measure.ts";
import type { Server } from "./servers.ts";

export interface BigRead {
  readonly name: string;
  readonly seconds: number;
  readonly bytes: number;
  readonly peakBytes: number;
}

/** `bytesPerSecond` limits the reader's speed; the rest waits in the socket. */
export async function readBig(
  server: Server,
  name: string,
  path: string,
  key: string,
  bytesPerSecond = Number.POSITIVE_INFINITY,
): Promise<BigRead> {
  const watch = watchMemory(server.pid);
  const begin = performance.now();
  const bytes = await read(server.port, path, key, bytesPerSecond);
  return { name, seconds: (performance.now() - begin) / 1_000, bytes, peakBytes: watch.end() };
}

function read(port: number, path: string, key: string, bytesPerSecond: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.write(`GET ${path} HTTP/1.1\r\nHost: bench\r\nX-API-Key: ${key}\r\nConnection: close\r\n\r\n`);
    const begin = performance.now();
    let bytes = 0;
    let head = "";
    let tail = "";
    socket.on("data", (data) => {
      if (head.length < 15) head += data.toString("latin1", 0, 15);
      tail = (tail + data.toString("latin1", Math.max(0, data.length - 7))).slice(-7);
      bytes += data.length;
      const ahead = (bytes / bytesPerSecond) * 1_000 - (performance.now() - begin);
      if (ahead > 5) {
        socket.pause();
        setTimeout(() => socket.resume(), ahead);
      }
    });
    socket.on("error", reject);
    socket.on("close", () => {
      // An answer without its last chunk was cut off.
      if (head.startsWith("HTTP/1.1 200") && tail.endsWith("\r\n0\r\n\r\n")) resolve(bytes);
      else reject(new Error(`${path} was not answered in full: ${head} ... ${tail}`));
    });
  });
}
