import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { FieldDef } from '../hris/port.ts';
import { checkRules } from './check-rules.ts';
import { explainIssues } from './explain-issues.ts';
import { type FieldRule, mappingFile } from './schema.ts';
import { parseSourcePath, type SourceName, type SourcePath } from './source-fields.ts';
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
  /** Whether any field reads the onboarding record. */
  needsOnboarding: boolean;
  /** SHA-256 over the files it was made of. */
  hash: string;
}

/** A rule and where it stands. */
export interface PlacedRule {
  target: string;
  rule: FieldRule;
  source: YamlFile;
}

/**
 * Loads the default mapping of an HRIS kind and lays the tenant's file over it, field by field. Checks that sources exist in the partner's records, that
 * targets may be written, and that required ones are mapped. Refuses with one ConnectorError listing every problem as file:line:column.
 */
export async function loadMapping(wanted: {
  kind: string;
  /** Whose mapping; an employee's by default. */
  of?: MappingName;
  file?: string;
  fields: readonly FieldDef[];
}): Promise<Mapping> {
  const name = wanted.of ?? 'employee';
  const files = [defaultMappingFile(wanted.kind, name), ...(wanted.file === undefined ? [] : [wanted.file])];
  const sources = await Promise.all(files.map(readYamlFile));
  return compileMapping(wanted.kind, wanted.fields, sources, readsOf[name]);
}

/** What each default mapping file is named after, and the records it may read: a stream sees one record at a time. */
const readsOf = {
  employee: ['candidate', 'job', 'jobCandidate', 'onboarding'],
  jobs: ['job'],
  candidates: ['candidate'],
} as const satisfies Record<string, readonly SourceName[]>;

export type MappingName = keyof typeof readsOf;

/** Compiles parsed mapping files, later ones over earlier ones. */
export function compileMapping(
  kind: string,
  fields: readonly FieldDef[],
  sources: readonly YamlFile[],
  reads: readonly SourceName[] = readsOf.employee,
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
  const compiled = [...rules.values()].flatMap((placed) => compileRule(placed, fields));
  return {
    kind,
    fields: compiled,
    needsOnboarding: compiled.some((field) => field.from.some((path) => path.source === 'onboarding')),
    hash: createHash('sha256')
      .update(JSON.stringify([...rules.values()].map(({ target, rule }) => [target, rule])))
      .digest('hex'),
  };
}

function defaultMappingFile(kind: string, name: MappingName): string {
  return fileURLToPath(new URL(`../../mappings/${kind}/${name}.yaml`, import.meta.url));
}

function compileRule({ target, rule }: PlacedRule, fields: readonly FieldDef[]): CompiledField[] {
  const def = fields.find((field) => field.key === target);
  if (!def) return [];
  const paths = rule.from === undefined ? [] : [rule.from].flat();
  return [
    {
      target,
      def,
      from: paths.map(parseSourcePath).filter((path): path is SourcePath => 'source' in path),
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
