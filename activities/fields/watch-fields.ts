import { isConnectorError } from '../../src/errors.ts';
import type { Logger } from '../../src/log.ts';
import {
  type CustomFieldUse,
  customFieldsMapped,
  customFieldsWritten,
} from '../../src/mapping/custom-fields-in-use.ts';
import { type MatchedFields, matchFields } from '../../src/mapping/match-fields.ts';
import { type FieldDefinition, readMatches, saveFields, saveMatches } from '../../src/store/fields.ts';
import type { Store } from '../../src/store/open-store.ts';
import type { Connection } from '../connections.ts';
import { readDefinitions } from './read-definitions.ts';
import { settleAlarms } from './settle-alarms.ts';

type Watcher = { store: Store; log: Logger };

type MappedSide = Pick<Connection, 'mapping' | 'landings' | 'exchanges' | 'tenant'>;

/** Every custom field of the partner that the tenant's files name. */
export function fieldsInUse({ mapping, landings, exchanges, tenant }: MappedSide) {
  const mapped = customFieldsMapped([mapping, ...Object.values(landings), ...Object.values(exchanges)]);
  return [...mapped, ...customFieldsWritten(tenant.writeBack)];
}

/**
 * One look at the partner's custom fields, for a tenant that uses any. A partner that refuses to show them keeps
 * nothing else from being reconciled; whoever needs a field is refused then.
 */
export async function watchFields(watcher: Watcher, connection: Connection): Promise<void> {
  const uses = fieldsInUse(connection);
  if (uses.length === 0) return;
  try {
    const { fields } = await readDefinitions(connection);
    await judgeFields(watcher, connection.tenant.tenant, uses, fields);
  } catch (error) {
    if (!isConnectorError(error) || error.action !== 'reject') throw error;
    watcher.log.warn(
      { tenantId: connection.tenant.tenant, code: error.code, reason: error.message },
      'fields not read',
    );
  }
}

/** Keeps what was read, matches the uses with it, and raises and ends the alarms. */
export async function judgeFields(
  { store, log }: Watcher,
  tenantId: string,
  uses: readonly CustomFieldUse[],
  defined: readonly FieldDefinition[],
): Promise<MatchedFields> {
  await saveFields(store, { tenantId, side: 'partner' }, defined);
  const known = await readMatches(store, tenantId);
  const matched = matchFields(uses, defined, known);
  const news = [...matched.matches].filter(([path, match]) => !isSame(known.get(path), match));
  await saveMatches(store, tenantId, new Map(news));
  const troubles = matched.troubles.map(({ path: subject, reason, message }) => ({ subject, reason, message }));
  await settleAlarms({ store, log }, { tenantId, kind: 'field-changed', about: '' }, troubles);
  return matched;
}

function isSame(known: FieldDefinition | undefined, now: FieldDefinition): boolean {
  return JSON.stringify(known) === JSON.stringify(now);
}
