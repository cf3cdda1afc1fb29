import { contract } from '../../src/partner/contract/index.ts';
import { hiringStagesOf } from '../../src/tenants/hiring-stages.ts';
import type { Connections } from '../connections.ts';

const FRESH_MS = 600_000;
const UNKNOWN_MS = 5_000;

/**
 * Whether a stage starts hires, by id. A pipeline's stages change rarely, so they are kept for ten minutes, and for
 * five seconds where an id is not among them. A burst of events shares one reading. A stage nobody knows counts as
 * one: the hire asks the partner anyway.
 */
export function createStageLookup(connections: Connections): (tenantId: string, stageId: string) => Promise<boolean> {
  const readings = new Map<string, { types: Promise<Map<string, string>>; readAt: number }>();
  const stagesOf = (tenantId: string, maxAgeMs: number): Promise<Map<string, string>> => {
    const known = readings.get(tenantId);
    if (known !== undefined && performance.now() - known.readAt <= maxAgeMs) return known.types;
    const reading = { types: readStageTypes(connections, tenantId), readAt: performance.now() };
    readings.set(tenantId, reading);
    reading.types.catch(() => readings.get(tenantId) === reading && readings.delete(tenantId));
    return reading.types;
  };
  return async (tenantId, stageId) => {
    const kept = await stagesOf(tenantId, FRESH_MS);
    const types = kept.has(stageId) ? kept : await stagesOf(tenantId, UNKNOWN_MS);
    const stages = hiringStagesOf((await connections.of(tenantId)).tenant);
    const type = types.get(stageId);
    return type === undefined || stages.includes(stageId) || stages.includes(type);
  };
}

async function readStageTypes(connections: Connections, tenantId: string): Promise<Map<string, string>> {
  const { partner } = await connections.of(tenantId);
  const { items } = await partner.readAll(contract.pipelines.list, {}, { priority: 'live' });
  return new Map(items.flatMap((pipeline) => pipeline.stages ?? []).map((stage) => [stage.id, String(stage.type)]));
}
