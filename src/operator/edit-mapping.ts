import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { ConnectorError } from '../errors.ts';
import { shortVersion } from '../mapping/load-mapping.ts';
import { applyDefinitions } from '../store/applied-tenants.ts';
import { listMappingVersions } from '../store/mapping-versions.ts';
import type { Store } from '../store/open-store.ts';
import { exchangeNames, isExchange, landedNames } from '../streams/streams.ts';
import { planDefinition } from '../tenants/plan-application.ts';
import type { Tenant } from '../tenants/schema.ts';
import { assertChecked } from './check-applications.ts';
import { type MappingName, mappingNamed } from './diff-mapping.ts';
import { readAppliedTenant } from './tenants.ts';

/** A tenant's mapping file as applied. */
export interface OwnMapping {
  subject: MappingName;
  path: string;
  text: string;
}

/** The tenant's own mapping files; mappings left to the defaults have none. */
export async function listOwnMappings(store: Store, tenantId: string): Promise<OwnMapping[]> {
  return mappingsOf(await readAppliedTenant(store, tenantId));
}

function mappingsOf(tenant: Tenant): OwnMapping[] {
  const subjects = new Set<MappingName>(['employee', ...landedNames, ...exchangeNames.filter(isExchange)]);
  return [...subjects].flatMap((subject) => {
    const path = subject === 'employee' ? tenant.mapping : tenant.streams[subject].mapping;
    const text = path === undefined ? undefined : tenant.files[path];
    return path === undefined || text === undefined ? [] : [{ subject, path, text }];
  });
}

/** @throws ConnectorError STREAM_UNKNOWN, MAPPING_DEFAULT if the tenant has no such file of its own */
export async function readOwnMapping(store: Store, tenantId: string, subject: string): Promise<OwnMapping> {
  const name = subject === 'employee' ? subject : mappingNamed(subject);
  const own = (await listOwnMappings(store, tenantId)).find((one) => one.subject === name);
  if (own !== undefined) return own;
  throw new ConnectorError({
    code: 'MAPPING_DEFAULT',
    action: 'reject',
    message:
      `${tenantId} maps ${name} by the defaults, so there is no file to change. Write one, name it in the ` +
      'tenant file, and run: hirebridge tenant apply',
  });
}

/** A text of a mapping that was in use before. */
export interface EarlierText {
  version: string;
  firstUsedAt: string;
  text: string;
}

/** Texts that this file had while its mapping was in use, latest first. */
export async function earlierTexts(
  store: Store,
  tenantId: string,
  { subject, path }: OwnMapping,
): Promise<EarlierText[]> {
  const versions = await listMappingVersions(store, tenantId, subject);
  return versions.flatMap(({ hash, files, firstUsedAt }) => {
    const text = files[path];
    return text === undefined
      ? []
      : [{ version: shortVersion(hash), firstUsedAt: new Date(firstUsedAt).toISOString(), text }];
  });
}

/** A mapping version that landed records, so that its writes can be reverted. */
export interface LandedVersion {
  subject: string;
  version: string;
  firstUsedAt: string;
}

/** Versions of each landing stream, latest first. */
export async function landedVersions(store: Store, tenantId: string): Promise<LandedVersion[]> {
  const found = await Promise.all(landedNames.map((subject) => listMappingVersions(store, tenantId, subject)));
  return found.flat().map(({ subject, hash, firstUsedAt }) => {
    return { subject, version: shortVersion(hash), firstUsedAt: new Date(firstUsedAt).toISOString() };
  });
}

/** The result of an edited mapping. `folder`: whether the file that the tenant was applied from has the new text. */
export interface AppliedEdit {
  folder: 'written' | 'differs' | 'absent';
}

/**
 * Applies a mapping with a new text, with the checks of `tenant apply`. Also updates the file itself if it is here and
 * still as applied; a changed file is left alone, and the next `tenant apply` shows the difference.
 * @throws ConnectorError TENANT_FILE_INVALID, CHECK_FAILED, OVERTAKEN
 */
export async function applyEdit(
  store: Store,
  {
    tenantId,
    subject,
    before,
    text,
    by,
  }: { tenantId: string; subject: string; before: string; text: string; by: string },
): Promise<AppliedEdit> {
  const own = await readOwnMapping(store, tenantId, subject);
  if (own.text !== before) throw overtaken(tenantId);
  const { file, files } = await readAppliedTenant(store, tenantId);
  const planned = await planDefinition(store, { file, files: { ...files, [own.path]: text } });
  await assertChecked(store, [planned]);
  if (!(await applyDefinitions(store, [planned], by))) throw overtaken(tenantId);
  return { folder: await bringAlong(own, text) };
}

function overtaken(tenantId: string): ConnectorError {
  return new ConnectorError({
    code: 'OVERTAKEN',
    action: 'reject',
    message: `Somebody else applied ${tenantId} meanwhile, so nothing was done. Look at its files as they are now.`,
  });
}

async function bringAlong({ path, text: before }: OwnMapping, after: string): Promise<AppliedEdit['folder']> {
  const there = await readFile(path, 'utf8').catch(() => undefined);
  if (there === undefined) return 'absent';
  if (there !== before) return 'differs';
  const beside = `${path}.${randomUUID().slice(0, 8)}.tmp`;
  await writeFile(beside, after, { flag: 'wx' });
  await rename(beside, path);
  return 'written';
}
