import { ConnectorError } from '../../src/errors.ts';
import { type CustomFieldUse, customFieldsRead } from '../../src/mapping/custom-fields-in-use.ts';
import { areShown, decodeCustomFields } from '../../src/mapping/decode-custom-fields.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import { type FieldTrouble, type MatchedFields, matchFields } from '../../src/mapping/match-fields.ts';
import type { MappingSources } from '../../src/mapping/read-source.ts';
import { type FieldDefinition, readMatches } from '../../src/store/fields.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { latestDefinitions, readDefinitions } from './read-definitions.ts';
import { fieldsInUse, judgeFields } from './watch-fields.ts';

/** Definitions read longer ago are read again, whatever the records show. */
const FRESH_MS = 60_000;

type Deps = Pick<ActivityDeps, 'store' | 'log' | 'limits'>;

/**
 * Records that were just read, as the mapping may take them: each custom field it names is known to be the one that was
 * meant when the records were read, and its value stands in the form of its type. Records that show those fields
 * themselves, under the id and label of a minute ago, need no call; others cost one, which the tenant's hires share.
 * Throws `throttle` while a field is not what it was: what reads it waits, and goes on once it is put right.
 */
export async function currentRecords<T extends MappingSources>(
  deps: Deps,
  connection: Connection,
  mapping: Mapping,
  records: readonly T[],
): Promise<MappingSources[]> {
  const uses = customFieldsRead([mapping]);
  if (uses.length === 0) return [...records];
  const defined =
    (await shownDefinitions(deps, connection, uses, records)) ?? (await readAgain(deps, connection, uses));
  return records.map((record) => decodeCustomFields(record, defined));
}

/**
 * The partner's custom fields as they are now, for what reads and writes these. Throws `throttle` while one of them is
 * not what it was.
 */
export async function definitionsInUse(
  deps: Deps,
  connection: Connection,
  uses: readonly CustomFieldUse[],
): Promise<readonly FieldDefinition[]> {
  return uses.length === 0 ? [] : readAgain(deps, connection, uses);
}

/** The definitions of the last minute, where every record shows that they still hold. */
async function shownDefinitions(
  { store }: Deps,
  connection: Connection,
  uses: readonly CustomFieldUse[],
  records: readonly MappingSources[],
): Promise<readonly FieldDefinition[] | undefined> {
  const known = latestDefinitions(connection, FRESH_MS);
  if (known === undefined) return undefined;
  const { matches, troubles } = matchFields(uses, known.fields, await readMatches(store, connection.tenant.tenant));
  if (troubles.some(({ blocks }) => blocks)) return undefined;
  const wanted = [...matches.values()];
  if (!records.every((record) => areShown(record, known.fields, wanted))) return undefined;
  return known.fields;
}

async function readAgain(
  deps: Deps,
  connection: Connection,
  uses: readonly CustomFieldUse[],
): Promise<readonly FieldDefinition[]> {
  const { fields } = await readDefinitions(connection);
  // A hire may keep an earlier mapping than the tenant's.
  const all = new Map([...fieldsInUse(connection), ...uses].map((use) => [use.path, use]));
  const { troubles } = await judgeFields(deps, connection.tenant.tenant, [...all.values()], fields);
  assertUsable(deps, troubles, uses);
  return fields;
}

function assertUsable({ limits }: Deps, troubles: MatchedFields['troubles'], uses: readonly CustomFieldUse[]): void {
  const paths = new Set(uses.map(({ path }) => path));
  const [first] = troubles.filter(({ path, blocks }) => blocks && paths.has(path));
  if (first !== undefined) throw fieldChanged(first, limits.pausedMs);
}

function fieldChanged({ reason, message }: FieldTrouble, pausedMs: number): ConnectorError {
  return new ConnectorError({ code: reason, action: 'throttle', message, retryAfterMs: pausedMs });
}
