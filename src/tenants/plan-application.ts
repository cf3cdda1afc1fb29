import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { findHrisAdapter } from '../hris/registry.ts';
import { count } from '../in-words.ts';
import { type Application, type AppliedTenant, listAppliedTenants, type Receives } from '../store/applied-tenants.ts';
import { countPeopleOf, readBoundToHris } from '../store/change-hris.ts';
import type { Store } from '../store/open-store.ts';
import { type Problem, parseYaml, problemAt, refuse } from '../yaml/yaml-file.ts';
import { clashes, differencesOf, hrisSystem, type Loaded, otherSystems, overlaps } from './clashes.ts';
import { foreignSecrets, impossibleOf, isYaml, rowsOf } from './impossible-settings.ts';
import { loadFolder, readDefinition } from './load-tenants.ts';
import type { Tenant } from './schema.ts';

export interface PlannedApplication {
  /** Tenants that are new, changed or back. */
  applications: PlannedTenant[];
  /** Tenants whose files equal what is applied. */
  same: string[];
  /** Applied tenants without a file in the folder; they stay applied. */
  absent: string[];
  /** Allowed settings that may cause a person to be hired twice. */
  warnings: string[];
}

export interface PlannedTenant extends Application {
  kind: 'new' | 'changed' | 'back';
  /** The tenant only observed until now. */
  goesLive: boolean;
  /** Set if the HR connection changes, so that somebody has to say what that means (HrisWay). */
  hris?: {
    from: string;
    to: string;
    /** People known in the HR system before: linked employees and recorded people. */
    people: number;
    /** Jobs made from the requisitions of that HR system. */
    requisitions: number;
    /** Files that it listed as resumes. */
    resumes: number;
    /** Other tenants that keep the old connection. */
    sharedWith: string[];
  };
}

/**
 * Compares a folder with the applied tenants and writes nothing. Refuses everything or nothing, as loadTenants does,
 * and also refuses to pass a tenant id to another company.
 * @throws ConnectorError TENANT_FILE_INVALID
 */
export async function planApplication(
  store: Store,
  dir: string,
  options: { secrets: 'check' | 'skip' },
): Promise<PlannedApplication> {
  const [loaded, applied] = await Promise.all([loadFolder(dir, options.secrets), listAppliedTenants(store)]);
  const known = new Map(applied.map((one) => [one.tenantId, one]));
  const fleet = await fleetWith(loaded, known);
  await assertFitting(store, { loaded, known, fleet });
  const tenants = loaded.flatMap(({ tenant }) => tenant ?? []);
  const named = new Set(tenants.map(({ tenant }) => tenant));
  const changed = tenants.filter((tenant) => !isApplied(known.get(tenant.tenant), tenant));
  const applications = changed.map(async (tenant) => {
    const applied = known.get(tenant.tenant);
    return { ...applicationOf(tenant, applied), ...(await otherHris(store, tenant, applied, fleet)) };
  });
  return {
    applications: await Promise.all(applications),
    same: tenants.filter((tenant) => !changed.includes(tenant)).map(({ tenant }) => tenant),
    absent: applied
      .filter(({ tenantId, state }) => !named.has(tenantId) && state !== 'removed')
      .map((one) => one.tenantId),
    warnings: ownOf(loaded, overlaps(fleet)).map(({ text }) => text),
  };
}

/**
 * Plans a single definition given as text, without a folder: a new text of an applied tenant's file, or a new tenant.
 * @throws ConnectorError TENANT_FILE_INVALID
 */
export async function planDefinition(store: Store, definition: Files): Promise<PlannedTenant> {
  const known = new Map((await listAppliedTenants(store)).map((one) => [one.tenantId, one]));
  const loaded = [await readDefinition(definition)];
  const problems = loaded.flatMap((one) => one.problems);
  const [tenant] = loaded.flatMap((one) => one.tenant ?? []);
  if (tenant === undefined || problems.length > 0) throw refuse('TENANT_FILE_INVALID', problems);
  const applied = known.get(tenant.tenant);
  const fleet = await fleetWith(loaded, known);
  await assertFitting(store, { loaded, known, fleet });
  return { ...applicationOf(tenant, applied), ...(await otherHris(store, tenant, applied, fleet)) };
}

/** Describes the change if the tenant moves to another HR system while people or records of the old are known. */
async function otherHris(
  store: Store,
  { tenant: tenantId, hris: now }: Tenant,
  applied: AppliedTenant | undefined,
  fleet: readonly Loaded[],
): Promise<Pick<PlannedTenant, 'hris'>> {
  const before = applied === undefined ? undefined : (await readDefinition(applied)).tenant?.hris;
  if (before === undefined) return {};
  const isSame = differencesOf(hrisSystem(before), hrisSystem(now)).length === 0;
  if (isSame && before.connection === now.connection) return {};
  const people = await countPeopleOf(store, tenantId, before.connection);
  const { requisitions, resumes } = await readBoundToHris(store, tenantId);
  if (people + requisitions + resumes === 0) return {};
  const sharedWith = fleet
    .flatMap(({ tenant }) => tenant ?? [])
    .filter((one) => one.tenant !== tenantId && one.hris.connection === before.connection)
    .map((one) => one.tenant);
  return { hris: { from: before.connection, to: now.connection, people, requisitions, resumes, sharedWith } };
}

type Applied = ReadonlyMap<string, AppliedTenant>;

/** Every tenant as it would be after the application. */
async function fleetWith(loaded: readonly Loaded[], known: Applied): Promise<Loaded[]> {
  const named = new Set(loaded.flatMap(({ tenant }) => tenant?.tenant ?? []));
  const others = [...known.values()].filter(({ tenantId, state }) => state !== 'removed' && !named.has(tenantId));
  return [...(await Promise.all(others.map(readDefinition))), ...loaded];
}

function ownOf(loaded: readonly Loaded[], problems: readonly Problem[]): Problem[] {
  const own = new Set(loaded.map(({ source }) => source.file));
  return problems.filter(({ file }) => own.has(file));
}

/** Checks that the whole fleet would fit together, not only the tenants of the folder. */
async function assertFitting(
  store: Store,
  { loaded, known, fleet }: { loaded: readonly Loaded[]; known: Applied; fleet: readonly Loaded[] },
): Promise<void> {
  const passed = await Promise.all(loaded.map((one) => passedOn(one, known.get(one.tenant?.tenant ?? ''))));
  const left = await leftBehind(store, known);
  const together = [
    ...clashes(fleet),
    ...foreignSecrets(fleet),
    ...impossibleOf(loaded),
    ...otherSystems([...left, ...loaded]),
  ];
  const moved = await Promise.all(loaded.map((one) => movedDestinations(one, known.get(one.tenant?.tenant ?? ''))));
  const removed = loaded.filter(({ tenant }) => known.get(tenant?.tenant ?? '')?.state === 'removed');
  const renamed = await Promise.all(removed.map((one) => renamedSince(store, one, fleet)));
  const problems = [...ownOf(loaded, together), ...passed.flat(), ...moved.flat(), ...renamed.flat()];
  if (problems.length > 0) throw refuse('TENANT_FILE_INVALID', problems);
}

/** Removed tenants with people still stored under their connection's name. */
async function leftBehind(store: Store, known: Applied): Promise<Loaded[]> {
  const removed = [...known.values()].filter(({ state }) => state === 'removed');
  const read = await Promise.all(
    removed.map(async (one) => {
      const loaded = await readDefinition(one);
      const { connection = '' } = loaded.tenant?.hris ?? {};
      return (await countPeopleOf(store, one.tenantId, connection)) > 0 ? loaded : [];
    }),
  );
  return read.flat();
}

/** A tenant id keeps its links, hires and baseline, even after removal, so it must never pass to another company. */
async function passedOn({ source, tenant }: Loaded, applied: AppliedTenant | undefined): Promise<Problem[]> {
  if (tenant === undefined || applied === undefined) return [];
  // Of an erased tenant no file is left, but marks that were made with the company's ids.
  const before = (await readDefinition(applied)).tenant?.partner ?? applied.receives;
  const keys = ['environment', 'company'] as const;
  return keys.flatMap((key) => {
    const [was, is] = [before[key], tenant.partner[key]];
    if (was === undefined || was === is) return [];
    const text =
      `The tenant "${tenant.tenant}" and its records belong to ${key} ${was}. A tenant id is never reused: give ` +
      'this one a new id.';
    return [problemAt(source, ['partner', key], text)];
  });
}

/** Another tenant may have renamed the HR system while this one was removed, and with it the people of both. */
async function renamedSince(store: Store, { source, tenant }: Loaded, fleet: readonly Loaded[]): Promise<Problem[]> {
  if (tenant === undefined) return [];
  const { tenant: tenantId, hris } = tenant;
  if ((await countPeopleOf(store, tenantId, hris.connection)) > 0) return [];
  for (const name of new Set(fleet.map((one) => one.tenant?.hris.connection ?? ''))) {
    if (name === hris.connection || (await countPeopleOf(store, tenantId, name)) === 0) continue;
    const text =
      `The people of "${tenantId}" are known in the HR system "${name}": it was renamed while this tenant was ` +
      'removed. Write that name, so that nobody of them is taken for a new person.';
    return [problemAt(source, ['hris', 'connection'], text)];
  }
  return [];
}

/** Accounts are stored by destination name, so a name must not move to another system. */
async function movedDestinations({ source, tenant }: Loaded, applied: AppliedTenant | undefined): Promise<Problem[]> {
  if (tenant?.destinations === undefined || applied === undefined) return [];
  const before = (await readDefinition(applied)).tenant?.destinations ?? [];
  return tenant.destinations.flatMap((now, at) => {
    const was = before.find(({ connection }) => connection === now.connection);
    const parts = was === undefined ? [] : differencesOf(hrisSystem(was), hrisSystem(now));
    if (parts.length === 0) return [];
    const text =
      `"${now.connection}" was another system when this was last applied (it differs in ${parts.join(', ')}), ` +
      'and accounts are stored under that name. Give this one a name of its own; hirebridge finds people there ' +
      'by our reference.';
    return [problemAt(source, ['destinations', at, 'connection'], text)];
  });
}

function isApplied(applied: AppliedTenant | undefined, { file, files }: Tenant): boolean {
  if (applied === undefined || applied.state === 'removed') return false;
  return applied.file === file && isDeepStrictEqual(applied.files, files);
}

function applicationOf(tenant: Tenant, applied: AppliedTenant | undefined): PlannedTenant {
  const { tenant: tenantId, file, files } = tenant;
  const removed = applied?.state === 'removed';
  return {
    tenantId,
    file,
    files,
    receives: receivesOf(tenant),
    over: applied?.version ?? null,
    changes: describeChanges(applied, tenant),
    kind: applied === undefined ? 'new' : removed ? 'back' : 'changed',
    goesLive: applied?.receives.mode === 'observe' && tenant.mode === 'live',
  };
}

function receivesOf({ mode, partner, hris, events }: Tenant): Receives {
  const { environment, webhooks, webhookKeys, company, baseUrl } = partner;
  return {
    ...(mode === 'observe' ? { mode } : {}),
    environment,
    origin: new URL(baseUrl).origin,
    webhooks,
    ...(events === undefined ? {} : { events: true as const }),
    webhookKeys,
    ...(company === undefined ? {} : { company }),
    ...signedBy(hris),
  };
}

/** The HR system's own webhooks, if the tenant file has a key that signs them. */
function signedBy({ kind, options }: Tenant['hris']): Pick<Receives, 'hris'> {
  const keys = [options['webhookKeys'], options['webhookKey']].flat();
  const webhookKeys = keys.filter((key) => typeof key === 'string');
  const [webhookKey] = webhookKeys;
  const signing = findHrisAdapter(kind, options)?.webhooks;
  if (signing === undefined || webhookKey === undefined) return {};
  return { hris: { kind, webhookKey, webhookKeys, signing } };
}

type Files = Pick<Tenant, 'file' | 'files'>;

/**
 * Lists what a definition changes in its files, one setting per line: `policies.reconcile.every: 5m -> 30m`. Comments
 * and key order do not count.
 */
function describeChanges(before: Files | undefined, after: Files): string[] {
  const [was, is] = [before === undefined ? new Map<string, string>() : settingsOf(before), settingsOf(after)];
  const paths = [...new Set([...was.keys(), ...is.keys()])];
  return paths.flatMap((path) => {
    const [old, next] = [was.get(path), is.get(path)];
    if (old === next) return [];
    if (old === undefined) return [`+ ${path}: ${next}`];
    return [next === undefined ? `- ${path}: ${old}` : `~ ${path}: ${old} -> ${next}`];
  });
}

/** Every value of every file by its path; a mapping file's paths start with the file's name. */
function settingsOf({ file, files }: Files): Map<string, string> {
  return new Map(
    Object.entries(files).flatMap(([path, text]) => {
      if (path === file) return flatten(parseYaml(path, text).value, []);
      if (isYaml(path)) return flatten(parseYaml(path, text).value, [basename(path)]);
      // People only need to see that a lookup table changed, and which line is read as its header.
      const fingerprint = createHash('sha256').update(text).digest('hex').slice(0, 8);
      const [header, ...rows] = rowsOf(text);
      const below = `${count(rows.length, 'value')} below the header line "${header?.record.join(',') ?? ''}"`;
      return [[basename(path), `${below}, ${fingerprint}`] as [string, string]];
    }),
  );
}

function flatten(value: unknown, path: readonly string[]): [string, string][] {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isMap && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([key, inner]) => flatten(inner, [...path, key]));
  return [[path.join('.'), typeof value === 'string' ? value : JSON.stringify(value ?? null)]];
}
