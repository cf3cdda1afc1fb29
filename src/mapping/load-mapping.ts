import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FieldDef } from '../hris/port.ts';
import { didYouMean } from '../in-words.ts';
import { templateParts } from '../values/transforms.ts';
import {
  explainIssues,
  type Path,
  type Problem,
  problemAt,
  readYamlFile,
  refuse,
  type Texts,
  type YamlFile,
} from '../yaml/yaml-file.ts';
import { checkDirection, checkValues, type WayBack } from './check-rule.ts';
import {
  type CompiledField,
  compileRule,
  type FieldRule,
  flowsToPartner,
  mappingFile,
  type PlacedRule,
  parseTableColumn,
  pathsOf,
  readLookup,
  type TableName,
  type TableRows,
  tableNames,
} from './compile-rule.ts';
import { parseSourcePath, type SourceRecords, sourceRecords } from './source-fields.ts';

/** A mapping checked against both sides. Plain data; may be kept for the life of a process. */
export interface Mapping {
  kind: string;
  /** Fields that flow to the HR system. */
  fields: readonly CompiledField[];
  /** Fields that flow back to the partner; a field that flows both ways is in both lists. */
  back: readonly CompiledField[];
  /** SHA-256 of the mapping's meaning. Comments, order and the split into files do not change it. */
  hash: string;
  /** Every tenant file that the mapping was made from, lookups included: absolute path -> text. */
  files: Texts;
}

/** The mapping's subject: its name, as in the default mapping files, and the records it is made from. */
export interface MappingSubject {
  name: string;
  reads: SourceRecords;
  /** How values get back to the partner; absent if none do. */
  way?: WayBack;
  /** Its records exist on both sides already, so fields that the HR system requires need no rule. */
  isPartial?: boolean;
  /** Its record is new, so a rule may choose a name for it. */
  isNew?: boolean;
}

/** Once the employee exists, the hire's write-back sends values to the candidate's custom fields. */
const employee: MappingSubject = {
  name: 'employee',
  reads: sourceRecords,
  way: {
    carrier: 'The write-back of a hire',
    writes: { candidate: { fields: [], hasCustomFields: true } },
    owners: ['hris'],
  },
  isNew: true,
};

interface WantedMapping {
  kind: string;
  /** Defaults to an employee. */
  of?: MappingSubject;
  /** The tenant's own mapping file. */
  file?: string;
  /** The tenant's files as read before; see Mapping.files. */
  texts?: Texts;
  fields: readonly FieldDef[];
}

/** Mappings without a tenant file, cached because a thousand tenants share a few of them. */
const shared = new Map<string, Promise<Mapping>>();

/**
 * Merges the mapping files field by field: the base, the HRIS kind's file, then the tenant's file with the files it
 * extends. Checks that sources exist in the partner's records, that targets may be written, and that required targets
 * are mapped. On errors, throws one ConnectorError that lists every problem as file:line:column.
 */
export function loadMapping(wanted: WantedMapping): Promise<Mapping> {
  const { kind, of = employee, file, fields } = wanted;
  if (file !== undefined) return readMapping(wanted);
  const key = JSON.stringify([kind, of.name, fields]);
  const known = shared.get(key) ?? readMapping(wanted);
  shared.set(key, known);
  return known;
}

async function readMapping({ kind, of = employee, file, texts, fields }: WantedMapping): Promise<Mapping> {
  const base = defaultMappingFile('base', of.name);
  const own = defaultMappingFile(kind, of.name);
  const defaults = await Promise.all([base, own].filter((one) => existsSync(one)).map((one) => readYamlFile(one)));
  const tenants = file === undefined ? [] : await readLayers(file, texts);
  const layers = [...defaults, ...tenants];
  const sources = layers.length > 0 ? layers : [await readYamlFile(own)];
  const mapping = compileMapping(kind, fields, sources, { of, base, texts });
  const ours = new Set([base, own]);
  return { ...mapping, files: Object.fromEntries(Object.entries(mapping.files).filter(([name]) => !ours.has(name))) };
}

/** The hash as it is shown to people. */
export function shortVersion(hash: string): string {
  return hash.slice(0, 12);
}

export function hasDefaultMapping(kind: string, name: string): boolean {
  return existsSync(defaultMappingFile(kind, name));
}

/** The files of a mapping. The rules of `base` count only if the HR system has their field. */
interface CompileOptions {
  of?: MappingSubject;
  base?: string;
  texts?: Texts | undefined;
}

/** Compiles parsed mapping files; later files override earlier ones. */
export function compileMapping(
  kind: string,
  fields: readonly FieldDef[],
  sources: readonly YamlFile[],
  { of = employee, base, texts }: CompileOptions = {},
): Mapping {
  const { rules, absent, problems, files } = mergeLayers(sources, texts);
  const kept = rules.filter(({ target, source }) => source.file !== base || fields.some(({ key }) => key === target));
  const top = sources.at(-1);
  // Report unmapped fields only if every file could be read.
  const complete = problems.length === 0 && of.isPartial !== true ? top : undefined;
  // A misspelt null would leave the rule that it should remove.
  problems.push(...absent.flatMap(({ target, source }) => checkKnown(target, source, fields)));
  if (top) problems.push(...checkRules(kept, { fields, ...of }, complete));
  if (problems.length > 0) throw refuse('MAPPING_INVALID', problems);
  const compiled = kept.flatMap((placed) => compileRule(placed, fields, of.reads));
  return {
    kind,
    fields: compiled.filter(({ rule }) => flowsToHris(rule)),
    back: compiled.filter(({ rule }) => flowsToPartner(rule)),
    hash: createHash('sha256').update(meaningOf(kept)).digest('hex'),
    files,
  };
}

interface Merging {
  /** Fields that a file sets to null although no file below it has a rule for them. */
  absent: { target: string; source: YamlFile }[];
  texts: Texts | undefined;
  problems: Problem[];
  files: Record<string, string>;
}

/** Returns the effective rules, each with the file it comes from. */
function mergeLayers(sources: readonly YamlFile[], texts: Texts | undefined): Merging & { rules: PlacedRule[] } {
  const problems = sources.flatMap((source) => source.problems);
  const merging: Merging = {
    absent: [],
    texts,
    problems,
    files: Object.fromEntries(sources.map(({ file, text }) => [file, text])),
  };
  const rules = new Map<string, PlacedRule>();
  for (const source of sources) {
    if (source.problems.length > 0) continue;
    const parsed = mappingFile.safeParse(source.value);
    if (!parsed.success) problems.push(...explainIssues(source, mappingFile, parsed.error));
    for (const [target, rule] of Object.entries(parsed.data?.fields ?? {})) {
      if (rule === null) {
        if (!rules.delete(target)) merging.absent.push({ target, source });
      } else rules.set(target, placeRule(target, rule, source, merging));
    }
  }
  return { rules: [...rules.values()], ...merging };
}

/** Places a rule, and replaces a lookup that names a file by the lookup in that file. */
function placeRule(target: string, rule: FieldRule, source: YamlFile, merging: Merging): PlacedRule {
  const { lookup, ...rest } = rule;
  if (typeof lookup !== 'string') return { target, rule: { ...rest, ...(lookup && { lookup }) }, source };
  const read = readLookup(lookup, source.file, merging.texts);
  if (read !== undefined) {
    merging.problems.push(...read.problems);
    merging.files[read.file] = read.text;
    return { target, rule: { ...rest, lookup: read.lookup }, source, lookupPlaces: read.places };
  }
  const text = `"${lookup}" does not exist. Correct the path; it is relative to this file.`;
  merging.problems.push(problemAt(source, ['fields', target, 'lookup'], text));
  return { target, rule: rest, source };
}

/** Text that is the same for two mappings with the same meaning. */
function meaningOf(rules: readonly PlacedRule[]): string {
  const sorted = rules.map(({ target, rule }) => [target, rule] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(sorted, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

function defaultMappingFile(kind: string, name: string): string {
  return fileURLToPath(new URL(`../../mappings/${kind}/${name}.yaml`, import.meta.url));
}

const PREVIOUS_JOB: Record<string, string> = {
  'candidate.currentJobTitle': 'the title of the job the person is leaving; the new one is job.title',
  'candidate.currentCompany': 'the company the person is leaving',
};

/**
 * Checks rules against both sides. `complete` is the file to blame for required fields without a rule; undefined skips
 * that check.
 */
function checkRules(
  rules: readonly PlacedRule[],
  { fields, reads, way, ...of }: MappingSubject & { fields: readonly FieldDef[] },
  complete: YamlFile | undefined,
): Problem[] {
  const problems = rules.flatMap((placed) => [
    ...checkTarget(placed, fields),
    ...checkShape(placed, fields),
    ...checkUnique(placed, fields, of),
    ...checkSources(placed, reads),
    ...checkTable(placed),
    ...checkValues(placed, fields),
    ...checkDirection(placed, fields, way),
  ]);
  problems.push(...checkTwice(rules), ...checkPlaces(rules, fields));
  if (!complete) return problems;
  for (const field of fields) {
    if (!field.required || rules.some(({ target, rule }) => target === field.key && flowsToHris(rule))) continue;
    problems.push(
      problemAt(
        complete,
        [],
        `"${field.key}" (${field.label}) is required by the HR system and nothing fills it. Add a rule with ` +
          'from, constant or template.',
        'fields',
      ),
    );
  }
  return problems;
}

/** Reports two rules that write the same place at the partner, because they would overwrite each other. */
function checkTwice(rules: readonly PlacedRule[]): Problem[] {
  const seen = new Map<string, string>();
  return rules
    .filter(({ rule }) => flowsToPartner(rule))
    .flatMap(({ target, rule, source }) => {
      const [path] = pathsOf(rule);
      const key = path?.normalize('NFC').toLowerCase() ?? target;
      const before = seen.get(key);
      seen.set(key, target);
      if (before === undefined) return [];
      const text = `"${before}" writes ${path} at the partner too. Keep one of the two.`;
      return [problemAt(source, ['fields', target, 'from'], text)];
    });
}

/** Reports two rules that write one place of the HR system, such as fields that a tenant points at the same column. */
function checkPlaces(rules: readonly PlacedRule[], fields: readonly FieldDef[]): Problem[] {
  const seen = new Map<string, string>();
  return rules
    .filter(({ rule }) => flowsToHris(rule))
    .flatMap(({ target, source }) => {
      const place = fields.find(({ key }) => key === target)?.place ?? target;
      const before = seen.get(place);
      seen.set(place, target);
      if (before === undefined) return [];
      const text =
        `"${before}" writes ${place} of the HR system too, so one of the two values would be lost. Keep one of them: ` +
        'write null for the other.';
      return [problemAt(source, ['fields'], text, target)];
    });
}

function checkKnown(target: string, source: YamlFile, fields: readonly FieldDef[]): Problem[] {
  if (fields.some(({ key }) => key === target)) return [];
  const writable = fields.filter((field) => field.writable).map((field) => field.key);
  const text = `"${target}" is not a field of the HR system. ${didYouMean(target, writable)}`;
  return [problemAt(source, ['fields'], text, target)];
}

function checkTarget({ target, rule, source }: PlacedRule, fields: readonly FieldDef[]): Problem[] {
  const def = fields.find((field) => field.key === target);
  if (def === undefined) return checkKnown(target, source, fields);
  if (def.writable || !flowsToHris(rule)) return [];
  const text = `"${target}" is filled by the HR system itself and cannot be written. Remove the rule.`;
  return [problemAt(source, ['fields'], text, target)];
}

function flowsToHris({ direction }: PlacedRule['rule']): boolean {
  return direction !== 'toPartner';
}

function checkSources(placed: PlacedRule, reads: SourceRecords): Problem[] {
  const { target, rule, source } = placed;
  const at = ['fields', target];
  const own = pathsOf(rule).flatMap((path, index) => {
    const [key, ...inner] =
      rule.template === undefined ? ['from', ...(Array.isArray(rule.from) ? [index] : [])] : ['template'];
    return checkPath({ path, at: [...at, key ?? '', ...inner] }, placed, reads);
  });
  const asked = (rule.when ?? []).flatMap(({ path }, index) =>
    checkPath(
      { path, at: [...at, 'when', index, 'path'] },
      { target, source, rule: { ...rule, acknowledge: 'previousJob' } },
      reads,
    ),
  );
  return [...own, ...asked];
}

function checkPath(
  { path, at }: { path: string; at: Path },
  { target, rule, source }: PlacedRule,
  reads: SourceRecords,
): Problem[] {
  const parsed = parseSourcePath(path, { ...sourceRecords, ...reads });
  if ('wrong' in parsed) {
    const instead = parsed.known.length > 0 ? didYouMean(parsed.word, parsed.known) : '';
    return [problemAt(source, at, `${parsed.wrong}. ${instead}`.trim())];
  }
  if (!Object.hasOwn(reads, parsed.source)) {
    const text = `${path} is not available here: this mapping reads ${Object.keys(reads).join(', ')}. Remove the rule.`;
    return [problemAt(source, at, text)];
  }
  const previous = PREVIOUS_JOB[path];
  if (previous === undefined || rule.acknowledge === 'previousJob') return [];
  const text =
    `${path} is ${previous}. If the previous job is what "${target}" should hold, ` + 'add "acknowledge: previousJob".';
  return [problemAt(source, at, text)];
}

function checkTable({ target, rule, source }: PlacedRule): Problem[] {
  const column = rule.table === undefined ? undefined : parseTableColumn(rule.table);
  if (column === undefined || !('wrong' in column)) return [];
  const text = `${column.wrong}. ${didYouMean(column.word, column.known)}`;
  return [problemAt(source, ['fields', target, 'table'], text)];
}

/** Checks that the parts of a rule fit together. */
function checkShape(placed: PlacedRule, fields: readonly FieldDef[]): Problem[] {
  return [...checkOrigin(placed), ...checkConstant(placed), ...checkLists(placed), ...checkOption(placed, fields)];
}

function checkOrigin({ target, rule, source }: PlacedRule): Problem[] {
  const at = ['fields', target];
  const origins = [rule.from, rule.constant, rule.template].filter((one) => one !== undefined);
  if (origins.length !== 1)
    return [problemAt(source, at, `"${target}" needs one of from, constant and template, and no two of them.`)];
  if (rule.template === undefined) return [];
  const parts = templateParts(rule.template);
  if (parts?.some((part) => 'path' in part) === true) return [];
  const wrong = parts === undefined ? 'has a brace that opens or closes alone' : 'names no path';
  const text =
    `the template of "${target}" ${wrong}. Write paths in braces: "{candidate.lastName}"; ` +
    'text alone is a constant.';
  return [problemAt(source, [...at, 'template'], text)];
}

/** `unique` works only for new employees, and only if the HR system can be asked whether a name is taken. */
function checkUnique(
  { target, rule, source }: PlacedRule,
  fields: readonly FieldDef[],
  { name, isNew }: Pick<MappingSubject, 'name' | 'isNew'>,
): Problem[] {
  if (rule.unique !== true) return [];
  const say = (text: string) => [problemAt(source, ['fields', target, 'unique'], text)];
  if (isNew !== true) return say(`only a new employee is named, and this mapping is of ${name}. Remove unique.`);
  if (rule.constant !== undefined || flowsToPartner(rule))
    return say(`"${target}" must be made from the person, and flow only to the HR system. Remove unique.`);
  const able = fields.filter(({ isLookedUp }) => isLookedUp === true).map(({ key }) => key);
  if (able.includes(target)) return [];
  const others =
    able.length === 0
      ? 'it can search no field; sql, bamboohr, tryton, ldap, scim and odoo can, http by find.taken'
      : `it can search ${able.join(', ')}`;
  return say(`this HR system cannot be asked whether somebody has "${target}": ${others}. Remove unique.`);
}

function checkConstant({ target, rule, source }: PlacedRule): Problem[] {
  if (rule.constant === undefined) return [];
  const at = ['fields', target];
  if ((rule.transform ?? rule.table ?? rule.lookup ?? rule.default) !== undefined) {
    const text = `"${target}" is a constant; transform, table, lookup and default do nothing here. Remove them.`;
    return [problemAt(source, at, text)];
  }
  if (typeof rule.constant !== 'string' || rule.constant.trim() !== '') return [];
  const text = `"${target}" is an empty constant. Write a value, or null instead of the rule.`;
  return [problemAt(source, [...at, 'constant'], text)];
}

function checkLists({ target, rule, source }: PlacedRule): Problem[] {
  const collects = (rule.transform ?? []).some(
    (one) => one === 'first' || one === 'join' || (typeof one === 'object' && 'join' in one),
  );
  if (!Array.isArray(rule.from) || collects) return [];
  const text =
    `"${target}" reads several sources. Add "first" or "join" to its transform list ` + 'to say how they become one.';
  return [problemAt(source, ['fields', target, 'from'], text)];
}

/** `option` needs a field with a list of values to pick from. */
function checkOption({ target, rule, source }: PlacedRule, fields: readonly FieldDef[]): Problem[] {
  const def = fields.find(({ key }) => key === target);
  const index = (rule.transform ?? []).indexOf('option');
  if (index < 0 || def === undefined || def.options !== undefined) return [];
  const text = `"${target}" has no list of values in the HR system to pick from. Remove "option", or name its options.`;
  return [problemAt(source, ['fields', target, 'transform', index], text)];
}

/**
 * Reads a mapping file and the files it extends, lowest first. If a file extends itself, directly or through others, or
 * extends a missing file, the problem is reported at the file that names it.
 */
async function readLayers(file: string, texts?: Texts, above: readonly YamlFile[] = []): Promise<YamlFile[]> {
  const source = await readYamlFile(file, texts);
  const named = extended(source);
  if (named === undefined) return [source];
  const below = resolve(dirname(file), named);
  const chain = [...above, source];
  const wrong = chain.some((one) => resolve(one.file) === below)
    ? `"${named}" leads back to this file. Remove one "extends", so that no file extends itself.`
    : isThere(below, texts)
      ? undefined
      : `"${named}" does not exist. Correct the path; it is relative to this file.`;
  if (wrong !== undefined) {
    source.problems.push(problemAt(source, ['extends'], wrong));
    return [source];
  }
  return [...(await readLayers(below, texts, chain)), source];
}

function isThere(file: string, texts: Texts | undefined): boolean {
  return texts === undefined ? existsSync(file) : Object.hasOwn(texts, file);
}

/** Ignores other types of `extends`: the schema refuses them. */
function extended({ value }: YamlFile): string | undefined {
  const named = (value as { extends?: unknown } | null | undefined)?.extends;
  return typeof named === 'string' && named !== '' ? named : undefined;
}

/** The tables in which a mapping looks values up. */
export function tablesOf({ fields }: Pick<Mapping, 'fields'>): TableName[] {
  return tableNames.filter((name) => fields.some(({ table }) => table?.name === name));
}

/** Adds to a mapping the table rows for its look-ups. */
export function bindTables(mapping: Mapping, tables: ReadonlyMap<TableName, TableRows>): Mapping {
  if (tables.size === 0) return mapping;
  const fields = mapping.fields.map((field) => {
    const rows = field.table === undefined ? undefined : tables.get(field.table.name);
    return field.table === undefined || rows === undefined ? field : { ...field, table: { ...field.table, rows } };
  });
  return { ...mapping, fields };
}
