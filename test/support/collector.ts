// The real OpenTelemetry collector (tools/go/otelcol), which forwards what it receives to the test. Called by
// test/controllers/traces.test.ts.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { stringify } from "yaml";
import { repoDir, tool } from "../../tools/cache.ts";
import { freePorts, startDaemon, waitUntil } from "../../tools/process.ts";

export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** "" without a parent. */
  readonly parentSpanId: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly isError: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface Collector {
  readonly endpoint: string;
  /** All spans that it has forwarded so far. */
  readonly spans: readonly ReceivedSpan[];
  stop(): Promise<void>;
}

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: string };
}
interface Request {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: {
      spans: {
        name: string;
        traceId: string;
        spanId: string;
        parentSpanId?: string;
        startTimeUnixNano: string;
        endTimeUnixNano: string;
        status?: { code?: number };
        attributes?: Attribute[];
      }[];
    }[];
  }[];
}

const valuesOf = (attributes: readonly Attribute[] = []) =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.intValue === undefined ? value.stringValue : Number(value.intValue),
    ]),
  );
const ms = (nanoseconds: string) => Number(BigInt(nanoseconds) / 1_000_000n);

export async function startCollector(): Promise<Collector> {
  // The first build takes minutes. `make test` has done it before.
  execFileSync("bash", [join(repoDir, "tools/build.sh"), "otelcol"], { stdio: "inherit" });
  const spans: ReceivedSpan[] = [];
  const sink = createServer(async (request, response) => {
    const { resourceSpans } = (await json(request)) as Request;
    for (const { resource, scopeSpans } of resourceSpans)
      for (const span of scopeSpans.flatMap((scope) => scope.spans))
        spans.push({
          service: String(valuesOf(resource.attributes)["service.name"]),
          name: span.name,
          traceId: span.traceId,
          spanId: span.spanId,
          parentSpanId: span.parentSpanId ?? "",
          startMs: ms(span.startTimeUnixNano),
          endMs: ms(span.endTimeUnixNano),
          isError: span.status?.code === 2,
          attributes: valuesOf(span.attributes),
        });
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => sink.listen(0, "127.0.0.1", resolve));
  const dir = mkdtempSync(join(tmpdir(), "plosive-collector-"));
  const [port = 0] = await freePorts(1);
  const config = {
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
    exporters: {
      otlphttp: {
        endpoint: `http://127.0.0.1:${(sink.address() as AddressInfo).port}`,
        encoding: "json",
        compression: "none",
      },
    },
    service: {
      telemetry: { metrics: { level: "none" } },
      pipelines: { traces: { receivers: ["otlp"], exporters: ["otlphttp"] } },
    },
  };
  writeFileSync(join(dir, "config.yaml"), stringify(config));
  const daemon = startDaemon({
    name: "otelcol",
    command: tool("otelcol", "tools/build.sh otelcol"),
    args: [`--config=file:${join(dir, "config.yaml")}`],
    log: join(dir, "log"),
  });
  const endpoint = `http://127.0.0.1:${port}`;
  await waitUntil("the collector to listen", async () => (await fetch(endpoint)).status === 404, {
    timeoutMs: 30_000,
    daemons: [daemon],
  });
  return {
    endpoint,
    spans,
    async stop() {
      await daemon.kill();
      sink.closeAllConnections();
      await new Promise((resolve) => sink.close(resolve));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
