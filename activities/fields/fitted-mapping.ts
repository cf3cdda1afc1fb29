import { ConnectorError, isConnectorError } from '../../src/errors.ts';
import type { DescribedField, HrisConnection } from '../../src/hris/port.ts';
import { fitMapping, type Misfit } from '../../src/mapping/fit-mapping.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import { saveFields } from '../../src/store/fields.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { settleAlarms } from './settle-alarms.ts';

/** Fields of an HR system change rarely, and it refuses what does not fit. */
const FRESH_MS = 600_000;
const READ_MS = 30_000;

type Deps = Pick<ActivityDeps, 'store' | 'log' | 'limits'>;

interface Fitted {
  at: number;
  mapping: Mapping;
}

const kept = new WeakMap<HrisConnection, Map<string, Fitted>>();

/**
 * A mapping within the bounds of the HR system's own fields, as they were in the last ten minutes. Throws `throttle`
 * while it does not fit them: nothing is written then, and what waits goes on once mapping or field are put right.
 */
export async function fittedMapping(
  deps: Deps,
  connection: Connection,
  subject: string,
  mapping: Mapping,
): Promise<Mapping> {
  const { hris } = connection;
  if (hris.describe === undefined) return mapping;
  const version = `${subject} ${mapping.hash}`;
  const known = kept.get(hris)?.get(version);
  if (known !== undefined && performance.now() - known.at <= FRESH_MS) return known.mapping;
  const at = performance.now();
  const described = await describe(hris.describe, subject);
  const fitted = fitMapping(mapping, described);
  await note(deps, connection.tenant.tenant, subject, { described, misfits: fitted.misfits });
  const [first] = fitted.misfits;
  if (first !== undefined) throw misfit(first, deps.limits.pausedMs);
  kept.set(hris, (kept.get(hris) ?? new Map<string, Fitted>()).set(version, { at, mapping: fitted.mapping }));
  return fitted.mapping;
}

/** Who refuses to describe its fields judges each value when it is written. */
async function describe(ask: NonNullable<HrisConnection['describe']>, subject: string): Promise<DescribedField[]> {
  try {
    return await ask(subject, AbortSignal.timeout(READ_MS));
  } catch (error) {
    if (!isConnectorError(error) || error.action !== 'reject') throw error;
    return [];
  }
}

async function note(
  { store, log }: Deps,
  tenantId: string,
  subject: string,
  { described, misfits }: { described: readonly DescribedField[]; misfits: readonly Misfit[] },
): Promise<void> {
  if (described.length > 0) {
    const fields = described.map(({ key: id, isField: _isField, ...rest }) => ({ id, entity: subject, ...rest }));
    await saveFields(store, { tenantId, side: 'hris', entity: subject }, fields);
  }
  const troubles = misfits.map(({ field, text }) => ({
    subject: `${subject} ${field}`,
    reason: 'MAPPING_MISFIT',
    message: text,
  }));
  await settleAlarms({ store, log }, { tenantId, kind: 'mapping-misfit', about: `${subject} ` }, troubles);
}

function misfit({ text }: Misfit, pausedMs: number): ConnectorError {
  return new ConnectorError({ code: 'MAPPING_MISFIT', action: 'throttle', message: text, retryAfterMs: pausedMs });
}
