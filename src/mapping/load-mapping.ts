import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FieldDef } from '../hris/port.ts';
import { checkRules } from './check-rules.ts';
import { type CompiledField, compileRule } from './compile-rule.ts';
import { explainIssues } from './explain-issues.ts';
import type { PlacedRule } from './placed-rule.ts';
import { readLayers } from './read-layers.ts';
import { readLookup } from './read-lookup.ts';
import { type FieldRule, mappingFile } from './schema.ts';
import { type SourceRecords, sourceRecords } from './source-fields.ts';
import { type Problem, problemAt, readYamlFile, refuse, type YamlFile } from './yaml-file.ts';

/** A mapping checked at both ends. Plain data; may be kept for the life of a process. */
export interface Mapping {
  kind: string;
  fields: readonly CompiledField[];
  /** SHA-256 of what it means: the same for other comments, another order and another split into files. */
  hash: string;
}

/** What is mapped: its name, which default mapping files carry, and the records it is made from. */
export interface MappingSubject {
  name: string;
  reads: SourceRecords;
}

const employee: MappingSubject = { name: 'employee', reads: sourceRecords };

/**
 * Lays the mapping files over each other, field by field: the base, the HRIS kind's, then the tenant's with those that
 * it extends. Checks that sources exist in the partner's records, that targets may be written, and that required ones
 * are mapped. Refuses with one ConnectorError listing every problem as file:line:column.
 */
export async function loadMapping(wanted: {
  kind: string;
  /** An employee by default. */
  of?: MappingSubject;
  file?: string;
  fields: readonly FieldDef[];
}): Promise<Mapping> {
  const { kind, of = employee, file, fields } = wanted;
  const base = defaultMappingFile('base', of.name);
  const own = defaultMappingFile(kind, of.name);
  const defaults = await Promise.all([base, own].filter((one) => existsSync(one)).map(readYamlFile));
  const tenants = file === undefined ? [] : await readLayers(file);
  const layers = [...defaults, ...tenants];
  return compileMapping(kind, fields, layers.length > 0 ? layers : [await readYamlFile(own)], {
    reads: of.reads,
    base,
  });
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
  reads?: SourceRecords;
  base?: string;
}

/** Compiles parsed mapping files, later ones over earlier ones. */
export function compileMapping(
  kind: string,
  fields: readonly FieldDef[],
  sources: readonly YamlFile[],
  { reads = sourceRecords, base }: CompileOptions = {},
): Mapping {
  const { rules, problems } = mergeLayers(sources);
  const kept = rules.filter(({ target, source }) => source.file !== base || fields.some(({ key }) => key === target));
  const top = sources.at(-1);
  // Unmapped fields are only worth naming when every file could be read.
  if (top) problems.push(...checkRules(kept, { fields, reads }, problems.length === 0 ? top : undefined));
  if (problems.length > 0) throw refuse('MAPPING_INVALID', problems);
  return {
    kind,
    fields: kept.flatMap((placed) => compileRule(placed, fields, reads)),
    hash: createHash('sha256').update(meaningOf(kept)).digest('hex'),
  };
}

/** The rules that count, each with the file it comes from. */
function mergeLayers(sources: readonly YamlFile[]): { rules: PlacedRule[]; problems: Problem[] } {
  const problems = sources.flatMap((source) => source.problems);
  const rules = new Map<string, PlacedRule>();
  for (const source of sources) {
    if (source.problems.length > 0) continue;
    const parsed = mappingFile.safeParse(source.value);
    if (!parsed.success) problems.push(...explainIssues(source, mappingFile, parsed.error));
    for (const [target, rule] of Object.entries(parsed.data?.fields ?? {})) {
      if (rule === null) rules.delete(target);
      else rules.set(target, placeRule(target, rule, source, problems));
    }
  }
  return { rules: [...rules.values()], problems };
}

/** A lookup that stands in a file of its own becomes the lookup it holds. */
function placeRule(target: string, rule: FieldRule, source: YamlFile, problems: Problem[]): PlacedRule {
  const { lookup, ...rest } = rule;
  if (typeof lookup !== 'string') return { target, rule: { ...rest, ...(lookup && { lookup }) }, source };
  const read = readLookup(lookup, source.file);
  if ('lookup' in read) {
    problems.push(...read.problems);
    return { target, rule: { ...rest, lookup: read.lookup }, source };
  }
  const text = `"${lookup}" does not exist. Correct the path; it is read as seen from this file.`;
  problems.push(problemAt(source, ['fields', target, 'lookup'], text));
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
