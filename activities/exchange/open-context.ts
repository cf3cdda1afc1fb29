import { type ConnectorError, rejected } from '../../src/errors.ts';
import { amendsOnly, sayToPartner } from '../../src/exchange/see-fields.ts';
import { type CustomFieldUse, customFieldsMapped } from '../../src/mapping/custom-fields.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import { BY_ITSELF, type WriteOrigin } from '../../src/store/foreign-writes.ts';
import type { PairScope } from '../../src/store/linked-pairs.ts';
import { readStreamState } from '../../src/store/streams.ts';
import { withTables } from '../../src/streams/stream.ts';
import type { ExchangeInput } from '../../src/streams/stream-activities.ts';
import { entityOf, type StreamName } from '../../src/streams/streams.ts';
import { type ActivityDeps, type Connection, keepMapping } from '../connections.ts';
import { definitionsInUse } from '../fields/field-values.ts';
import { createJobsList, type Reading } from './read-sides.ts';

/** Everything that one step of a run needs to read and write its pairs. */
export interface ExchangeContext extends Reading {
  deps: ActivityDeps;
  key: { tenantId: string; stream: StreamName };
  runId: string;
  mapping: Mapping;
  /** The custom fields that the mapping names. */
  uses: readonly CustomFieldUse[];
  origin: WriteOrigin;
  /** A person asked for this run. */
  full: boolean;
  /** The last whole run had these rules: a field that is another one now was created again at the partner. */
  hasSameRules: boolean;
}

/**
 * Opens what a run needs to read its pairs.
 * @throws ConnectorError NO_MAPPING, AMEND_UNSUPPORTED, FIELD_WRITTEN_TWICE
 */
export async function openContext(
  deps: ActivityDeps,
  connection: Connection,
  { tenantId, stream, runId, full }: ExchangeInput,
): Promise<ExchangeContext> {
  const own = connection.exchanges[stream];
  if (own === undefined) throw noMapping(stream);
  if (amendsOnly(own) && connection.hris.employees.amend === undefined) throw cannotAmend(connection);
  const subject = amendsOnly(own) ? 'employee' : stream;
  await keepMapping(deps.store, connection.tenant, { subject, mapping: own });
  const mapping = await withTables(deps.store, tenantId, own);
  const uses = customFieldsMapped([mapping]);
  const defined = await definitionsInUse(deps, connection, uses);
  const origin = { tenantId, runId, mappingHash: mapping.hash, by: BY_ITSELF };
  const jobs = createJobsList(deps.store, connection);
  const key = { tenantId, stream };
  const hasSameRules = (await readStreamState(deps.store, key))?.mapping_hash === mapping.hash;
  const context = { deps, connection, key, runId, mapping, uses, defined, origin, full, hasSameRules };
  return assertWrittenOnce({ ...context, entity: entityOf(stream), jobs });
}

/**
 * The pairs that a run covers. Checking whether a gone candidate or employee is back costs calls, so only a run that a
 * person asked for does it. Jobs and positions are read as lists anyway, and a closed one may reopen.
 */
export function scopeOf({ key, connection, mapping, entity, full }: ExchangeContext): PairScope {
  const scope = { ...key, entity, connection: connection.tenant.hris.connection, withGone: full || entity === 'job' };
  return amendsOnly(mapping) ? { ...scope, hireStates: ['done', 'kept'] } : scope;
}

/**
 * Two streams that write the same job custom field would overwrite each other; this includes the field with the
 * position's id.
 */
function assertWrittenOnce(context: ExchangeContext): ExchangeContext {
  const { requisitions } = context.connection.tenant;
  if (context.entity !== 'job' || requisitions === undefined) return context;
  const theirs = [requisitions.reference, ...requisitions.values.map(({ customFieldId }) => customFieldId)];
  for (const { target, from } of context.mapping.back) {
    const said = sayToPartner(from[0], null, context.defined);
    if ('customFieldId' in said && theirs.includes(said.customFieldId)) throw writtenTwice(target, said.customFieldId);
  }
  return context;
}

function writtenTwice(target: string, customFieldId: string): ConnectorError {
  return rejected(
    'FIELD_WRITTEN_TWICE',
    `The mapping of "${target}" writes the job custom field ${customFieldId}, and so does the stream requisitions ` +
      '(section requisitions of the tenant file). Keep one of the two.',
  );
}

function cannotAmend({ tenant }: Connection): ConnectorError {
  return rejected(
    'AMEND_UNSUPPORTED',
    `Employees in HR systems of kind ${tenant.hris.kind} cannot be amended: a later edit there could be overwritten ` +
      'unseen. Remove streams.amendments from the tenant file, and make changes after the hire by hand.',
  );
}

export function noMapping(stream: string): ConnectorError {
  return rejected(
    'NO_MAPPING',
    `No mapping says which fields ${stream} exchanges. Name a mapping file in streams.${stream}.mapping.`,
  );
}
