import { isConnectorError } from '../errors.ts';
import type { HrisConnection } from '../hris/port.ts';
import { fitMapping } from '../mapping/fit-mapping.ts';
import { noLanding } from '../streams/land-page.ts';
import { landedNames, type PullName, type StreamName } from '../streams/streams.ts';
import { loadStreamMapping } from '../tenants/open-hris.ts';
import type { Tenant } from '../tenants/schema.ts';
import { CALL_MS } from './open-tenant.ts';

/** Why a stream cannot land; undefined if it can. Reads no rows: it asks for an id that does not exist. */
export async function landingTrouble(
  tenant: Tenant,
  hris: HrisConnection,
  name: PullName,
): Promise<string | undefined> {
  const mapping = await loadStreamMapping(tenant, name);
  if (hris.landing === undefined || mapping === undefined) return noLanding(tenant.hris.kind, name).message;
  try {
    await hris.landing.read(name, ['0'], { tenant: tenant.tenant, signal: AbortSignal.timeout(CALL_MS) });
    const described = (await hris.describe?.(name, AbortSignal.timeout(CALL_MS))) ?? [];
    if (described.length === 0) return undefined;
    const missing = mapping.fields.filter(({ target }) => described.every(({ key }) => key !== target));
    const misfits = fitMapping(mapping, described).misfits.map(({ text }) => text);
    if (missing.length > 0)
      misfits.push(
        `The landing table of ${name} lacks ${missing.map(({ def, target }) => def.place ?? target).join(', ')}. ` +
          `Add what \`hirebridge ddl ${tenant.tenant} --stream ${name}\` prints, ` +
          'or set the field to null in the mapping.',
      );
    return misfits.length === 0 ? undefined : misfits.join(' ');
  } catch (error) {
    if (isConnectorError(error) && error.action === 'reject') return error.message;
    throw error;
  }
}

/** Warns if a landing table has no column to mark rows of deleted records, so that these rows stay as they are. */
export async function cannotMark(tenant: Tenant, { landing }: HrisConnection, name: StreamName): Promise<string[]> {
  const isMarked = ['mark', undefined].includes(tenant.streams[name].deletion);
  if (!landedNames.some((one) => one === name) || !isMarked) return [];
  if ((await landing?.marks?.(name, { signal: AbortSignal.timeout(CALL_MS) })) !== false) return [];
  return [
    `Rows of ${name} that the partner no longer has cannot be marked: their landing table has no column gone_at. Add ` +
      `what \`hirebridge ddl ${tenant.tenant} --stream ${name}\` prints, or write streams.${name}.deletion: ignore.`,
  ];
}
