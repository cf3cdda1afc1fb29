import { put, type Store } from './open-store.ts';

/** The texts of a mapping that was used, kept so that its hash can be resolved later. */
export interface MappingVersion {
  tenantId: string;
  /** `employee`, or a stream. */
  subject: string;
  hash: string;
  /** The tenant's own file among `files`; undefined if only the defaults were used. */
  file: string | undefined;
  files: Readonly<Record<string, string>>;
}

/** Stores a mapping that is about to be used; a stored version stays as it is. */
export async function keepMappingVersion(store: Store, version: MappingVersion): Promise<void> {
  const { tenantId, subject, hash, file, files } = version;
  const texts = { file: file ?? null, files: JSON.stringify(files), first_used_at: store.now };
  await put(store, 'mapping_versions', [{ tenant_id: tenantId, subject, mapping_hash: hash, ...texts }], {
    key: ['tenant_id', 'subject', 'mapping_hash'],
    set: [],
  });
}

const MOST_VERSIONS = 10;

/** The latest versions of one mapping, latest used first. */
export async function listMappingVersions(
  store: Store,
  tenantId: string,
  subject: string,
): Promise<(MappingVersion & { firstUsedAt: number })[]> {
  const rows = versionsOf(store, tenantId).where('subject', '=', subject).orderBy('first_used_at', 'desc');
  return (await rows.limit(MOST_VERSIONS).execute()).map(versionOf);
}

/** Every version of a tenant whose hash begins with `prefix`, and the time of its first use. */
export async function findMappingVersions(
  store: Store,
  tenantId: string,
  prefix: string,
): Promise<(MappingVersion & { firstUsedAt: number })[]> {
  const rows = versionsOf(store, tenantId).where('mapping_hash', 'like', `${prefix}%`).orderBy('first_used_at');
  return (await rows.execute()).map(versionOf);
}

function versionsOf({ kysely }: Store, tenantId: string) {
  return kysely
    .selectFrom('mapping_versions')
    .select(['tenant_id as tenantId', 'subject', 'mapping_hash as hash', 'file', 'files'])
    .select('first_used_at as firstUsedAt')
    .where('tenant_id', '=', tenantId);
}

function versionOf({ file, files, ...row }: Awaited<ReturnType<ReturnType<typeof versionsOf>['execute']>>[number]) {
  return { ...row, file: file ?? undefined, files: JSON.parse(files) as Record<string, string> };
}
