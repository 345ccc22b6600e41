// OpenTelemetry traces, off unless there is a collector to send them to. A trace goes from the request that created a job over its
// custom resource and Job to its pods: the annotation plosive.dev/traceparent carries it. Made by the main files of API and operator.
import type { Attributes, SpanKind, Tracer } from "@opentelemetry/api";
import { z } from "zod";
import type { Log } from "./log.ts";

/** Variables of config.ts. The exporter itself reads OTEL_EXPORTER_OTLP_HEADERS and the like. */
export const tracingSettings = {
  PLOSIVE_OTLP_ENDPOINT: z
    .url()
    .optional()
    .describe(
      "Collector of OpenTelemetry traces (OTLP over HTTP), like http://collector:4318; without it: no traces",
    ),
  PLOSIVE_TRACE_RATIO: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe(
      "Share of the traces that begin here and are recorded; a trace of the caller follows the caller",
    ),
};

/** Called at times in milliseconds since 1970. */
export interface Tracing {
  /**
   * Begins a span below `parent`, a W3C traceparent; null or an unreadable one begins a trace. Its times may lie in the past.
   */
  begin(name: string, options: SpanOptions): TracedSpan;
  /** Sends what was recorded so far. Resolves also if the collector does not answer. */
  stop(): Promise<void>;
}

export interface SpanOptions {
  readonly parent: string | null;
  readonly kind?: "internal" | "server" | undefined;
  readonly start?: number | undefined;
  readonly attributes?: Attributes | undefined;
}

export interface TracedSpan {
  /** The W3C traceparent of spans below this one. */
  readonly traceparent: string;
  end(result?: {
    /** Replaces the name. */
    readonly name?: string | undefined;
    readonly at?: number | undefined;
    readonly attributes?: Attributes | undefined;
    /** The span is marked as failed with this message. */
    readonly error?: string | undefined;
  }): void;
}

/** Undefined without an endpoint; then the packages are not loaded either. */
export async function makeTracing(options: {
  readonly part: "api" | "operator";
  readonly log: Log;
  readonly config: {
    readonly [name in keyof typeof tracingSettings]?: z.infer<(typeof tracingSettings)[name]>;
  };
}): Promise<Tracing | undefined> {
  const { PLOSIVE_OTLP_ENDPOINT: endpoint, PLOSIVE_TRACE_RATIO: ratio = 1 } = options.config;
  if (endpoint === undefined) return undefined;
  const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/exporter-trace-otlp-http"),
    import("@opentelemetry/resources"),
  ]);
  // The exporter reports here what the collector refuses, and what is dropped.
  const warn = warnRarely(options.log);
  api.diag.setLogger({ error: warn, warn, info() {}, debug() {}, verbose() {} }, api.DiagLogLevel.WARN);
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({
      "service.namespace": "plosive",
      "service.name": `plosive-${options.part}`,
    }),
    // A caller that records its trace gets our part of it; the ratio is that of traces which begin here.
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ url: new URL("v1/traces", withSlash(endpoint)).href }),
      }),
    ],
  });
  return tracingWith(api, provider.getTracer("plosive"), () =>
    // What the collector does not take must not hold up the end of the process.
    provider.shutdown().catch(() => {}),
  );
}

const warnEveryMs = 60_000;

function warnRarely(log: Log): (message: string) => void {
  let next = 0;
  return (message) => {
    if (performance.now() < next) return;
    next = performance.now() + warnEveryMs;
    log.warn({ reason: message.slice(0, 500) }, "could not send traces to the collector");
  };
}

type Api = typeof import("@opentelemetry/api");

/** With any provider's tracer, such as that of a test. */
export function tracingWith(api: Api, tracer: Tracer, stop: () => Promise<void>): Tracing {
  const kinds: Record<"internal" | "server", SpanKind> = {
    internal: api.SpanKind.INTERNAL,
    server: api.SpanKind.SERVER,
  };
  return {
    begin(name, { parent, kind = "internal", start, attributes = {} }) {
      const span = tracer.startSpan(
        name,
        { kind: kinds[kind], attributes, ...(start === undefined ? {} : { startTime: start }) },
        contextOf(api, parent),
      );
      const { traceId, spanId, traceFlags } = span.spanContext();
      return {
        traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`,
        end({ name, at, attributes: more = {}, error } = {}) {
          if (name !== undefined) span.updateName(name);
          span.setAttributes(more);
          if (error !== undefined) span.setStatus({ code: api.SpanStatusCode.ERROR, message: error });
          span.end(at);
        },
      };
    },
    stop,
  };
}

function contextOf(api: Api, traceparent: string | null) {
  const [, traceId = "", spanId = "", flags = ""] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent ?? "") ?? [];
  if (traceId === "") return api.ROOT_CONTEXT;
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return api.trace.setSpanContext(api.ROOT_CONTEXT, parent);
}

const withSlash = (url: string) => (url.endsWith("/") ? url : `${url}/`);
