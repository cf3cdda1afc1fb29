import type { Cases } from './case.ts';
import { NOBODY, newCandidate, newField, newValue, SOMEBODY_ELSE } from './records.ts';
import type { World } from './world.ts';

/** Sections 2.5, 4.5. */
const unknown = () => ({ params: { customFieldId: SOMEBODY_ELSE } });
const foreign = async ({ other }: World) => ({ params: { customFieldId: await newField(other) } });
const own = async ({ partner }: World) => ({ params: { customFieldId: await newField(partner) } });
const description = { body: { description: 'Said better' } };

export const customFieldCases: Cases<'customFields'> = {
  list: {
    success: async (world) => {
      await own(world);
      return { query: { entityType: 'candidate' } };
    },
    refusals: { INVALID_REQUEST: () => ({ query: { entityType: 'company' } }) },
  },
  get: { success: own, refusals: { CUSTOM_FIELD_NOT_FOUND: unknown, PERMISSION_DENIED: foreign } },
  create: {
    success: () => ({ body: { entityType: 'job', fieldLabel: 'Grade', fieldType: 'select', options: ['A', 'B'] } }),
    refusals: { INVALID_REQUEST: () => ({ body: { entityType: 'job', fieldLabel: 'Grade', fieldType: 'select' } }) },
  },
  update: {
    success: async (world) => ({ ...(await own(world)), ...description }),
    refusals: {
      INVALID_REQUEST: async (world) => ({ ...(await own(world)), body: {} }),
      CUSTOM_FIELD_NOT_FOUND: () => ({ ...unknown(), ...description }),
      PERMISSION_DENIED: async (world) => ({ ...(await foreign(world)), ...description }),
    },
  },
  remove: { success: own, refusals: { CUSTOM_FIELD_NOT_FOUND: unknown, PERMISSION_DENIED: foreign } },
};

/** One entry to set, with what differs from a good one. */
async function entry(world: World, different: Record<string, unknown> = {}) {
  const good = { customFieldId: await newField(world.partner), entityId: await newCandidate(world) };
  return { ...good, entityType: 'candidate' as const, value: 'kept', ...different };
}

const noId = () => ({ params: { valueId: 'abc' } });
const foreignValue = async (world: World) => ({ params: { valueId: (await newValue(world, world.other)).valueId } });
const ownValue = async (world: World) => ({ params: { valueId: (await newValue(world)).valueId } });

export const customFieldValueCases: Cases<'customFieldValues'> = {
  list: {
    success: async (world) => ({
      query: { entityType: 'candidate', entityId: String((await newValue(world)).entityId) },
    }),
    refusals: { INVALID_REQUEST: () => ({ query: { entityType: 'candidate' } }) },
  },
  get: { success: ownValue, refusals: { INVALID_REQUEST: noId, NOT_FOUND: foreignValue } },
  upsert: {
    success: async (world) => ({ body: await entry(world) }),
    refusals: {
      INVALID_REQUEST: async (world) => ({
        body: await entry(world, { customFieldId: await newField(world.partner, 'number'), value: 'many' }),
      }),
      CUSTOM_FIELD_NOT_FOUND: async (world) => ({ body: await entry(world, { customFieldId: SOMEBODY_ELSE }) }),
      PERMISSION_DENIED: async (world) => ({
        body: await entry(world, { customFieldId: await newField(world.other) }),
      }),
      NOT_FOUND: async (world) => ({ body: await entry(world, { entityId: NOBODY }) }),
    },
  },
  upsertBulk: {
    success: async (world) => ({ body: [await entry(world)] }),
    refusals: {
      INVALID_REQUEST: () => ({ body: [] }),
      CUSTOM_FIELD_NOT_FOUND: async (world) => ({ body: [await entry(world, { customFieldId: SOMEBODY_ELSE })] }),
      PERMISSION_DENIED: async (world) => ({
        body: [await entry(world, { customFieldId: await newField(world.other) })],
      }),
      NOT_FOUND: async (world) => ({ body: [await entry(world, { entityId: NOBODY })] }),
    },
  },
  remove: { success: ownValue, refusals: { INVALID_REQUEST: noId, NOT_FOUND: foreignValue } },
  removeByEntity: {
    success: async (world) => ({
      params: { entityType: 'candidate', entityId: String((await newValue(world)).entityId) },
    }),
    refusals: {
      INVALID_REQUEST: () => ({ params: { entityType: 'company', entityId: '1' } }),
      NOT_FOUND: () => ({ params: { entityType: 'candidate', entityId: String(NOBODY) } }),
    },
  },
};
