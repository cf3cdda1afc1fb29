import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ConnectorError } from '../errors.ts';
import { isDefinitionFile } from '../hris/http/load-definition.ts';
import { isCasesFile } from '../mapping/test-mapping.ts';
import { everyStream } from '../streams/streams.ts';
import { explainIssues } from '../yaml/explain-issues.ts';
import { parseYaml, readYamlFile, refuse, type YamlFile } from '../yaml/yaml-file.ts';
import { anchoredOptions, checkHris, checkMapping, checkStreams, missingSecrets } from './check-tenant.ts';
import { clashes, type Loaded } from './clashes.ts';
import type { Notify } from './notify-section.ts';
import { type Tenant, type TenantFile, tenantFile } from './schema.ts';
import { anchorSecret } from './secrets.ts';
import type { StreamSettings } from './stream-settings.ts';

/**
 * Reads every *.yaml and *.yml of a directory as one tenant each, with its mapping and (unless `secrets: 'skip'`) the
 * presence of its secrets checked. Refuses all or nothing: one ConnectorError lists every problem of every file as
 * file:line:column.
 */
export async function loadTenants(dir: string, options: { secrets?: 'check' | 'skip' } = {}): Promise<Tenant[]> {
  return (await loadFolder(dir, options.secrets ?? 'check')).flatMap(({ tenant }) => tenant ?? []);
}

/** As above, with the source of each file, mapping files included. */
export async function loadFolder(dir: string, secrets: 'check' | 'skip'): Promise<Loaded[]> {
  const files = await tenantFiles(dir);
  const loaded = await Promise.all(files.map((file) => loadFile(file, secrets)));
  const all = [...loaded.flatMap((one) => one.problems), ...clashes(loaded)];
  const problems = [...new Map(all.map((problem) => [JSON.stringify(problem), problem])).values()];
  if (problems.length > 0) throw refuse('TENANT_FILE_INVALID', problems);
  return loaded;
}

/** Paths of the YAML files of a folder. @throws ConnectorError TENANTS_UNREADABLE, TENANTS_MISSING */
export async function tenantFiles(dir: string): Promise<string[]> {
  let names: string[];
  try {
    names = await readdir(dir);
  } catch {
    throw new ConnectorError({
      code: 'TENANTS_UNREADABLE',
      action: 'reject',
      message: `${dir}: there is no such directory of tenant files. Create it, or name another with --tenants DIR.`,
    });
  }
  const files = names.filter((name) => /\.ya?ml$/.test(name) && !isCasesFile(name));
  if (files.length === 0)
    throw new ConnectorError({
      code: 'TENANTS_MISSING',
      action: 'reject',
      message: `${dir}: holds no tenant file (*.yaml). Add one, or name another directory with --tenants DIR.`,
    });
  return files.sort().map((name) => join(dir, name));
}

async function loadFile(file: string, secrets: 'check' | 'skip'): Promise<Loaded> {
  const loaded = await readTenant(await readYamlFile(file), {});
  const { source, tenant, problems } = loaded;
  if (tenant === undefined) return loaded;
  return secrets === 'check' ? { ...loaded, problems: [...missingSecrets(source, tenant), ...problems] } : loaded;
}

/** A definition as it was applied, as far as it can be read: nothing is taken from the disk. */
export function readDefinition({ file, files }: Pick<Tenant, 'file' | 'files'>): Promise<Loaded> {
  return readTenant(parseYaml(file, files[file] ?? ''), files);
}

/**
 * The tenant of an applied definition, its mapping checked; its secrets are not looked at.
 * @throws ConnectorError TENANT_FILE_INVALID, which pauses that tenant
 */
export async function parseTenant(definition: Pick<Tenant, 'file' | 'files'>): Promise<Tenant> {
  const { tenant, problems } = await readDefinition(definition);
  if (tenant !== undefined && problems.length === 0) return tenant;
  const { code, message } = refuse('TENANT_FILE_INVALID', problems);
  throw new ConnectorError({ code, action: 'reauthorize', message: `${message}\n${OLDER_PROCESS}` });
}

/** What is applied was valid for whoever applied it. */
const OLDER_PROCESS =
  'If a newer hirebridge applied this definition, run that version here: this tenant waits until then. ' +
  'Otherwise correct its file and run: hirebridge tenant apply';

/** A tenant as its file says; without texts its mapping is read from the disk. */
export async function readTenant(source: YamlFile, files: Tenant['files']): Promise<Loaded> {
  if (source.problems.length > 0) return { source, problems: source.problems };
  if (isMappingFile(source.value) || isDefinitionFile(source.value)) return { source, problems: [] };
  const parsed = tenantFile.safeParse(source.value);
  const problems = parsed.success ? [] : explainIssues(source, tenantFile, parsed.error);
  const hris = await checkHris(source, files);
  problems.push(...hris.problems);
  if (!parsed.success || hris.options === undefined) return { source, problems };

  const tenant = { ...build(source.file, parsed.data, hris.options), files };
  const mapping = await checkMapping(source, tenant);
  const streams = await checkStreams(source, tenant);
  problems.push(...mapping.problems, ...streams.problems);
  tenant.configHash = createHash('sha256')
    .update(JSON.stringify([parsed.data, mapping.hash, streams.hash, ...Object.values(hris.files ?? {})]))
    .digest('hex');
  tenant.files = { [source.file]: source.text, ...hris.files, ...mapping.files, ...streams.files };
  return { source, tenant, problems };
}

/** Mapping files may stand beside the tenant files that name them. */
function isMappingFile(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'fields' in value && !('tenant' in value);
}

/** Paths in the file become absolute here, so that a tenant means the same to every process. */
function build(file: string, parsed: TenantFile, options: Record<string, unknown>): Omit<Tenant, 'files'> {
  const { mapping, hris, partner, streams, notify, ...rest } = parsed;
  const anchored = (path: string): string => resolve(dirname(file), path);
  return {
    ...rest,
    partner: withSecrets(partner, file),
    hris: {
      kind: hris.kind,
      connection: hris.connection,
      options: anchoredOptions(options, file),
    },
    streams: everyStream((name) => withPath(streams[name], anchored)),
    ...(mapping === undefined ? {} : { mapping: anchored(mapping) }),
    ...(notify === undefined ? {} : { notify: withSecret(notify, file) }),
    file,
    configHash: '',
  };
}

/** Its secrets stand where the tenant file says, wherever the process was started. */
export function withSecrets(partner: TenantFile['partner'], file: string): TenantFile['partner'] {
  return {
    ...partner,
    apiKey: anchorSecret(partner.apiKey, file),
    webhookKeys: partner.webhookKeys.map((ref) => anchorSecret(ref, file)),
  };
}

function withSecret(notify: Notify, file: string): Notify {
  return notify.secret === undefined ? notify : { ...notify, secret: anchorSecret(notify.secret, file) };
}

function withPath(stream: StreamSettings, anchored: (path: string) => string): StreamSettings {
  return stream.mapping === undefined ? stream : { ...stream, mapping: anchored(stream.mapping) };
}
