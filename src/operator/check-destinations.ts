import { connect as connectPlain, isIP } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import { isConnectorError, rejected } from '../errors.ts';
import type { HrisConnection } from '../hris/port.ts';
import { assertPublicAddress, publicLookup } from '../http/pool.ts';
import { noticeHeaders } from '../http/signed-delivery.ts';
import { fitMapping } from '../mapping/fit-mapping.ts';
import { noLanding } from '../streams/land-page.ts';
import { landedNames, type PullName, type StreamName } from '../streams/streams.ts';
import { loadStreamMapping } from '../tenants/open-hris.ts';
import type { Tenant } from '../tenants/schema.ts';
import { resolveSecret, resolveText } from '../tenants/secrets.ts';
import { mistold } from '../tenants/sections.ts';
import { CALL_MS } from './open-tenant.ts';

/** Ports for addresses that name none. */
const PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80, 'smtps:': 465, 'smtp:': 587 };

/**
 * Checks that notices or events could be sent: the section is valid, its secrets exist, and its address accepts a
 * connection. Sends nothing, so that no receiver gets a false notice.
 */
export async function checkTold(tenant: Tenant, section: 'notify' | 'events'): Promise<string> {
  const told = tenant[section];
  if (told === undefined) return `Nothing is sent: there is no section ${section}.`;
  const [wrong] = mistold({ [section]: told });
  if (wrong !== undefined) throw rejected('TOLD_INVALID', `${wrong.path.join('.')}: ${wrong.text}`);
  if (told.secret !== undefined) noticeHeaders('check', '', resolveSecret(told.secret), `${section}.secret`);
  const address = addressOf(told.url);
  await reach(section, address, tenant.partner.allowPrivateAddress);
  const secret = told.secret === undefined ? '' : ', and its secret is there';
  return `The address of ${section} accepts connections${secret}.`;
}

function addressOf(url: string): URL {
  const text = resolveText(url);
  if (URL.canParse(text) && PORTS[new URL(text).protocol] !== undefined) return new URL(text);
  throw rejected(
    'TOLD_INVALID',
    `${url} does not hold an address. Put one there: https://..., or smtps://... for mail.`,
  );
}

async function reach(section: string, address: URL, allowPrivate: boolean): Promise<void> {
  if (!allowPrivate) assertPublicAddress(address);
  const host = address.hostname.replace(/^\[|\]$/g, '');
  const at = {
    host,
    port: Number(address.port) || (PORTS[address.protocol] as number),
    timeout: CALL_MS,
    ...(!allowPrivate && { lookup: publicLookup }),
  };
  const isSecure = address.protocol === 'https:' || address.protocol === 'smtps:';
  const socket = isSecure ? connectSecure({ ...at, ...(isIP(host) === 0 && { servername: host }) }) : connectPlain(at);
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once(isSecure ? 'secureConnect' : 'connect', resolve);
      socket.once('error', reject);
      socket.once('timeout', () => reject(new Error('no answer in time')));
    });
  } catch (error) {
    if (isConnectorError(error)) throw error;
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'no answer in time';
    throw rejected(
      'TOLD_UNREACHABLE',
      `The address of ${section} cannot be reached (${why}), so nobody is notified. Correct ${section}.url, or ` +
        'allow this machine to connect to it; what is waiting is then sent by itself.',
    );
  } finally {
    socket.destroy();
  }
}

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
