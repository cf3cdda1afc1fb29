import type { Registry } from 'prom-client';
import { type ConnectorError, rejected } from '../errors.ts';
import type { Asked, Part, Telemetry } from './telemetry.ts';

const EXPORTERS = ['otlp', 'none', ''];

/**
 * What OTEL_* requests. Nothing is sent unless an exporter or an endpoint is named: by the specification's default,
 * every installation would call localhost.
 * @throws ConnectorError TELEMETRY_CONFIG_INVALID
 */
export function askedTelemetry(env: NodeJS.ProcessEnv = process.env): Asked {
  if (env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return { traces: false, metrics: false };
  const asked = { traces: isAsked(env, 'TRACES'), metrics: isAsked(env, 'METRICS') };
  for (const signal of ['TRACES', 'METRICS'] as const) if (asked[lower(signal)]) checkProtocol(env, signal);
  return asked;
}

function isAsked(env: NodeJS.ProcessEnv, signal: 'TRACES' | 'METRICS'): boolean {
  const exporter = env[`OTEL_${signal}_EXPORTER`]?.trim();
  // Prometheus fetches /metrics itself, so there is nothing to send.
  if (signal === 'METRICS' && exporter === 'prometheus') return false;
  if (exporter !== undefined && !EXPORTERS.includes(exporter))
    throw invalid(`OTEL_${signal}_EXPORTER`, `is not one of otlp, none${signal === 'METRICS' ? ', prometheus' : ''}`);
  if (exporter !== undefined && exporter !== '') return exporter === 'otlp';
  return [`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`, 'OTEL_EXPORTER_OTLP_ENDPOINT'].some((name) => isSet(env[name]));
}

function checkProtocol(env: NodeJS.ProcessEnv, signal: 'TRACES' | 'METRICS'): void {
  const names = [`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`, 'OTEL_EXPORTER_OTLP_PROTOCOL'];
  const named = names.find((name) => isSet(env[name]));
  if (named !== undefined && env[named] !== 'http/protobuf')
    throw invalid(named, 'must be http/protobuf, the default: every collector receives it, on port 4318');
}

function lower(signal: 'TRACES' | 'METRICS'): keyof Asked {
  return signal === 'TRACES' ? 'traces' : 'metrics';
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value.trim() !== '';
}

function invalid(name: string, what: string): ConnectorError {
  return rejected(
    'TELEMETRY_CONFIG_INVALID',
    `The environment variable ${name} ${what}. Correct it, or unset it to send nothing.`,
  );
}

/** Starts to send what OTEL_* requests; undefined if nothing, and then nothing is loaded. */
export async function startTelemetry(part: Part, registry: Registry): Promise<Telemetry | undefined> {
  const asked = askedTelemetry();
  if (!asked.traces && !asked.metrics) return undefined;
  const { sendTelemetry } = await import('./send-telemetry.ts');
  return sendTelemetry(part, registry, asked);
}
