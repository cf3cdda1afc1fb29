import { contract } from '../src/partner/contract/index.ts';
import type { Connections } from './connections.ts';

const FRESH_MS = 600_000;

/**
 * Whether a stage starts hires, by id. A pipeline's stages change rarely, so they are kept for ten minutes and read again for an id
 * that is not known. A stage nobody knows counts as one: the hire asks the partner anyway.
 */
export function createStageLookup(connections: Connections): (tenantId: string, stageId: string) => Promise<boolean> {
  const known = new Map<string, { types: Map<string, string>; readAt: number }>();
  return async (tenantId, stageId) => {
    let stages = known.get(tenantId);
    if (stages === undefined || !stages.types.has(stageId) || performance.now() - stages.readAt > FRESH_MS) {
      stages = { types: await readStageTypes(connections, tenantId), readAt: performance.now() };
      known.set(tenantId, stages);
    }
    const { enrolAt } = (await connections.of(tenantId)).tenant.policies;
    const type = stages.types.get(stageId);
    return type === undefined || enrolAt.includes(stageId) || enrolAt.includes(type);
  };
}

async function readStageTypes(connections: Connections, tenantId: string): Promise<Map<string, string>> {
  const { partner } = await connections.of(tenantId);
  const { items } = await partner.readAll(contract.pipelines.list, {}, { lane: 'live' });
  return new Map(
    items.flatMap((pipeline) => pipeline.stages ?? []).map((stage) => [String(stage.id), String(stage.type)]),
  );
}
