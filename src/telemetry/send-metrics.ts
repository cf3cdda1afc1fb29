import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
import { hrTime, millisToHrTime } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import type { Registry } from 'prom-client';

const EVERY_MS = 60_000;
const MOST_MS = 30_000;

/** Sends the metrics of `/metrics` unchanged every minute (OTEL_METRIC_EXPORT_INTERVAL). Returns how to stop it. */
export function sendMetrics(registry: Registry, resource: Resource): () => Promise<void> {
  const everyMs = Number(process.env['OTEL_METRIC_EXPORT_INTERVAL'] ?? '') || EVERY_MS;
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter(),
    exportIntervalMillis: everyMs,
    exportTimeoutMillis: Math.min(everyMs, MOST_MS),
  });
  reader.setMetricProducer(producerOf(registry, resource));
  return () => reader.shutdown();
}

/** Uses prom-client's counts for all readers: a second set of instruments would drift apart from it. */
function producerOf(registry: Registry, resource: Resource): MetricProducer {
  const startTime = millisToHrTime(performance.timeOrigin);
  return {
    async collect() {
      const times = { startTime, endTime: hrTime() };
      const counted = (await registry.getMetricsAsJSON()) as unknown as Counted[];
      const metrics = counted.map((metric) => toMetricData(metric, times));
      return { resourceMetrics: { resource, scopeMetrics: [{ scope: { name: 'hirebridge' }, metrics }] }, errors: [] };
    },
  };
}

/** prom-client's output; its own types leave out some members of a histogram's values. */
interface Counted {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram' | 'summary';
  values: { value: number; labels: Record<string, string | number>; metricName?: string }[];
}

type Times = { startTime: HrTime; endTime: HrTime };

function toMetricData({ name, help, type, values }: Counted, times: Times): MetricData {
  const common = {
    descriptor: { name, description: help, unit: name.endsWith('_seconds') ? 's' : '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const points = values.map(({ value, labels }): DataPoint<number> => ({ ...times, attributes: labels, value }));
  if (type === 'counter') return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points };
  if (type !== 'histogram') return { ...common, dataPointType: DataPointType.GAUGE, dataPoints: points };
  return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints: histograms(name, values, times) };
}

/** Prometheus' buckets include the smaller ones, as separate values; OTLP wants separate counts in one point. */
function histograms(name: string, values: Counted['values'], times: Times): DataPoint<Histogram>[] {
  const series = Map.groupBy(values, ({ labels: { le: _bound, ...labels } }) => JSON.stringify(labels));
  return [...series.values()].map((own) => {
    const of = (metricName: string): number => own.find((one) => one.metricName === metricName)?.value ?? 0;
    const buckets = own.filter(({ metricName }) => metricName === `${name}_bucket`);
    const { le: _bound, ...attributes } = own[0]?.labels ?? {};
    const counts = buckets.map(({ value }, place) => value - (buckets[place - 1]?.value ?? 0));
    const boundaries = buckets.map(({ labels }) => Number(labels['le'])).filter(Number.isFinite);
    return {
      ...times,
      attributes: attributes as Attributes,
      value: { buckets: { boundaries, counts }, sum: of(`${name}_sum`), count: of(`${name}_count`) },
    };
  });
}
