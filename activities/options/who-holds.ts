import { isConnectorError } from '../../src/errors.ts';
import { type CustomFieldValueInput, readMultiSelect } from '../../src/partner/contract/custom-field-values.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { stageTypes } from '../../src/partner/contract/pipelines.ts';
import type { OptionPlan } from '../../src/plan/plan-options.ts';
import type { FieldDefinition } from '../../src/store/fields.ts';
import type { Connection } from '../connections.ts';

/** What is asked of one field, and what was found. */
export interface Asking {
  field: FieldDefinition;
  /** Labels that should go or be renamed, or were passed on, and of which nobody knows whether a record holds them. */
  asked: string[];
  /** Of those that should go, the ones that were in use not long ago. */
  resting: string[];
  /** Left the field, or may have, and nobody has looked since. */
  leaving: string[];
  uses: Uses;
}

interface Uses {
  /** Of those asked about, the ones that a record holds; all of them where nobody can tell. */
  labels: ReadonlySet<string>;
  /** Records that were seen to hold one of them, and which. */
  holders: ReadonlyMap<string, ReadonlySet<string>>;
  /** Why nobody can tell. */
  unknown: string | undefined;
}

export const NO_USES: Uses = { labels: new Set(), holders: new Map(), unknown: undefined };

export function holdersOf({ rename }: OptionPlan, { holders }: Uses): string[] {
  const renamed = rename.map(({ from }) => from);
  return [...holders].filter(([, labels]) => renamed.some((label) => labels.has(label))).map(([id]) => id);
}

/** So many candidates are asked one by one, because no list shows what hangs on a part of their profile. */
const MOST_ASKED = 200;

/** Of one field: what is asked, and what was found so far. */
interface Ask {
  field: FieldDefinition;
  labels: ReadonlySet<string>;
  found: Set<string>;
  holders: Map<string, Set<string>>;
  /** Values in no form of the field's type. */
  odd: number;
  unknown: string | undefined;
}

interface Asked {
  connection: Connection;
  beat: () => void;
}

type Look = Asked & { asks: readonly Ask[] };

/** Who holds what should go or has left. Every record is read once for all fields. */
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

/** Undefined where a value is in no form of its type: which options it holds, nobody can tell. */
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
 * Applications show what their people hold (section 2.4); what stands in no job, and what hangs on a part of a profile,
 * is asked for one by one, unless the applications have told of every label already.
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

/** Says why nobody can tell. */
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

/** One value of a field, with its place in a record. */
export interface Place {
  input: Omit<CustomFieldValueInput, 'value'>;
  held: string[] | undefined;
}

/** What a record holds of a field, in itself and in parts of a profile; nothing where it is gone. */
export async function readPlaces({ partner }: Connection, field: FieldDefinition, entityId: string): Promise<Place[]> {
  const entityType = field.entity as 'candidate' | 'job';
  try {
    const { items } = await partner.readAll(contract.customFieldValues.list, { query: { entityType, entityId } });
    return items
      .filter(({ customFieldId }) => customFieldId === field.id)
      .map(({ value, parentEntityType, parentEntityId }) => ({
        input: { customFieldId: field.id, entityType, entityId, ...parentOf(parentEntityType, parentEntityId) },
        held: heldIn(field, value),
      }));
  } catch (error) {
    if (isConnectorError(error) && error.status === 404) return [];
    throw error;
  }
}

function parentOf(parentEntityType?: string | null, parentEntityId?: string | null) {
  return (parentEntityId ?? '') === '' || (parentEntityType ?? '') === ''
    ? {}
    : { parentEntityType: parentEntityType as string, parentEntityId: parentEntityId as string };
}
