import { ConnectorError } from '../../errors.ts';
import { type LandingTable, landingKeys } from './landing-options.ts';
import { explainSqlError } from './sql-errors.ts';

/**
 * Faults of the landing table itself: they end the stream's run, and leave the tenant's hires alone, which use another
 * table.
 */
const ofTheTable: ReadonlySet<string> = new Set(['HRIS_FORBIDDEN', 'HRIS_MISCONFIGURED']);

/** As `explainSqlError`, about a landing table. */
export function explainLandingError(error: unknown, { table, columns }: LandingTable): ConnectorError {
  const known = explainSqlError(error, { sent: false });
  if (!ofTheTable.has(known.code)) return known;
  const [, source = 'no code', next = ''] = /\(([^()]*)\)\.(.*)$/.exec(known.message) ?? [];
  const needed = [...Object.values(landingKeys), ...Object.values(columns).map(({ column }) => column)].join(', ');
  const why =
    known.code === 'HRIS_FORBIDDEN'
      ? 'may not be read and written by this user. Grant select, insert and update on it'
      : `does not exist, or lacks a column or its unique key. It needs the columns ${needed}, unique on ` +
        `(${landingKeys.tenant}, ${landingKeys.id}); another name or other columns go into hris.landing`;
  return new ConnectorError({
    code: 'LANDING_UNUSABLE',
    action: 'reject',
    message: `The landing table ${table} of the HRIS database ${why} (${source}).${next}`,
    cause: known,
  });
}
