import type { FieldDef } from '../hris/port.ts';
import { type TemplatePart, type TransformName, templateParts } from '../values/transforms.ts';
import { type Place, placeOf } from '../yaml/yaml-file.ts';
import type { TransformStep } from './apply-transforms.ts';
import { parseTableColumn, type TableColumn } from './lookup-tables.ts';
import { type PlacedRule, pathsOf } from './placed-rule.ts';
import type { Lookup } from './read-lookup.ts';
import type { Condition, TransformRule } from './schema.ts';
import { parseSourcePath, type SourcePath, type SourceRecords } from './source-fields.ts';

/** The rule for one field of the HR system, ready to evaluate. */
export interface CompiledField {
  target: string;
  def: FieldDef;
  /** Paths to read; empty for a constant. */
  from: SourcePath[];
  /** For messages: `where` names what is read, `source` where the value comes from. */
  where: string;
  source: string;
  constant?: string | number | boolean;
  /** The template's paths are in `from`, in the same order. */
  template?: TemplatePart[];
  when: CompiledCondition[];
  transforms: TransformStep[];
  /** Looked up before `lookup`. */
  table?: TableColumn;
  lookup?: Lookup;
  fallback?: string | number | boolean;
  required: boolean;
  sensitive: boolean;
  /** No other person may have this value. */
  unique?: true;
  /** The reaction to a later change at the partner; set only for the stream `amendments`. */
  amends?: 'ask' | 'apply';
  /** The rule as written, and its place in the file. */
  rule: PlacedRule['rule'];
  at: Place;
}

/** A condition: holds if one of `values` is read, or, with `present`, if there is any value (true) or none (false). */
export interface CompiledCondition {
  path: SourcePath;
  values?: (string | number | boolean)[];
  present?: boolean;
}

/** Every path that a rule reads, including its conditions. */
export function pathsRead({ from, when }: Pick<CompiledField, 'from' | 'when'>): SourcePath[] {
  return [...from, ...when.map(({ path }) => path)];
}

/** Whether the path is a whole record, which may hold anything known about a person. */
export function isWhole(path: SourcePath): boolean {
  return 'without' in path;
}

/** Whether any rule reads this record. */
export function readsSource(fields: readonly CompiledField[], source: string): boolean {
  return fields.some((field) => pathsRead(field).some((path) => path.source === source));
}

/** Compiles a rule; returns nothing if the HR system has no such field. */
export function compileRule(
  { target, rule, source }: PlacedRule,
  fields: readonly FieldDef[],
  reads: SourceRecords,
): CompiledField[] {
  const def = fields.find((field) => field.key === target);
  if (!def) return [];
  const from = pathsOf(rule).flatMap((path) => compilePath(path, reads));
  const where = from.map((path) => path.text).join(' and ');
  const template = rule.template === undefined ? undefined : templateParts(rule.template);
  return [
    {
      target,
      def,
      from,
      where,
      source: rule.table === undefined ? where : `${rule.table} of ${where}`,
      when: (rule.when ?? []).flatMap((one) => compileCondition(one, reads)),
      transforms: (rule.transform ?? []).map((one) => compileTransform(one, def)),
      required: rule.required === true || def.required,
      sensitive: rule.sensitive === true || from.some(isWhole),
      rule,
      at: { file: source.file, ...placeOf(source, ['fields'], target) },
      ...(template === undefined ? {} : { template }),
      ...(rule.constant === undefined ? {} : { constant: rule.constant }),
      ...(rule.unique === true ? { unique: true } : {}),
      ...compileTable(rule.table),
      ...(rule.lookup === undefined ? {} : { lookup: rule.lookup }),
      ...(rule.default === undefined ? {} : { fallback: rule.default }),
    },
  ];
}

function compileTable(text: string | undefined): { table?: TableColumn } {
  const column = text === undefined ? undefined : parseTableColumn(text);
  return column === undefined || 'wrong' in column ? {} : { table: column };
}

function compilePath(path: string, reads: SourceRecords): SourcePath[] {
  const parsed = parseSourcePath(path, reads);
  return 'source' in parsed ? [parsed] : [];
}

function compileCondition({ path, equals, in: oneOf, present }: Condition, reads: SourceRecords): CompiledCondition[] {
  const values = equals === undefined ? oneOf : [equals];
  return compilePath(path, reads).map((parsed) => ({
    path: parsed,
    ...(values === undefined ? {} : { values }),
    ...(present === undefined ? {} : { present }),
  }));
}

export function compileTransform(one: TransformRule, def: FieldDef): TransformStep {
  if (one === 'option') return { name: one, option: { values: def.options ?? [] } };
  if (typeof one === 'string') return { name: one };
  const [[name, option] = ['trim', undefined]] = Object.entries(one);
  return { name: name as TransformName, option };
}
