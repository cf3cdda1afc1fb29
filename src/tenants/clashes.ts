import { join, resolve, sep } from 'node:path';
import { isConnectorError } from '../errors.ts';
import type { HrisSystem } from '../hris/port.ts';
import { findHrisAdapter } from '../hris/registry.ts';
import { areDisjoint } from '../plan/job-scope.ts';
import { landings } from '../streams/streams.ts';
import { type Path, type Problem, problemAt, type YamlFile } from '../yaml/yaml-file.ts';
import { destinationTenant } from './open-hris.ts';
import type { Tenant } from './schema.ts';
import { isSecretRef, resolveSecret } from './secrets.ts';

/** A tenant file and what could be read of it: `tenant` is undefined if the file has errors. */
export interface Loaded {
  source: YamlFile;
  tenant?: Tenant;
  problems: Problem[];
}

interface Read {
  source: YamlFile;
  tenant: Tenant;
  /** Path of the destination inside the file; undefined for the tenant's main HR system. */
  place?: Path;
}

/**
 * Reports what two tenants must not share. Two tenants of one name would share a key. One connection name for two HR
 * systems, or one job taken by two tenants, would create a person twice.
 */
export function clashes(loaded: readonly Loaded[]): Problem[] {
  const read = readOnes(loaded);
  const systems = compareSystems();
  return [
    ...beside(read, ({ tenant }) => tenant.tenant, sameName),
    ...beside(systemsIn(read), connectionOf, (one, other) => {
      const others = systems(one, other);
      return others.length > 0 ? others : sameSystem(one, other);
    }),
    ...sharedFolders(read),
  ];
}

/** Reports connection names that stand for two different HR systems, and skips every other check of `clashes`. */
export function otherSystems(loaded: readonly Loaded[]): Problem[] {
  return beside(systemsIn(readOnes(loaded)), connectionOf, compareSystems());
}

/**
 * Reports tenants of one company that have separate HR systems but may take the same jobs. Chance then decides which
 * tenant hires a person, and the other tenant asks (PERSON_HIRED_ELSEWHERE). One HR system under two names is reported
 * as well, and one custom field for the requisitions of two.
 */
export function overlaps(loaded: readonly Loaded[]): Problem[] {
  const systems = compareSystems();
  return beside(readOnes(loaded), companyOf, (one, other) => {
    const isShared = one.tenant.hris.connection === other.tenant.hris.connection;
    if (!isShared && systems(one, other).length === 0) return [twiceNamed(one, other)];
    if (!isShared && isSameReference(one, other)) return [sharedReference(one, other)];
    if (isShared || areDisjoint(one.tenant.scope, other.tenant.scope)) return [];
    const text =
      `"${one.tenant.tenant}" and "${other.tenant.tenant}" belong to one company and may take the same jobs, so ` +
      'chance decides which of them hires somebody, and the other one asks. Give both a scope with the same ' +
      'criterion and no value in common.';
    return [problemAt(one.source, ['scope'], text)];
  });
}

/** Two accounts at one address may differ in nothing but their secrets. */
function twiceNamed(one: Read, other: Read): Problem {
  const names = [one, other].map((each) => `"${each.tenant.hris.connection}"`);
  const text =
    `${names.join(' and ')} seem to be one HR system, as the tenants "${one.tenant.tenant}" and ` +
    `"${other.tenant.tenant}" of one company describe it. If so, give both the same hris.connection, and scopes with ` +
    'no value in common: under two names a person of both is taken for two, and somebody is asked about each.';
  return atConnection(one, text);
}

function isSameReference(one: Read, other: Read): boolean {
  const { requisitions } = one.tenant;
  return requisitions !== undefined && requisitions.reference === other.tenant.requisitions?.reference;
}

/** A job is found by the id in that field, whoever made it. */
function sharedReference(one: Read, other: Read): Problem {
  const text =
    `"${one.tenant.tenant}" and "${other.tenant.tenant}" of one company keep the ids of their requisitions in one ` +
    `custom field (${one.tenant.requisitions?.reference}). If an id may mean another position in the other HR ` +
    'system, the values of one are written to the job of the other: give each a custom field of its own.';
  return problemAt(one.source, ['requisitions', 'reference'], text);
}

function readOnes(loaded: readonly Loaded[]): Read[] {
  return loaded.flatMap(({ source, tenant }) => (tenant === undefined ? [] : [{ source, tenant }]));
}

/** Compares each tenant with the earlier tenants of the same key. A tenant without a key is compared with none. */
function beside(
  read: readonly Read[],
  keyOf: (one: Read) => string | undefined,
  compare: (one: Read, before: Read) => Problem[],
): Problem[] {
  const seen = new Map<string, Read[]>();
  return read.flatMap((one) => {
    const key = keyOf(one);
    if (key === undefined) return [];
    const before = seen.get(key) ?? [];
    seen.set(key, [...before, one]);
    return before.flatMap((other) => compare(one, other));
  });
}

function connectionOf({ tenant }: Read): string {
  return tenant.hris.connection;
}

/** Lists main HR systems and destinations alike, because a connection name must mean one system in either role. */
function systemsIn(read: readonly Read[]): Read[] {
  return read.flatMap((one) => [
    one,
    ...(one.tenant.destinations ?? []).map((_, at) => ({
      source: one.source,
      tenant: destinationTenant(one.tenant, at),
      place: ['destinations', at],
    })),
  ]);
}

function companyOf({ tenant: { partner } }: Read): string | undefined {
  const { company, environment, baseUrl } = partner;
  return company === undefined ? undefined : `${environment} ${new URL(baseUrl).origin} ${company}`;
}

function sameName(one: Read, { source }: Read): Problem[] {
  const text = `"${one.tenant.tenant}" is already the tenant of ${source.file}. Give each file its own name.`;
  return [problemAt(one.source, ['tenant'], text)];
}

/**
 * The store keeps links, claims and leases by connection name, so two HR systems under one name would mix up people.
 */
function compareSystems(): (one: Read, other: Read) => Problem[] {
  const systems = new Map<Read, HrisSystem>();
  const systemOf = (read: Read): HrisSystem => {
    const system = systems.get(read) ?? hrisSystem(read.tenant.hris);
    systems.set(read, system);
    return system;
  };
  return (one, other) => {
    if (one.tenant.tenant === other.tenant.tenant) return [];
    const both = [systemOf(one), systemOf(other)] as const;
    const parts = differencesOf(...both);
    return parts.length === 0 ? [] : [otherSystem(one, other, { parts, unread: unreadParts(both, parts) })];
  };
}

function otherSystem(one: Read, other: Read, { parts, unread }: { parts: string[]; unread: string[] }): Problem {
  const { file, line, column } = atConnection(other, '');
  const notHere =
    unread.length === 0 ? '' : ` The values behind ${unread.join(', ')} cannot be read here, so they are not compared.`;
  const text =
    `"${one.tenant.hris.connection}" already names another HR system in ${file}:${line}:${column}, which differs ` +
    `in ${parts.join(', ')}.${notHere} Give this one a name of its own, or make both the same if they are one HR ` +
    'system: under one name, people of one customer would be mistaken for people of the other.';
  return atConnection(one, text);
}

function atConnection({ source, place = ['hris'] }: Read, text: string): Problem {
  return problemAt(source, [...place, 'connection'], text);
}

/**
 * Tenants of one company may share a destination: it holds one account per person, no matter which tenant hires them.
 */
function sameSystem(one: Read, other: Read): Problem[] {
  if (one.tenant.tenant === other.tenant.tenant) return [];
  const isOfAccounts = one.place !== undefined || other.place !== undefined;
  const { company } = one.tenant.partner;
  const isSameNumber = company !== undefined && company === other.tenant.partner.company;
  if (isOfAccounts) return isSameNumber && companyOf(one) !== companyOf(other) ? sameNumber(one, other) : [];
  return [...unnamedCompany(one, other), ...sameJobs(one, other)];
}

/** Reports document folders that equal, contain or lie inside the folder of an earlier tenant. */
function sharedFolders(read: readonly Read[]): Problem[] {
  const filed = read.flatMap((one) => {
    const { folder } = (one.tenant.hris.options['files'] ?? {}) as { folder?: string };
    // The trailing separator makes `startsWith` match whole folder names only.
    return folder === undefined ? [] : [{ one, path: join(resolve(folder), sep) }];
  });
  return filed.flatMap(({ one, path }, at) =>
    filed
      .slice(0, at)
      .filter((other) => path.startsWith(other.path) || other.path.startsWith(path))
      .flatMap((other) => sharedFolder(one, other.one)),
  );
}

/**
 * Folders are named by employee id, and every HR system counts from 1, so nested folders would mix two people's files.
 */
function sharedFolder(one: Read, other: Read): Problem[] {
  if (one.tenant.hris.connection === other.tenant.hris.connection) return [];
  const text =
    `documents of ${other.source.file} also go into this folder, a parent of it or a subfolder, from another HR ` +
    'system with ids of its own: people would find the documents of others. Give each HR system a separate ' +
    'folder.';
  return [problemAt(one.source, ['hris', 'files', 'folder'], text)];
}

/** Without a company, two candidates with the same id cannot be told apart. */
function unnamedCompany(one: Read, other: Read): Problem[] {
  const nameless = [one, other].find(({ tenant }) => tenant.partner.company === undefined);
  if (nameless === undefined) return [];
  const who = nameless === one ? 'This tenant' : `${other.source.file}`;
  const text =
    `"${one.tenant.hris.connection}" is shared with ${other.source.file}, so each of them must name its company. ` +
    `${who} does not: set partner.company.`;
  return [problemAt(one.source, ['partner', 'company'], text)];
}

function sameJobs(one: Read, other: Read): Problem[] {
  const { company } = one.tenant.partner;
  if (company === undefined || company !== other.tenant.partner.company) return [];
  if (companyOf(one) !== companyOf(other)) return sameNumber(one, other);
  if (areDisjoint(one.tenant.scope, other.tenant.scope)) return [];
  const text =
    `"${other.tenant.tenant}" (${other.source.file}) belongs to the same company, uses the same HR system, and ` +
    'may take the same jobs. Give both a scope with the same criterion and no value in common; or make them one ' +
    'tenant.';
  return [problemAt(one.source, ['scope'], text)];
}

/** Two partners may number their companies alike, and the HR system tells people apart by that number only. */
function sameNumber(one: Read, other: Read): Problem[] {
  const text =
    `"${other.tenant.tenant}" (${other.source.file}) has the same company number at another address or environment ` +
    'of the partner, so their people could not be told apart in one HR system. Give them HR systems of their own.';
  return [atConnection(one, text)];
}

/**
 * What identifies a tenant's HR system according to its adapter, with references to secrets resolved. If a secret is
 * not on this machine, its reference is compared instead.
 */
export function hrisSystem({ kind, options }: Tenant['hris']): HrisSystem {
  const adapter = findHrisAdapter(kind, options);
  if (adapter === undefined) return { kind };
  const schema = adapter.optionsSchema(landings);
  const read = Object.entries(options).map(([key, value]) => [key, behind(value)]);
  const parsed = schema.safeParse(Object.fromEntries(read));
  return { kind, ...adapter.systemOf(parsed.success ? parsed.data : schema.parse(options)) };
}

/** Names of the parts in which two HR systems differ, never their values; empty if both are the same system. */
export function differencesOf(one: HrisSystem, other: HrisSystem): string[] {
  if (one['kind'] !== other['kind']) return ['kind'];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((part) => one[part] !== other[part]);
}

/** References among these parts whose secrets are not on this machine. */
function unreadParts(systems: readonly HrisSystem[], parts: readonly string[]): string[] {
  const values = systems.flatMap((system) => parts.map((part) => system[part]));
  return [...new Set(values.filter((value) => typeof value === 'string' && isSecretRef(value)))] as string[];
}

function behind(value: unknown): unknown {
  if (typeof value !== 'string' || !isSecretRef(value)) return value;
  try {
    return resolveSecret(value);
  } catch (error) {
    if (isConnectorError(error, 'SECRET_MISSING')) return value;
    throw error;
  }
}
