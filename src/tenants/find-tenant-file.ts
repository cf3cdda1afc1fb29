import { ConnectorError } from '../errors.ts';
import { nearest } from '../nearest.ts';
import { explainIssues } from '../yaml/explain-issues.ts';
import { problemAt, readYamlFile, refuse, type YamlFile } from '../yaml/yaml-file.ts';
import { tenantFiles, withSecrets } from './load-tenants.ts';
import { partnerSection, type TenantFile } from './schema.ts';

/**
 * The file of a folder that names this tenant, which may still be invalid otherwise.
 * @throws ConnectorError TENANT_UNKNOWN, TENANT_FILE_INVALID
 */
export async function findTenantFile(dir: string, tenantId: string): Promise<YamlFile> {
  const sources = await Promise.all((await tenantFiles(dir)).map((file) => readYamlFile(file)));
  const own = sources.filter((source) => tenantOf(source) === tenantId);
  const [only] = own;
  if (only !== undefined && own.length === 1) return only;
  const twice = own.map((source) => problemAt(source, ['tenant'], `another file names "${tenantId}" too. Keep one.`));
  const unreadable = sources.flatMap(({ problems }) => problems);
  if (twice.length + unreadable.length > 0) throw refuse('TENANT_FILE_INVALID', [...twice, ...unreadable]);
  const known = sources.map(tenantOf).filter((name) => name !== undefined);
  const near = nearest(tenantId, known);
  const next = near === undefined ? 'Check name and folder.' : `Did you mean "${near}"?`;
  throw new ConnectorError({
    code: 'TENANT_UNKNOWN',
    action: 'reject',
    message: `No file of ${dir} names the tenant "${tenantId}" (known: ${known.join(', ')}). ${next}`,
  });
}

/** The file's own part of the hiring platform. @throws ConnectorError TENANT_FILE_INVALID */
export function readPartnerSection(source: YamlFile): TenantFile['partner'] {
  const parsed = partnerSection.safeParse((source.value as { partner?: unknown }).partner);
  if (parsed.success) return withSecrets(parsed.data, source.file);
  throw refuse('TENANT_FILE_INVALID', explainIssues(source, partnerSection, parsed.error, ['partner']));
}

function tenantOf({ value }: YamlFile): string | undefined {
  const named = typeof value === 'object' && value !== null && 'tenant' in value ? value.tenant : undefined;
  return typeof named === 'string' ? named : undefined;
}
