import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ConnectorError, isConnectorError, rejected } from '../errors.ts';
import type { DefinitionFile } from '../hris/http/http.ts';
import { modulePlace } from '../hris/module.ts';
import { findHrisAdapter, hrisKinds } from '../hris/registry.ts';
import { didYouMean } from '../in-words.ts';
import type { Mapping } from '../mapping/load-mapping.ts';
import { everyStream, exchangeNames, landedNames, landings } from '../streams/streams.ts';
import {
  explainIssues,
  type Path,
  type Problem,
  parseYaml,
  problemAt,
  readYamlFile,
  refuse,
  type Texts,
  type YamlFile,
} from '../yaml/yaml-file.ts';
import { clashes, type Loaded } from './clashes.ts';
import { foreignSecrets, impossibleOf, namedSecrets, optionTexts } from './impossible-settings.ts';
import {
  checkAmendments,
  destinationTenant,
  loadExchangeMapping,
  loadRequisitionMapping,
  loadStreamMapping,
  loadTenantMapping,
  requisitionFields,
} from './open-hris.ts';
import { retention, type Tenant, type TenantFile, tenantFile } from './schema.ts';
import { anchorSecret, isSecretRef, resolveSecret } from './secrets.ts';
import type { Notify } from './sections.ts';

/**
 * Reads each *.yaml and *.yml file of a directory as one tenant. Checks its mapping and, unless `secrets: 'skip'`, that
 * its secrets exist. Refuses everything or nothing: one ConnectorError lists every problem of every file as
 * file:line:column.
 */
export async function loadTenants(dir: string, options: { secrets?: 'check' | 'skip' } = {}): Promise<Tenant[]> {
  return (await loadFolder(dir, options.secrets ?? 'check')).flatMap(({ tenant }) => tenant ?? []);
}

/** Whether a file that names no tenant is one that a tenant names: its mistakes are those that were found there. */
function isNamedBy(loaded: readonly Loaded[], { source: { file, value } }: Loaded): boolean {
  if (typeof value !== 'object' || value === null || 'tenant' in value) return false;
  const isHere = (problem: Problem) => resolve(problem.file) === resolve(file);
  return loaded.some(({ source, problems }) => source.file !== file && problems.some(isHere));
}

/** Like loadTenants, but returns the source of each file too, mapping files included. */
export async function loadFolder(dir: string, secrets: 'check' | 'skip'): Promise<Loaded[]> {
  const files = await tenantFiles(dir);
  const loaded = await Promise.all(files.map((file) => loadFile(file, secrets)));
  const all = [
    ...loaded.filter((one) => !isNamedBy(loaded, one)).flatMap((one) => one.problems),
    ...clashes(loaded),
    ...foreignSecrets(loaded),
    ...impossibleOf(loaded),
  ];
  const problems = [...new Map(all.map((problem) => [JSON.stringify(problem), problem])).values()];
  if (problems.length > 0) throw refuse('TENANT_FILE_INVALID', problems);
  return loaded;
}

const NEXT = 'Write the first with hirebridge init TENANT, or name another directory with --tenants DIR.';

/** Paths of the YAML files of a folder. @throws ConnectorError TENANTS_UNREADABLE, TENANTS_MISSING */
export async function tenantFiles(dir: string): Promise<string[]> {
  let names: string[];
  try {
    names = await readdir(dir);
  } catch {
    throw rejected('TENANTS_UNREADABLE', `${dir}: there is no such directory of tenant files. ${NEXT}`);
  }
  const files = names.filter((name) => /\.ya?ml$/i.test(name) && !/\.cases\.ya?ml$/i.test(name));
  if (files.length === 0) throw rejected('TENANTS_MISSING', `${dir}: holds no tenant file (*.yaml). ${NEXT}`);
  return files.sort().map((name) => join(dir, name));
}

async function loadFile(file: string, secrets: 'check' | 'skip'): Promise<Loaded> {
  const read = await readYamlFile(file).catch((error: unknown) => {
    const nothing = parseYaml(file, '');
    return { ...nothing, problems: problemsOf(error, nothing, []) };
  });
  const loaded = await readTenant(read, {});
  const { source, tenant, problems } = loaded;
  if (tenant === undefined) return loaded;
  return secrets === 'check' ? { ...loaded, problems: [...missingSecrets(source, tenant), ...problems] } : loaded;
}

/** Reads a definition as it was applied, as far as possible; takes nothing from the disk. */
export function readDefinition({ file, files }: Pick<Tenant, 'file' | 'files'>): Promise<Loaded> {
  return readTenant(parseYaml(file, files[file] ?? ''), files);
}

/**
 * Returns the tenant of an applied definition. Checks its mapping but not its secrets.
 * @throws ConnectorError TENANT_FILE_INVALID, which pauses the tenant
 */
export async function parseTenant(definition: Pick<Tenant, 'file' | 'files'>): Promise<Tenant> {
  const { tenant, problems } = await readDefinition(definition);
  if (tenant !== undefined && problems.length === 0) return tenant;
  const { code, message } = refuse('TENANT_FILE_INVALID', problems);
  throw new ConnectorError({ code, action: 'reauthorize', message: `${message}\n${OLDER_PROCESS}` });
}

/**
 * How long, in ms, to keep values of a tenant that was removed or has an unreadable definition: as the definition last
 * said if that part is readable, else the default.
 */
export function lastRetention({ file, files }: Pick<Tenant, 'file' | 'files'>): TenantFile['policies']['retention'] {
  const { policies } = (parseYaml(file, files[file] ?? '').value ?? {}) as { policies?: { retention?: unknown } };
  const said = retention.safeParse(policies?.retention ?? {});
  return said.success ? said.data : retention.parse({});
}

/** The process that applied the definition found it valid, so it may be newer than this process. */
const OLDER_PROCESS =
  'If a newer hirebridge applied this definition, run that version here: this tenant waits until then. ' +
  'Otherwise correct its file and run: hirebridge tenant apply';

/** Reads a tenant from its file; without `files` the mapping is read from the disk. */
export async function readTenant(source: YamlFile, files: Tenant['files']): Promise<Loaded> {
  if (source.problems.length > 0) return { source, problems: source.problems };
  if (isMappingFile(source.value) || isDefinitionFile(source.value)) return { source, problems: [] };
  const parsed = tenantFile.safeParse(source.value);
  const problems = parsed.success ? [] : explainIssues(source, tenantFile, parsed.error);
  const hris = await checkHris(source, files);
  const others = await Promise.all(
    (parsed.data?.destinations ?? []).map((_, at) => checkHris(source, files, ['destinations', at])),
  );
  problems.push(...[hris, ...others].flatMap((one) => one.problems), ...literalLanding(source));
  const known = others.flatMap(({ options }) => (options === undefined ? [] : [options]));
  if (!parsed.success || hris.options === undefined || known.length < others.length) return { source, problems };

  const tenant = { ...build(source.file, parsed.data, [hris.options, ...known]), files };
  const mapping = await checkMapping(source, tenant);
  const streams = await checkStreams(source, tenant);
  problems.push(...mapping.problems, ...streams.problems);
  const defined = Object.assign({}, ...[hris, ...others].map((one) => one.files)) as Texts;
  tenant.configHash = createHash('sha256')
    .update(JSON.stringify([parsed.data, mapping.hash, streams.hash, ...Object.values(defined)]))
    .digest('hex');
  tenant.files = { [source.file]: source.text, ...defined, ...mapping.files, ...streams.files };
  return { source, tenant, problems };
}

/** Mapping files may lie next to the tenant files that name them. */
function isMappingFile(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'fields' in value && !('tenant' in value);
}

/** Makes paths absolute, so that a tenant means the same in every process. */
function build(
  file: string,
  parsed: TenantFile,
  [own = {}, ...others]: readonly Record<string, unknown>[],
): Omit<Tenant, 'files'> {
  const { mapping, hris, destinations, landing, partner, streams, notify, events, ...rest } = parsed;
  const anchored = (path: string): string => resolve(dirname(file), path);
  const system = ({ kind, connection }: TenantFile['hris'], options: Record<string, unknown> = {}) => ({
    kind,
    connection,
    options: anchoredOptions(options, file),
  });
  return {
    ...rest,
    partner: withSecrets(partner, file),
    hris: system(hris, own),
    ...(destinations && {
      destinations: destinations.map((one, at) => ({ ...system(one, others[at]), mapping: anchored(one.mapping) })),
    }),
    ...(landing === undefined ? {} : { landing: { ...landing, url: anchorText(landing.url, file) } }),
    streams: everyStream((name) => {
      const { mapping: path, ...stream } = streams[name];
      return path === undefined ? stream : { ...stream, mapping: anchored(path) };
    }),
    ...(mapping === undefined ? {} : { mapping: anchored(mapping) }),
    ...(notify === undefined ? {} : { notify: withSecret(notify, file) }),
    ...(events === undefined ? {} : { events: withSecret(events, file) }),
    file,
    configHash: '',
  };
}

/** Secret files are found relative to the tenant file, no matter where the process was started. */
export function withSecrets(partner: TenantFile['partner'], file: string): TenantFile['partner'] {
  return {
    ...partner,
    apiKey: anchorSecret(partner.apiKey, file),
    webhookKeys: partner.webhookKeys.map((ref) => anchorSecret(ref, file)),
  };
}

function withSecret<T extends Pick<Notify, 'url' | 'secret'>>(told: T, file: string): T {
  const url = anchorSecret(told.url, file);
  return { ...told, url, ...(told.secret !== undefined && { secret: anchorSecret(told.secret, file) }) };
}

/** Checks the adapter's part of the file with the adapter's own schema. `texts` as in Tenant.files. */
async function checkHris(
  source: YamlFile,
  texts: Texts,
  place: Path = ['hris'],
): Promise<{ options?: Record<string, unknown>; files?: Texts; problems: Problem[] }> {
  const value = place.reduce<unknown>((of, key) => (of as Record<PropertyKey, unknown> | null)?.[key], source.value);
  if (typeof value !== 'object' || value === null) return { problems: [] };
  const { kind, connection: _connection, ...all } = value as Record<string, unknown>;
  const { mapping: _mapping, ...beside } = all;
  if (typeof kind !== 'string') return { problems: [] };
  const given = place[0] === 'hris' ? all : beside;
  const { written, problems: unfound } = placeModule(source, kind, given, place);
  if (unfound.length > 0) return { problems: unfound };
  const { definition, problems: wrong } = await readHrisDefinition(source, kind, written['definition'], texts, place);
  if (wrong.length > 0) return { problems: wrong };
  const options = definition === undefined ? written : { ...written, definition };
  const files = definition === undefined ? {} : { [definition.file]: definition.text };
  const found = findHrisAdapter(kind, options);
  if (!found)
    return {
      problems: [
        problemAt(source, [...place, 'kind'], `"${kind}" is not a kind of HRIS. ${didYouMean(kind, hrisKinds())}`),
      ],
    };
  const problems = literalSecrets(source, options, found.secrets ?? [], place);
  if (problems.length > 0) return { problems };
  const schema = found.optionsSchema(landings);
  const parsed = schema.safeParse(options);
  if (!parsed.success) return { problems: explainIssues(source, schema, parsed.error, place) };
  return { options, files, problems: [] };
}

/** A kind made by somebody else is a module, whose path is relative to the tenant file. */
function placeModule(
  source: YamlFile,
  kind: string,
  written: Record<string, unknown>,
  place: Path,
): { written: Record<string, unknown>; problems: Problem[] } {
  const { module: named } = written;
  if (kind !== 'module' || typeof named !== 'string') return { written, problems: [] };
  try {
    const placed = { ...written, module: modulePlace(named, source.file) };
    findHrisAdapter(kind, placed);
    return { written: placed, problems: [] };
  } catch (error) {
    return { written, problems: problemsOf(error, source, [...place, 'module']) };
  }
}

/** Reads and checks the file that describes an HR system of kind `http`. */
async function readHrisDefinition(
  source: YamlFile,
  kind: string,
  named: unknown,
  texts: Texts,
  place: Path,
): Promise<{ definition?: DefinitionFile; problems: Problem[] }> {
  if (kind !== 'http') return { problems: [] };
  const path = [...place, 'definition'];
  if (typeof named !== 'string' || named === '') {
    const text = `"${path.join('.')}" is missing: the file that describes the system, such as ./acme-hr.yaml. Add it.`;
    return { problems: [problemAt(source, path, text)] };
  }
  const file = resolve(dirname(source.file), named);
  try {
    const { text, problems } = await readYamlFile(file, Object.keys(texts).length === 0 ? undefined : texts);
    if (problems.length > 0) return { problems };
    const definition = { file, text };
    findHrisAdapter(kind, { definition });
    return { definition, problems: [] };
  } catch (error) {
    return { problems: problemsOf(error, source, path) };
  }
}

/** Reports secrets written into the file itself, as an option or inside an address. */
function literalSecrets(
  source: YamlFile,
  options: Record<string, unknown>,
  secrets: readonly string[],
  section: Path,
): Problem[] {
  return optionTexts(options).flatMap(([path, option]) => {
    if (isSecretRef(option)) return [];
    const inAddress = URL.canParse(option) && new URL(option).password !== '';
    if (!inAddress && !secrets.includes(path[0])) return [];
    const what = inAddress ? 'holds a password. Put the whole address' : 'is a secret. Put it';
    const into = 'into the environment or a file of its own and write env:NAME or file:/path here.';
    const at = [...section, ...path];
    return [problemAt(source, at, `"${at.join('.')}" ${what} ${into}`)];
  });
}

/** Checks the address of the landing tables, which may hold a password as well. */
function literalLanding(source: YamlFile): Problem[] {
  const { url } = (source.value as { landing?: { url?: unknown } | null } | null)?.landing ?? {};
  return typeof url === 'string' ? literalSecrets(source, { url }, [], ['landing']) : [];
}

/** A relative SQLite path or secret file is relative to the tenant file. */
function anchoredOptions(options: Record<string, unknown>, file: string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(options).map(([key, value]) => [
      key,
      Array.isArray(value) ? value.map((one) => anchored(one, file)) : anchored(value, file),
    ]),
  );
}

function anchored(value: unknown, file: string): unknown {
  return typeof value === 'string' ? anchorText(value, file) : value;
}

function anchorText(text: string, file: string): string {
  if (text.startsWith('sqlite:')) return `sqlite:${resolve(dirname(file), text.slice('sqlite:'.length))}`;
  return anchorSecret(text, file);
}

/** Reports every secret reference that leads nowhere, at its place in the file. */
function missingSecrets(source: YamlFile, tenant: Tenant): Problem[] {
  return namedSecrets(tenant).flatMap(({ path, ref }) => {
    try {
      resolveSecret(ref);
      return [];
    } catch (error) {
      return [problemAt(source, path, (error as Error).message)];
    }
  });
}

async function checkMapping(source: YamlFile, tenant: Tenant): Promise<Checked> {
  const exchanged = await loadExchangeMapping(tenant, 'employees').catch(() => undefined);
  const found = await checked(source, ['mapping'], loadTenantMapping(tenant), (mapping) => [
    ...unmappedValues(source, tenant, mapping),
    ...writtenTwice(source, tenant, mapping),
    ...unreadTables(tenant, mapping),
    ...checkAmendments(source, tenant, mapping, exchanged),
  ]);
  if (tenant.mapping !== undefined) return found;
  // The defaults are files of hirebridge itself, which nobody edits.
  const own = `Write a mapping file of your own, and name it here: "mapping: ./${tenant.tenant}-mapping.yaml".`;
  const problems = found.problems.map((one) =>
    one.file === source.file ? one : problemAt(source, ['hris'], `${one.text} ${own}`),
  );
  return { ...found, problems };
}

/** Judges a mapping, so that its problems are reported together with the tenant's. */
async function checked(
  source: YamlFile,
  path: Path,
  loading: Promise<Mapping | undefined>,
  judge: (mapping: Mapping) => Problem[],
): Promise<Checked> {
  try {
    const mapping = await loading;
    if (mapping === undefined) return { hash: '', files: {}, problems: [] };
    return { hash: mapping.hash, files: mapping.files, problems: judge(mapping) };
  } catch (error) {
    return { hash: '', files: {}, problems: problemsOf(error, source, path) };
  }
}

/** The hash of a mapping's meaning, the files it was made of, and its problems. */
interface Checked {
  hash: string;
  files: Texts;
  problems: Problem[];
}

/** Reports lookup tables of the mapping that no stream of the tenant reads. */
function unreadTables({ streams }: Tenant, { fields }: Mapping): Problem[] {
  return fields.flatMap(({ target, table, at }) => {
    if (table === undefined || streams[table.name].every !== undefined) return [];
    const text =
      `"${target}" looks a value up in the table ${table.name}, which is not read. Add it to the tenant file under ` +
      `streams: ${table.name}: { every: 1h }.`;
    return [{ ...at, text }];
  });
}

function unmappedValues(source: YamlFile, tenant: Tenant, mapping: Mapping): Problem[] {
  const mapped = mapping.fields.map((field) => field.target);
  return tenant.writeBack.values.flatMap(({ field }, index) => {
    if (mapped.includes(field)) return [];
    const path = ['writeBack', 'values', index, 'field'];
    return [problemAt(source, path, `"${field}" is not a mapped field. ${didYouMean(field, mapped)}`)];
  });
}

/**
 * Reports custom fields with two sources, which would overwrite each other. A field named by label is not checked: only
 * the partner knows which field it is.
 */
function writtenTwice(source: YamlFile, { writeBack, results = [] }: Tenant, { back }: Mapping): Problem[] {
  const wanted: [Path, string | undefined][] = [
    [['writeBack', 'customField'], writeBack.customField],
    [['writeBack', 'employeeUrl'], writeBack.employeeUrl],
    [['writeBack', 'holdReason'], writeBack.holdReason],
    ...writeBack.values.map(({ customFieldId }, at): [Path, string] => [['writeBack', 'values', at], customFieldId]),
    ...results.map(({ customField }, at): [Path, string] => [['results', at, 'customField'], customField]),
  ];
  const own = new Set(['employeeUrl', 'holdReason']);
  const twice = wanted.filter(
    ([path, id], at) =>
      id !== undefined &&
      (own.has(String(path[1])) || path[0] === 'results') &&
      wanted.some(([, other], otherAt) => other === id && otherAt !== at),
  );
  if (twice.length > 0)
    return twice.map(([path, id]) =>
      problemAt(source, path, `the file also writes ${id} elsewhere, and each would overwrite the other.`),
    );
  return wanted.flatMap(([path, id]) => {
    const rule = back.find(({ from: [to] }) => to !== undefined && 'customField' in to && to.customField === id);
    if (rule === undefined) return [];
    return [problemAt(source, path, `the mapping of "${rule.target}" writes ${id} as well. Keep one of the two.`)];
  });
}

async function checkStreams(source: YamlFile, tenant: Tenant): Promise<Checked> {
  const check = (path: Path, loading: Promise<Mapping | undefined>): Promise<Checked> =>
    checked(source, [...path, 'mapping'], loading, (mapping) => unreadTables(tenant, mapping));
  const mapped = exchangeNames.filter((name) => tenant.streams[name].mapping !== undefined);
  const all = await Promise.all([
    ...landedNames.map((name) => check(['streams', name], loadStreamMapping(tenant, name))),
    check(['streams', 'requisitions'], loadRequisitionMapping(tenant)),
    ...mapped.map((name) => check(['streams', name], loadExchangeMapping(tenant, name))),
    ...(tenant.destinations ?? []).map((_, at) =>
      check(['destinations', at], loadTenantMapping(destinationTenant(tenant, at))),
    ),
  ]);
  const positions = await loadExchangeMapping(tenant, 'positions').catch(() => undefined);
  return {
    hash: all.map((one) => one.hash).join(),
    files: Object.assign({}, ...all.map((one) => one.files)) as Texts,
    problems: [...all.flatMap((one) => one.problems), ...checkPositions(source, tenant, positions)],
  };
}

function problemsOf(error: unknown, source: YamlFile, path: Path): Problem[] {
  if (!isConnectorError(error)) throw error;
  const listed = error.details?.['problems'] as Problem[] | undefined;
  return listed ?? [problemAt(source, path, error.message)];
}

/** Reports what stops the stream `positions` from running, and custom fields that `requisitions` writes as well. */
function checkPositions(source: YamlFile, tenant: Tenant, mapping: Mapping | undefined): Problem[] {
  const { requisitions, streams } = tenant;
  const { every, mapping: file } = streams.positions;
  if (every === undefined && file === undefined) return [];
  if (requisitions === undefined || requisitionFields(tenant).length === 0) {
    const text =
      'positions exchanges values of jobs that the stream requisitions made. It needs the section requisitions, and ' +
      'hris.requisitions, of an HR system that has open positions.';
    return [problemAt(source, ['streams', 'positions'], text)];
  }
  const written: [Path, string][] = [
    [['requisitions', 'reference'], requisitions.reference],
    ...requisitions.values.map(({ customFieldId }, at): [Path, string] => [
      ['requisitions', 'values', at],
      customFieldId,
    ]),
  ];
  return written.flatMap(([path, id]) => {
    const rule = mapping?.back.find(
      ({ from: [to] }) => to !== undefined && 'customField' in to && to.customField === id,
    );
    if (rule === undefined) return [];
    const text = `the mapping of "${rule.target}" in streams.positions writes ${id} as well. Keep one of the two.`;
    return [problemAt(source, path, text)];
  });
}

/** Whether a YAML file in a folder of tenants is a definition. */
function isDefinitionFile(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'hrisDefinition' in value;
}
