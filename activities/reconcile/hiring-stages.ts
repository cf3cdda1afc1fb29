import { contract } from '../../src/partner/contract/index.ts';
import { hiringStagesOf } from '../../src/tenants/schema.ts';
import { within } from '../../src/within.ts';
import type { Connections } from '../connections.ts';

const FRESH_MS = 600_000;
const UNKNOWN_MS = 5_000;
const PATIENCE_MS = 2_000;

type StageTypes = Map<string, string>;

interface Reading {
  types: Promise<StageTypes | undefined>;
  beganAt: number;
}

/**
 * Tells by id whether a stage starts hires. Stages change rarely, so they are kept for ten minutes, or for five seconds
 * if an id is missing. A burst of events shares one reading. If in doubt (an unknown stage, or a partner that cannot be
 * asked or takes over two seconds), the answer is yes: the hire reads anyway, and a relay that waits for one partner
 * would delay other tenants.
 */
export function createStageLookup(connections: Connections): (tenantId: string, stageId: string) => Promise<boolean> {
  const readings = new Map<string, Reading>();
  const stagesOf = (tenantId: string, maxAgeMs: number): Promise<StageTypes | undefined> => {
    const known = readings.get(tenantId);
    if (known !== undefined && performance.now() - known.beganAt <= maxAgeMs) return inTime(known);
    const types = readStageTypes(connections, tenantId).catch(() => {
      if (readings.get(tenantId) === reading) readings.delete(tenantId);
      return undefined;
    });
    const reading: Reading = { types, beganAt: performance.now() };
    readings.set(tenantId, reading);
    return inTime(reading);
  };
  return async (tenantId, stageId) => {
    const kept = await stagesOf(tenantId, FRESH_MS);
    if (kept === undefined) return true;
    const type = kept.get(stageId) ?? (await stagesOf(tenantId, UNKNOWN_MS))?.get(stageId);
    if (type === undefined) return true;
    const stages = hiringStagesOf((await connections.of(tenantId)).tenant);
    return stages.includes(stageId) || stages.includes(type);
  };
}

/** The two seconds start with the reading, so that nobody waits twice for a silent partner. */
function inTime({ types, beganAt }: Reading): Promise<StageTypes | undefined> {
  return within(Math.max(0, beganAt + PATIENCE_MS - performance.now()), types);
}

async function readStageTypes(connections: Connections, tenantId: string): Promise<StageTypes> {
  const { partner } = await connections.of(tenantId);
  const { items } = await partner.readAll(contract.pipelines.list, {}, { priority: 'live' });
  return new Map(items.flatMap((pipeline) => pipeline.stages ?? []).map((stage) => [stage.id, String(stage.type)]));
}
