import { isConnectorError } from '../../src/errors.ts';
import { type CustomFieldValueInput, readMultiSelect } from '../../src/partner/contract/custom-fields.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { stageTypes } from '../../src/partner/contract/pipelines.ts';
import type { OptionPlan } from '../../src/plan/plan-options.ts';
import type { FieldDefinition } from '../../src/store/fields.ts';
import type { Connection } from '../connections.ts';

/** The labels to check for one field, and which of them are in use. */
export interface Asking {
  field: FieldDefinition;
  /** Labels that should go, be renamed or were passed on, and may be held by a record. */
  asked: string[];
  /** Labels to remove that were in use when they were last checked, a short while ago. */
  resting: string[];
  /** Labels that left the field, or may have left it, and were not checked since. */
  leaving: string[];
  uses: Uses;
}

interface Uses {
  /** The labels that a record holds; all of them if that cannot be told. */
  labels: ReadonlySet<string>;
  /** Records that hold one of the labels, with the labels they hold. */
  holders: ReadonlyMap<string, ReadonlySet<string>>;
  /** Why it cannot be told which labels are in use. */
  unknown: string | undefined;
}

export const NO_USES: Uses = { labels: new Set(), holders: new Map(), unknown: undefined };

export function holdersOf({ rename }: OptionPlan, { holders }: Uses): string[] {
  const renamed = rename.map(({ from }) => from);
  return [...holders].filter(([, labels]) => renamed.some((label) => labels.has(label))).map(([id]) => id);
}

/** Up to this many candidates are asked one by one, because no list shows values on parts of a profile. */
const MOST_ASKED = 200;

/** The labels to check for one field, and the results so far. */
interface Ask {
  field: FieldDefinition;
  labels: ReadonlySet<string>;
  found: Set<string>;
  holders: Map<string, Set<string>>;
  /** Number of values that do not have the form of the field's type. */
  odd: number;
  unknown: string | undefined;
}

interface Asked {
  connection: Connection;
  beat: () => void;
}

type Look = Asked & { asks: readonly Ask[] };

/** Finds out which records hold labels that should go or have left. Reads every record once for all fields. */
export async function lookWhoHolds({ connection, beat }: Asked, sides: readonly Asking[]) {
  const asks = sides.map(({ field, asked, leaving }): Ask => {
    const labels = new Set([...asked, ...leaving]);
    return { field, labels, found: new Set(), holders: new Map(), odd: 0, unknown: undefined };
  });
  const open = asks.filter(({ labels }) => labels.size > 0);
  const isOfJobs = ({ field }: Ask): boolean => field.entity === 'job';
  await lookAtJobs({ connection, beat, asks: open.filter(isOfJobs) });
  await lookAtCandidates({ connection, beat, asks: open.filter((ask) => !isOfJobs(ask)) });
  for (const [at, { labels, found, holders, odd, unknown }] of asks.entries()) {
    const side = sides[at] as Asking;
    const why = unknown ?? (odd > 0 ? unreadable(odd, 'values') : undefined);
    side.uses = {
      labels: new Set([...side.resting, ...(why === undefined ? found : labels)]),
      holders,
      unknown: why,
    };
  }
}

function note({ field, labels, found, holders, ...ask }: Ask, entityId: string, stored: unknown): number {
  const held = heldIn(field, stored);
  for (const label of held?.filter((one) => labels.has(one)) ?? []) {
    found.add(label);
    holders.set(entityId, (holders.get(entityId) ?? new Set()).add(label));
  }
  return ask.odd + (held === undefined ? 1 : 0);
}

/** Undefined if the value does not have the form of its type, so that its options cannot be told. */
function heldIn({ type }: FieldDefinition, stored: unknown): string[] | undefined {
  if (stored === undefined || stored === null || stored === '') return [];
  if (type === 'multi-select') return readMultiSelect(stored);
  return typeof stored === 'string' || typeof stored === 'number' ? [String(stored)] : undefined;
}

const unreadable = (count: number, what: string): string => `${count} ${what} cannot be read and may hold it`;

/** Every job shows every field (section 2.2). */
async function lookAtJobs({ connection, beat, asks }: Look): Promise<void> {
  if (asks.length === 0) return;
  let unread = 0;
  for await (const page of connection.partner.pages(contract.jobs.list, {})) {
    for (const { id, customFields } of page.items)
      for (const ask of asks) ask.odd = note(ask, String(id), customFields?.[ask.field.id]?.value);
    unread += page.unreadable.length;
    beat();
  }
  if (unread > 0) for (const ask of asks) ask.unknown = unreadable(unread, 'jobs');
}

/**
 * Applications show their candidates' values (section 2.4). Candidates without a job, and values on parts of a profile,
 * are asked for one by one unless the applications already showed every label.
 */
async function lookAtCandidates({ connection, beat, asks }: Look): Promise<void> {
  if (asks.length === 0) return;
  const { partner } = connection;
  for (const stageType of stageTypes)
    for await (const { items } of partner.pages(contract.jobCandidates.listByStageType, { query: { stageType } })) {
      for (const { jobCandidateDetails: one } of items)
        for (const ask of asks) ask.odd = note(ask, String(one.candidateId), one.customFields?.[ask.field.id]?.value);
      beat();
    }
  const open = asks.filter(({ labels, found }) => labels.size > found.size);
  if (open.length === 0) return;
  const unknown = await askOneByOne({ connection, beat, asks: open });
  for (const ask of open) ask.unknown = unknown;
}

/** Returns why it cannot be told, or undefined if it can. */
async function askOneByOne({ connection, beat, asks }: Look): Promise<string | undefined> {
  const { partner } = connection;
  const ids: string[] = [];
  for await (const { items, unreadable: unread, total } of partner.pages(contract.candidates.list, {})) {
    if (unread.length > 0) return unreadable(unread.length, 'candidates');
    ids.push(...items.map(({ id }) => String(id)));
    if (Math.max(ids.length, total ?? 0) > MOST_ASKED) return `more than ${MOST_ASKED} candidates may hold it`;
  }
  for (const entityId of new Set(ids)) {
    const query = { entityType: 'candidate', entityId } as const;
    const { items, unreadable: unread } = await partner.readAll(contract.customFieldValues.list, { query });
    if (unread.length > 0) return unreadable(unread.length, 'values');
    for (const { customFieldId, value } of items)
      for (const ask of asks) if (customFieldId === ask.field.id) ask.odd = note(ask, entityId, value);
    beat();
  }
  return undefined;
}

/** One value of a field and its place in a record. */
export interface Place {
  input: Omit<CustomFieldValueInput, 'value'>;
  held: string[] | undefined;
}

/** A record's values in a field, on itself and on parts of a profile; none if the record is gone. */
export async function readPlaces({ partner }: Connection, field: FieldDefinition, entityId: string): Promise<Place[]> {
  const entityType = field.entity as 'candidate' | 'job';
  try {
    const { items } = await partner.readAll(contract.customFieldValues.list, { query: { entityType, entityId } });
    return items
      .filter(({ customFieldId }) => customFieldId === field.id)
      .map(({ value, parentEntityType, parentEntityId }) => ({
        input: {
          customFieldId: field.id,
          entityType,
          entityId,
          ...(parentEntityType && parentEntityId && { parentEntityType, parentEntityId }),
        },
        held: heldIn(field, value),
      }));
  } catch (error) {
    if (isConnectorError(error) && error.status === 404) return [];
    throw error;
  }
}
