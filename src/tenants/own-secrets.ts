import { basename, dirname, isAbsolute, relative, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readConfig } from '../config.ts';
import { type Path, type Problem, problemAt } from '../yaml/yaml-file.ts';
import type { Loaded } from './clashes.ts';
import type { Tenant } from './schema.ts';
import { isSecretRef, type SecretRef } from './secrets.ts';

/** A secret reference in a tenant's file, and its place there. */
interface Named {
  path: Path;
  ref: SecretRef;
}

/** Every secret that a tenant names. */
export function namedSecrets({ partner, notify, events, hris, destinations = [], landing }: Tenant): Named[] {
  const all: [Path, unknown][] = [
    [['partner', 'apiKey'], partner.apiKey],
    ...partner.webhookKeys.map((ref, index): [Path, unknown] => [['partner', 'webhookKeys', index], ref]),
    [['notify', 'url'], notify?.url],
    [['notify', 'secret'], notify?.secret],
    [['events', 'url'], events?.url],
    [['events', 'secret'], events?.secret],
    [['landing', 'url'], landing?.url],
    ...optionTexts(hris.options).map(([path, value]): [Path, unknown] => [['hris', ...path], value]),
    ...destinations.flatMap(({ options }, at) =>
      optionTexts(options).map(([path, value]): [Path, unknown] => [['destinations', at, ...path], value]),
    ),
  ];
  return all.flatMap(([path, ref]) => (typeof ref === 'string' && isSecretRef(ref) ? [{ path, ref }] : []));
}

/** Options that are texts, and the texts in list options, by path. */
export function optionTexts(options: Record<string, unknown>): [[string, ...number[]], string][] {
  const all = Object.entries(options).flatMap(([key, value]): [[string, ...number[]], unknown][] =>
    Array.isArray(value) ? value.map((one, index) => [[key, index], one]) : [[[key], value]],
  );
  return all.filter((one): one is [[string, ...number[]], string] => typeof one[1] === 'string');
}

/** Variables of hirebridge itself, of Temporal's client and of Postgres. */
const OF_FLEET = /^env:(?:HIREBRIDGE_|TEMPORAL_|PG[A-Z]+$)/;

/**
 * A tenant file that names another tenant's secret could have it sent to an address of its choice. So no file may name
 * a secret that carries another tenant's name, or a secret of the fleet. If `HIREBRIDGE_SECRETS` names a folder, a file
 * may name only secrets under the tenant's own name there, or variables that begin with that name.
 */
export function foreignSecrets(loaded: readonly Loaded[]): Problem[] {
  const { HIREBRIDGE_SECRETS: root } = readConfig();
  const tenants = loaded.flatMap(({ tenant }) => tenant ?? []);
  return loaded.flatMap(({ source, tenant }) => {
    if (tenant === undefined) return [];
    return namedSecrets(tenant).flatMap((named) => {
      const text = whyForeign(tenant, named, tenants) ?? whyMisplaced(tenant, named, root);
      return text === undefined ? [] : [problemAt(source, named.path, text)];
    });
  });
}

function whyForeign(tenant: Tenant, { path, ref }: Named, tenants: readonly Tenant[]): string | undefined {
  if (OF_FLEET.test(ref)) return `${ref} is a setting of hirebridge itself. Give the tenant a secret of its own.`;
  const owner = ownerOf(ref, tenant, tenants);
  if (owner === undefined || owner.tenant === tenant.tenant) return undefined;
  if (isShared(tenant, owner, path)) return undefined;
  return (
    `${ref} is a secret of tenant "${owner.tenant}", judging by its name. Name one of this tenant: ` +
    `env:${prefixOf(tenant.tenant)}... or file:secrets/${tenant.tenant}/...`
  );
}

/**
 * Whether the secret goes only where its owner sends it: to the same HR system, which `clashes` checks, or to the same
 * partner.
 */
function isShared(tenant: Tenant, owner: Tenant, path: Path): boolean {
  const [section] = path;
  const connection = connectionAt(tenant, path);
  if (connection !== undefined)
    return [owner.hris, ...(owner.destinations ?? [])].some((one) => one.connection === connection);
  const of = ({ partner }: Tenant) => [partner.baseUrl, partner.environment, partner.company];
  return section === 'partner' && owner.partner.company !== undefined && isDeepStrictEqual(of(owner), of(tenant));
}

/** The tenant whose name begins the variable or file name, or names a folder of the path; the longest name wins. */
function ownerOf(ref: SecretRef, { file }: Tenant, tenants: readonly Tenant[]): Tenant | undefined {
  const byLength = tenants.toSorted((one, other) => other.tenant.length - one.tenant.length);
  if (ref.startsWith('env:'))
    return byLength.find(({ tenant }) => ref.slice('env:'.length).startsWith(prefixOf(tenant)));
  const path = ref.slice('file:'.length);
  const inside = relative(dirname(file), path);
  const folders = isOutside(inside) ? [basename(dirname(path))] : dirname(inside).split(sep);
  const isFolder = ({ tenant }: Tenant): boolean => folders.includes(tenant);
  const isName = ({ tenant }: Tenant): boolean => basename(path).startsWith(`${tenant}-`);
  return byLength.find(isFolder) ?? byLength.find(isName);
}

/** The connection whose option is at this place; undefined for any other place. */
function connectionAt({ hris, destinations }: Tenant, [section, at]: Path): string | undefined {
  if (section === 'hris') return hris.connection;
  return section === 'destinations' ? destinations?.[Number(at)]?.connection : undefined;
}

function whyMisplaced(of: Tenant, { path, ref }: Named, root: string | undefined): string | undefined {
  if (root === undefined) return undefined;
  const { tenant } = of;
  const own = [tenant, ...[connectionAt(of, path)].filter((name) => name !== undefined)];
  const isOwn = ref.startsWith('env:')
    ? own.some((name) => ref.slice('env:'.length).startsWith(prefixOf(name)))
    : own.some((name) => !isOutside(relative(`${root}${sep}${name}`, ref.slice('file:'.length))));
  if (isOwn) return undefined;
  const places = own.map((name) => `env:${prefixOf(name)}... or file:${root}${sep}${name}${sep}...`).join(', ');
  return `${ref} is not among this tenant's secrets. HIREBRIDGE_SECRETS allows ${places}`;
}

function isOutside(path: string): boolean {
  return path === '' || path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path);
}

function prefixOf(name: string): string {
  return `${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_`;
}
