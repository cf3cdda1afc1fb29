import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import envPaths from 'env-paths';
import { freePort } from '../../src/free-port.ts';
import { endChild, spawnTied } from '../../src/temporal/dev-server/spawn-tied.ts';
import { until } from '../harness/until.ts';

const MODULE = join(import.meta.dirname, 'collector');

export interface Collector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string;
  /** Everything it received, as it wrote it. */
  text(): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Builds the OpenTelemetry Collector from the Go module beside this file into the user's cache, minutes with an empty
 * Go cache. @throws Error where Go is missing or the build fails
 */
async function buildCollector(): Promise<string> {
  const version = /collector\/otelcol v(\S+)/.exec(await readFile(join(MODULE, 'go.mod'), 'utf8'))?.[1];
  const base = process.env['HIREBRIDGE_CACHE_DIR'] ?? envPaths('hirebridge', { suffix: '' }).cache;
  const binary = join(base, `otel-collector-${version}-${process.platform}-${process.arch}`);
  process.stderr.write(`go build of the OpenTelemetry Collector ${version}\n`);
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', GOWORK: 'off' };
  const args = ['build', '-ldflags', '-s -w', '-o', binary, '.'];
  const go = spawn('go', args, { cwd: MODULE, env, stdio: ['ignore', 'inherit', 'inherit'] });
  const code = await new Promise<number | null>((resolve, reject) => {
    go.once('error', () => reject(new Error('No Go toolchain on PATH. Install Go 1.26 or newer: https://go.dev/dl')));
    go.once('close', resolve);
  });
  if (code !== 0) throw new Error(`go build ended with ${code}; its own lines above say why.`);
  return binary;
}

/** Starts one that writes what it receives into `dir`. */
export async function startCollector(dir: string): Promise<Collector> {
  const binary = await buildCollector();
  const port = await freePort();
  const file = join(dir, 'received.jsonl');
  const config = join(dir, 'collector.yaml');
  await writeFile(
    config,
    JSON.stringify({
      receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
      exporters: { file: { path: file, flush_interval: '200ms' } },
      service: {
        telemetry: { metrics: { level: 'none' } },
        pipelines: {
          traces: { receivers: ['otlp'], exporters: ['file'] },
          metrics: { receivers: ['otlp'], exporters: ['file'] },
        },
      },
    }),
  );
  const child = spawnTied(binary, ['--config', config]);
  const log = createWriteStream(join(dir, 'collector.log'));
  child.stdout?.pipe(log);
  child.stderr?.pipe(log);
  const url = `http://127.0.0.1:${port}`;
  const answers = () =>
    fetch(`${url}/v1/traces`, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }).then(
      ({ ok }) => ok,
      () => false,
    );
  const died = new Promise<never>((_, reject) =>
    child.once('exit', (code) =>
      reject(new Error(`The collector ended with ${code}: see ${join(dir, 'collector.log')}`)),
    ),
  );
  died.catch(() => undefined);
  await Promise.race([until('the collector receives', answers, { timeoutMs: 60_000, everyMs: 200 }), died]);
  return { url, text: () => readFile(file, 'utf8'), stop: () => endChild(child, 'SIGTERM', 10_000) };
}

/** One span as the collector wrote it. */
export interface ReceivedSpan {
  service: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  attributes: Record<string, string | number | boolean>;
  failed: boolean;
}

/** OTLP's JSON form, as far as it is read here. */
interface OtlpValue {
  stringValue?: string;
  intValue?: string;
  doubleValue?: number;
  boolValue?: boolean;
}
interface OtlpAttributes {
  attributes?: { key: string; value: OtlpValue }[];
}
interface OtlpLine {
  resourceSpans?: {
    resource: OtlpAttributes;
    scopeSpans: {
      spans: (OtlpAttributes &
        Pick<ReceivedSpan, 'traceId' | 'spanId' | 'name'> & { parentSpanId?: string; status?: { code?: number } })[];
    }[];
  }[];
  resourceMetrics?: { resource: OtlpAttributes; scopeMetrics: { metrics: { name: string }[] }[] }[];
}

export function spansIn(text: string): ReceivedSpan[] {
  return linesOf(text).flatMap(({ resourceSpans = [] }) =>
    resourceSpans.flatMap(({ resource, scopeSpans }) =>
      scopeSpans.flatMap(({ spans }) =>
        spans.map(({ traceId, spanId, parentSpanId = '', name, status, ...rest }) => ({
          traceId,
          spanId,
          parentSpanId,
          name,
          service: String(attributesOf(resource)['service.name']),
          attributes: attributesOf(rest),
          failed: status?.code === 2,
        })),
      ),
    ),
  );
}

/** Names of the figures that came, each with the service that sent it. */
export function metricsIn(text: string): Set<string> {
  const names = linesOf(text).flatMap(({ resourceMetrics = [] }) =>
    resourceMetrics.flatMap(({ resource, scopeMetrics }) =>
      scopeMetrics.flatMap(({ metrics }) =>
        metrics.map(({ name }) => `${attributesOf(resource)['service.name']} ${name}`),
      ),
    ),
  );
  return new Set(names);
}

function linesOf(text: string): OtlpLine[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as OtlpLine);
}

function attributesOf({ attributes = [] }: OtlpAttributes): ReceivedSpan['attributes'] {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, doubleValue, boolValue } }) => [
      key,
      stringValue ?? (intValue === undefined ? undefined : Number(intValue)) ?? doubleValue ?? boolValue ?? '',
    ]),
  );
}
