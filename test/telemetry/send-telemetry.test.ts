import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Context } from '@temporalio/activity';
import { Registry } from 'prom-client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { askedTelemetry, startTelemetry } from '../../src/telemetry/start-telemetry.ts';

const WORKFLOW_ID = 'in1/hire/acme/77';
const activity = {
  info: {
    activityId: '1',
    activityType: 'openHire',
    inWorkflow: true,
    workflowExecution: { workflowId: WORKFLOW_ID, runId: 'r1' },
  },
} as unknown as Context;

/** Stands where a collector would, and gives all that was sent to it. */
async function collect(): Promise<() => string> {
  const bodies: Buffer[] = [];
  const server = createServer(async (request, response) => {
    bodies.push(await buffer(request));
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  vi.stubEnv('OTEL_METRICS_EXPORTER', 'none');
  onTestFinished(() => void vi.unstubAllEnvs());
  return () => Buffer.concat(bodies).toString('latin1');
}

test('a failed activity is sent with the kind of its error, never with a message that may quote a person', async () => {
  const sent = await collect();
  const telemetry = await startTelemetry('worker', new Registry());
  const inbound = telemetry?.temporal?.activity[0]?.(activity).inbound;
  const failing = inbound?.execute?.({ args: [], headers: {} }, () =>
    Promise.reject(new TypeError('ada@example.com is no address')),
  );
  await expect(failing).rejects.toThrow('ada@example.com');
  await telemetry?.close();
  expect(sent()).toContain('RunActivity:openHire');
  expect(sent()).toContain('TypeError');
  expect(sent()).not.toContain('ada@example.com');
});

test.each([
  [{}, { traces: false, metrics: false }],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, { traces: true, metrics: true }],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_SDK_DISABLED: 'true' },
    { traces: false, metrics: false },
  ],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_TRACES_EXPORTER: 'none' },
    { traces: false, metrics: true },
  ],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c/v1/traces' }, { traces: true, metrics: false }],
  [
    { OTEL_TRACES_EXPORTER: 'otlp', OTEL_METRICS_EXPORTER: 'prometheus' },
    { traces: true, metrics: false },
  ],
])('%j asks for %j', (env, asked) => {
  expect(askedTelemetry(env)).toEqual(asked);
});

test.each([
  [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER is not one of otlp, none'],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    'OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf',
  ],
])('%j is refused by the name of the variable', (env, message) => {
  expect(() => askedTelemetry(env)).toThrow(message);
});

test('where nothing asks for it, no package of OpenTelemetry is loaded', async () => {
  // Vitest loads the modules of this test by itself, so the question is asked of a process of its own.
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    await import('./src/app.ts');
    await import('./src/app-receiver.ts');
    const { startTelemetry } = await import('./src/telemetry/start-telemetry.ts');
    const { Registry } = await import('prom-client');
    const started = await startTelemetry('worker', new Registry());
    const ours = loaded.filter((url) => /[/]@opentelemetry[/](?!api[/])/.test(url));
    process.stdout.write(JSON.stringify([started ?? null, ours]));
  `;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('OTEL_')));
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], { env, encoding: 'utf8' });
  expect(JSON.parse(out)).toEqual([null, []]);
});
