import type { Selectable } from 'kysely';
import { has, type Store } from './open-store.ts';
import type { Tables } from './schema.ts';

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
  await store.kysely
    .insertInto('mapping_versions')
    .values({
      tenant_id: tenantId,
      subject,
      mapping_hash: hash,
      file: file ?? null,
      files: JSON.stringify(files),
      first_used_at: store.now,
    })
    .onConflict((c) => c.columns(['tenant_id', 'subject', 'mapping_hash']).doNothing())
    .execute();
}

const MOST_VERSIONS = 10;

/** The latest versions of one mapping, latest used first. */
export async function listMappingVersions(
  store: Store,
  tenantId: string,
  subject: string,
): Promise<(MappingVersion & { firstUsedAt: number })[]> {
  const rows = await store.kysely
    .selectFrom('mapping_versions')
    .selectAll()
    .where(has({ tenant_id: tenantId, subject }))
    .orderBy('first_used_at', 'desc')
    .limit(MOST_VERSIONS)
    .execute();
  return rows.map(versionOf);
}

/** Every version of a tenant whose hash begins with `prefix`, and the time of its first use. */
export async function findMappingVersions(
  store: Store,
  tenantId: string,
  prefix: string,
): Promise<(MappingVersion & { firstUsedAt: number })[]> {
  const rows = await store.kysely
    .selectFrom('mapping_versions')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('mapping_hash', 'like', `${prefix}%`)
    .orderBy('first_used_at')
    .execute();
  return rows.map(versionOf);
}

function versionOf(row: Selectable<Tables['mapping_versions']>): MappingVersion & { firstUsedAt: number } {
  return {
    tenantId: row.tenant_id,
    subject: row.subject,
    hash: row.mapping_hash,
    file: row.file ?? undefined,
    files: JSON.parse(row.files) as Record<string, string>,
    firstUsedAt: row.first_used_at,
  };
}
