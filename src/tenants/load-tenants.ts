import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ConnectorError, isConnectorError } from '../errors.ts';
import { findHrisKind, hrisKinds } from '../hris/registry.ts';
import { didYouMean, explainIssues } from '../mapping/explain-issues.ts';
import { loadMapping } from '../mapping/load-mapping.ts';
import { type Path, type Problem, problemAt, readYamlFile, refuse, type YamlFile } from '../mapping/yaml-file.ts';
import { type Tenant, type TenantFile, tenantFile } from './schema.ts';
import { anchorSecret, isSecretRef, resolveSecret } from './secrets.ts';

interface Loaded {
  source: YamlFile;
  tenant?: Tenant;
  problems: Problem[];
}

/**
 * Reads every *.yaml and *.yml of a directory as one tenant each, with its mapping and (unless `secrets: 'skip'`) the presence of its secrets checked.
 * Refuses all or nothing: one ConnectorError lists every problem of every file as file:line:column.
 */
export async function loadTenants(dir: string, options: { secrets?: 'check' | 'skip' } = {}): Promise<Tenant[]> {
  const files = await tenantFiles(dir);
  const loaded = await Promise.all(files.map((file) => loadFile(file, options.secrets ?? 'check')));
  const all = [...loaded.flatMap((one) => one.problems), ...clashes(loaded)];
  const problems = [...new Map(all.map((problem) => [JSON.stringify(problem), problem])).values()];
  if (problems.length > 0) throw refuse('TENANT_FILE_INVALID', problems);
  return loaded.flatMap((one) => one.tenant ?? []);
}

async function tenantFiles(dir: string): Promise<string[]> {
  let names: string[];
  try {
    names = await readdir(dir);
  } catch {
    throw new ConnectorError({ code: 'TENANTS_UNREADABLE', action: 'reject', message: `${dir}: there is no such directory of tenant files. Create it, or name another with --tenants DIR.` });
  }
  const files = names.filter((name) => /\.ya?ml$/.test(name));
  if (files.length === 0) throw new ConnectorError({ code: 'TENANTS_MISSING', action: 'reject', message: `${dir}: holds no tenant file (*.yaml). Add one, or name another directory with --tenants DIR.` });
  return files.sort().map((name) => join(dir, name));
}

async function loadFile(file: string, secrets: 'check' | 'skip'): Promise<Loaded> {
  const source = await readYamlFile(file);
  if (source.problems.length > 0) return { source, problems: source.problems };
  if (isMappingFile(source.value)) return { source, problems: [] };
  const parsed = tenantFile.safeParse(source.value);
  const problems = parsed.success ? [] : explainIssues(source, tenantFile, parsed.error);
  const hris = checkHris(source);
  problems.push(...hris.problems);
  if (!parsed.success || hris.options === undefined) return { source, problems };

  const tenant = build(file, parsed.data, hris.options);
  if (secrets === 'check') problems.push(...missingSecrets(source, tenant));
  const mapping = await checkMapping(source, tenant);
  problems.push(...mapping.problems);
  tenant.configHash = createHash('sha256').update(JSON.stringify([parsed.data, mapping.hash])).digest('hex');
  return { source, tenant, problems };
}

/** Mapping files may stand beside the tenant files that name them. */
function isMappingFile(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'fields' in value && !('tenant' in value);
}

/** The adapter's own part of the file, checked by the adapter's own schema. */
function checkHris(source: YamlFile): { options?: Record<string, unknown>; problems: Problem[] } {
  const value = (source.value as { hris?: unknown } | null)?.hris;
  if (typeof value !== 'object' || value === null) return { problems: [] };
  const { kind, connection: _connection, ...options } = value as Record<string, unknown>;
  if (typeof kind !== 'string') return { problems: [] };
  const found = findHrisKind(kind);
  if (!found) return { problems: [problemAt(source, ['hris', 'kind'], `"${kind}" is not a kind of HRIS. ${didYouMean(kind, hrisKinds())}`)] };
  const literal = Object.entries(options).filter(([, option]) => typeof option === 'string' && URL.canParse(option) && new URL(option).password !== '');
  if (literal.length > 0) {
    return { problems: literal.map(([key]) => problemAt(source, ['hris', key], `"hris.${key}" holds a password. Put the whole address into the environment or a file of its own and write env:NAME or file:/path here.`)) };
  }
  const parsed = found.optionsSchema.safeParse(options);
  if (!parsed.success) return { problems: explainIssues(source, found.optionsSchema, parsed.error, ['hris']) };
  return { options, problems: [] };
}

/** Paths in the file become absolute here, so that a tenant means the same to every process. */
function build(file: string, parsed: TenantFile, options: Record<string, unknown>): Tenant {
  const { mapping, hris, partner, ...rest } = parsed;
  const url = options['url'];
  return {
    ...rest,
    partner: { ...partner, apiKey: anchorSecret(partner.apiKey, file), webhookKeys: partner.webhookKeys.map((ref) => anchorSecret(ref, file)) },
    hris: { kind: hris.kind, connection: hris.connection, options: typeof url === 'string' ? { ...options, url: anchorUrl(url, file) } : options },
    ...(mapping === undefined ? {} : { mapping: resolve(dirname(file), mapping) }),
    file,
    configHash: '',
  };
}

function anchorUrl(url: string, file: string): string {
  if (url.startsWith('sqlite:')) return `sqlite:${resolve(dirname(file), url.slice('sqlite:'.length))}`;
  return anchorSecret(url, file);
}

function missingSecrets(source: YamlFile, tenant: Tenant): Problem[] {
  const refs: [Path, unknown][] = [
    [['partner', 'apiKey'], tenant.partner.apiKey],
    ...tenant.partner.webhookKeys.map((ref, index): [Path, unknown] => [['partner', 'webhookKeys', index], ref]),
    ...Object.entries(tenant.hris.options).map(([key, value]): [Path, unknown] => [['hris', key], value]),
  ];
  return refs.flatMap(([path, ref]) => {
    if (typeof ref !== 'string' || !isSecretRef(ref)) return [];
    try {
      resolveSecret(ref);
      return [];
    } catch (error) {
      return [problemAt(source, path, (error as Error).message)];
    }
  });
}

async function checkMapping(source: YamlFile, tenant: Tenant): Promise<{ hash: string; problems: Problem[] }> {
  const kind = findHrisKind(tenant.hris.kind);
  try {
    const parsed = kind?.optionsSchema.parse(tenant.hris.options);
    const mapping = await loadMapping({ kind: tenant.hris.kind, fields: kind?.fields(parsed) ?? [], ...(tenant.mapping === undefined ? {} : { file: tenant.mapping }) });
    const unmapped = tenant.writeBack.values.flatMap((value, index) =>
      mapping.fields.some((field) => field.target === value.field) ? [] : [problemAt(source, ['writeBack', 'values', index, 'field'], `"${value.field}" is not a mapped field. ${didYouMean(value.field, mapping.fields.map((field) => field.target))}`)],
    );
    return { hash: mapping.hash, problems: unmapped };
  } catch (error) {
    if (!isConnectorError(error)) throw error;
    const listed = error.details?.['problems'] as Problem[] | undefined;
    return { hash: '', problems: listed ?? [problemAt(source, ['mapping'], error.message)] };
  }
}

/** Two tenants of one name would share a key; one connection name with two meanings would let a person be created twice. */
function clashes(loaded: readonly Loaded[]): Problem[] {
  const names = new Map<string, string>();
  const connections = new Map<string, { meaning: string; file: string }>();
  return loaded.flatMap(({ source, tenant }) => {
    if (!tenant) return [];
    const problems: Problem[] = [];
    const first = names.get(tenant.tenant);
    if (first !== undefined) problems.push(problemAt(source, ['tenant'], `"${tenant.tenant}" is already the tenant of ${first}. Give each file its own name.`));
    names.set(tenant.tenant, first ?? source.file);

    const meaning = JSON.stringify([tenant.hris.kind, tenant.hris.options['url']]);
    const shared = connections.get(tenant.hris.connection);
    if (shared && shared.meaning !== meaning) {
      problems.push(problemAt(source, ['hris', 'connection'], `"${tenant.hris.connection}" already names another HRIS in ${shared.file}. One name is one HRIS: use another name, or the same kind and url.`));
    }
    if (!shared) connections.set(tenant.hris.connection, { meaning, file: source.file });
    return problems;
  });
}
