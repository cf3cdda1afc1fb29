import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FieldDef } from '../hris/port.ts';
import { checkRules, type PlacedRule } from './check-rules.ts';
import { explainIssues } from './explain-issues.ts';
import { mappingFile } from './schema.ts';
import { parseSourcePath, type SourcePath, type SourceRecords, sourceRecords } from './source-fields.ts';
import type { TransformName } from './transforms.ts';
import { readYamlFile, refuse, type YamlFile } from './yaml-file.ts';

/** One employee field, ready to evaluate. */
export interface CompiledField {
  target: string;
  def: FieldDef;
  /** Empty for a constant. */
  from: SourcePath[];
  constant?: string | number | boolean;
  transforms: { name: TransformName; option?: unknown }[];
  lookup?: Record<string, string | number | boolean>;
  fallback?: string | number | boolean;
  required: boolean;
}

/** A mapping checked at both ends. Plain data; may be kept for the life of a process. */
export interface Mapping {
  kind: string;
  fields: readonly CompiledField[];
  /** SHA-256 over the files it was made of. */
  hash: string;
}

/** What is mapped: its name, which default mapping files carry, and the records it is made from. */
export interface MappingSubject {
  name: string;
  reads: SourceRecords;
}

const employee: MappingSubject = { name: 'employee', reads: sourceRecords };

/**
 * Loads the default mapping of an HRIS kind, where it has one, and lays the tenant's file over it, field by field.
 * Checks that sources exist in the partner's records, that targets may be written, and that required ones are mapped.
 * Refuses with one ConnectorError listing every problem as file:line:column.
 */
export async function loadMapping(wanted: {
  kind: string;
  /** An employee by default. */
  of?: MappingSubject;
  file?: string;
  fields: readonly FieldDef[];
}): Promise<Mapping> {
  const { kind, of = employee, file, fields } = wanted;
  const base = file === undefined || hasDefaultMapping(kind, of.name) ? [defaultMappingFile(kind, of.name)] : [];
  const sources = await Promise.all([...base, ...(file === undefined ? [] : [file])].map(readYamlFile));
  return compileMapping(kind, fields, sources, of.reads);
}

export function hasDefaultMapping(kind: string, name: string): boolean {
  return existsSync(defaultMappingFile(kind, name));
}

/** Compiles parsed mapping files, later ones over earlier ones. */
export function compileMapping(
  kind: string,
  fields: readonly FieldDef[],
  sources: readonly YamlFile[],
  reads: SourceRecords = sourceRecords,
): Mapping {
  const problems = sources.flatMap((source) => source.problems);
  const rules = new Map<string, PlacedRule>();
  for (const source of sources) {
    if (source.problems.length > 0) continue;
    const parsed = mappingFile.safeParse(source.value);
    if (!parsed.success) problems.push(...explainIssues(source, mappingFile, parsed.error));
    for (const [target, rule] of Object.entries(parsed.data?.fields ?? {})) {
      if (rule === null) rules.delete(target);
      else rules.set(target, { target, rule, source });
    }
  }
  const top = sources.at(-1);
  // Unmapped fields are only worth naming when every file could be read.
  if (top)
    problems.push(...checkRules([...rules.values()], { fields, reads }, problems.length === 0 ? top : undefined));
  if (problems.length > 0) throw refuse('MAPPING_INVALID', problems);
  return {
    kind,
    fields: [...rules.values()].flatMap((placed) => compileRule(placed, fields, reads)),
    hash: createHash('sha256')
      .update(JSON.stringify([...rules.values()].map(({ target, rule }) => [target, rule])))
      .digest('hex'),
  };
}

function defaultMappingFile(kind: string, name: string): string {
  return fileURLToPath(new URL(`../../mappings/${kind}/${name}.yaml`, import.meta.url));
}

function compileRule({ target, rule }: PlacedRule, fields: readonly FieldDef[], reads: SourceRecords): CompiledField[] {
  const def = fields.find((field) => field.key === target);
  if (!def) return [];
  const paths = rule.from === undefined ? [] : [rule.from].flat();
  return [
    {
      target,
      def,
      from: paths.map((path) => parseSourcePath(path, reads)).filter((path): path is SourcePath => 'source' in path),
      transforms: (rule.transform ?? []).map((one) => {
        if (typeof one === 'string') return { name: one };
        const [[name, option] = ['trim', undefined]] = Object.entries(one);
        return { name: name as TransformName, option };
      }),
      required: rule.required === true || def.required,
      ...(rule.constant === undefined ? {} : { constant: rule.constant }),
      ...(rule.lookup === undefined ? {} : { lookup: rule.lookup }),
      ...(rule.default === undefined ? {} : { fallback: rule.default }),
    },
  ];
}
