import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FieldDef } from '../hris/port.ts';
import { explainIssues } from '../yaml/explain-issues.ts';
import { type Problem, problemAt, readYamlFile, refuse, type Texts, type YamlFile } from '../yaml/yaml-file.ts';
import type { WayBack } from './check-direction.ts';
import { checkRules } from './check-rules.ts';
import { type CompiledField, compileRule } from './compile-rule.ts';
import { flowsToHris, flowsToPartner, type PlacedRule } from './placed-rule.ts';
import { readLayers } from './read-layers.ts';
import { readLookup } from './read-lookup.ts';
import { type FieldRule, mappingFile } from './schema.ts';
import { type SourceRecords, sourceRecords } from './source-fields.ts';

/** A mapping checked at both ends. Plain data; may be kept for the life of a process. */
export interface Mapping {
  kind: string;
  /** What the HR system gets. */
  fields: readonly CompiledField[];
  /** What the partner gets back; a field that flows both ways stands in both. */
  back: readonly CompiledField[];
  /** SHA-256 of what it means: the same for other comments, another order and another split into files. */
  hash: string;
  /** Every file of the tenant that it was made of, lookups included: absolute path -> text. */
  files: Texts;
}

/** What is mapped: its name, which default mapping files carry, and the records it is made from. */
export interface MappingSubject {
  name: string;
  reads: SourceRecords;
  /** What carries values back to the partner; nothing does where it is absent. */
  way?: WayBack;
  /** Its records exist on both sides, so that fields which the HR system requires need no rule. */
  isPartial?: boolean;
}

/** Once the employee exists, the write-back of the hire carries values to the candidate's custom fields. */
const employee: MappingSubject = {
  name: 'employee',
  reads: sourceRecords,
  way: {
    carrier: 'The write-back of a hire',
    writes: { candidate: { fields: [], hasCustomFields: true } },
    owners: ['hris'],
  },
};

interface WantedMapping {
  kind: string;
  /** An employee by default. */
  of?: MappingSubject;
  /** The tenant's own file. */
  file?: string;
  /** The tenant's files as they were read before; see Mapping.files. */
  texts?: Texts;
  fields: readonly FieldDef[];
}

/** Mappings without a file of the tenant's own: a thousand tenants share a few. */
const shared = new Map<string, Promise<Mapping>>();

/**
 * Lays the mapping files over each other, field by field: the base, the HRIS kind's, then the tenant's with those that
 * it extends. Checks that sources exist in the partner's records, that targets may be written, and that required ones
 * are mapped. Refuses with one ConnectorError listing every problem as file:line:column.
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

/** The hash as people are shown it. */
export function shortVersion(hash: string): string {
  return hash.slice(0, 12);
}

export function hasDefaultMapping(kind: string, name: string): boolean {
  return existsSync(defaultMappingFile(kind, name));
}

/** What a mapping reads, and the file whose rules count only where the HR system has their field. */
interface CompileOptions {
  of?: MappingSubject;
  base?: string;
  texts?: Texts | undefined;
}

/** Compiles parsed mapping files, later ones over earlier ones. */
export function compileMapping(
  kind: string,
  fields: readonly FieldDef[],
  sources: readonly YamlFile[],
  { of = employee, base, texts }: CompileOptions = {},
): Mapping {
  const { rules, problems, files } = mergeLayers(sources, texts);
  const kept = rules.filter(({ target, source }) => source.file !== base || fields.some(({ key }) => key === target));
  const top = sources.at(-1);
  // Unmapped fields are only worth naming when every file could be read.
  const complete = problems.length === 0 && of.isPartial !== true ? top : undefined;
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
  texts: Texts | undefined;
  problems: Problem[];
  files: Record<string, string>;
}

/** The rules that count, each with the file it comes from. */
function mergeLayers(sources: readonly YamlFile[], texts: Texts | undefined): Merging & { rules: PlacedRule[] } {
  const problems = sources.flatMap((source) => source.problems);
  const merging: Merging = {
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
      if (rule === null) rules.delete(target);
      else rules.set(target, placeRule(target, rule, source, merging));
    }
  }
  return { rules: [...rules.values()], ...merging };
}

/** A lookup that stands in a file of its own becomes the lookup it holds. */
function placeRule(target: string, rule: FieldRule, source: YamlFile, merging: Merging): PlacedRule {
  const { lookup, ...rest } = rule;
  if (typeof lookup !== 'string') return { target, rule: { ...rest, ...(lookup && { lookup }) }, source };
  const read = readLookup(lookup, source.file, merging.texts);
  if (read !== undefined) {
    merging.problems.push(...read.problems);
    merging.files[read.file] = read.text;
    return { target, rule: { ...rest, lookup: read.lookup }, source, lookupPlaces: read.places };
  }
  const text = `"${lookup}" does not exist. Correct the path; it is read as seen from this file.`;
  merging.problems.push(problemAt(source, ['fields', target, 'lookup'], text));
  return { target, rule: rest, source };
}

/** Text that is equal where two mappings do the same. */
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
