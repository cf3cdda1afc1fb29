import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CsvError, parse } from 'csv-parse/sync';
import { stringify } from 'yaml';
import { z } from 'zod';
import type { EmployeeFields } from '../hire/hire.ts';
import type { FieldDef } from '../hris/port.ts';
import {
  type TemplatePart,
  type TransformName,
  type TransformStep,
  templateParts,
  transformOptions,
  transforms,
} from '../values/transforms.ts';
import { notAText, type Place, type Problem, placeOf, type Texts, type YamlFile } from '../yaml/yaml-file.ts';
import { parseSourcePath, type SourcePath, type SourceRecords } from './source-fields.ts';

/** `money` has no short form, because an amount means nothing without its currency. */
const names = (Object.keys(transforms) as TransformName[]).filter((name) => name !== 'money') as [TransformName];
const scalar = z.union([z.string(), z.number(), z.boolean()], 'expected text, a number or true/false');
const from = z.string().min(1);

const transform = z
  .union(
    [
      z.enum(names, `expected one of ${names.join(', ')}`),
      z
        .strictObject(transformOptions)
        .partial()
        .refine((one) => Object.keys(one).length === 1, 'expected one transform with its options'),
    ],
    `expected one of ${names.join(', ')}`,
  )
  .describe('A name, or a name with its options: { date: { formats: [dd.MM.yyyy] } }');

const condition = z
  .strictObject({
    path: from.describe('The same paths as from'),
    equals: scalar.describe('The value as the partner has it').optional(),
    in: z.array(scalar).min(1).describe('One of these values').optional(),
    present: z.boolean().describe('true: has a value; false: is empty').optional(),
  })
  .refine(
    ({ equals, in: oneOf, present }) => [equals, oneOf, present].filter((one) => one !== undefined).length === 1,
    'expected path with one of equals, in or present',
  );

/** Which way a value flows, and whose edits count if it flows both ways. */
const flow = {
  direction: z
    .enum(['toHris', 'toPartner', 'both'], 'expected toHris, toPartner or both')
    .describe(
      'toHris is the default; toPartner reads the rule backwards, so both and toPartner need a rule that can be',
    )
    .optional(),
  owner: z
    .enum(['partner', 'hris', 'either'], 'expected partner, hris or either')
    .describe('With direction both: whose edits flow')
    .optional(),
  conflict: z
    .enum(['partner', 'hris', 'hold'], 'expected partner, hris or hold')
    .describe('With owner either: whose value stays when both sides changed it; hold asks a person')
    .optional(),
  report: z
    .boolean()
    .describe('With one owner: an edit of the other side stays and is reported, instead of being put back')
    .optional(),
};

/** How one employee field gets its value. */
const fieldRule = z.strictObject({
  from: z
    .union([from, z.array(from).min(1)], 'expected a path such as candidate.firstName, or a list of them')
    .describe(
      'candidate.FIELD, job.FIELD, jobCandidate.FIELD, onboarding.FIELD, candidate.customFields[LABEL] or ' +
        'job.customFields[LABEL]; a list needs first or join',
    )
    .optional(),
  constant: scalar.describe('The same value for everyone').optional(),
  template: z
    .string('expected text in quotes, such as "{job.city}, {job.country}"')
    .min(1)
    .describe('Text with paths in braces: "{candidate.lastName}, {candidate.firstName}"; empty when one of them is')
    .optional(),
  when: z
    .array(condition)
    .min(1)
    .describe('The rule applies only where all of these hold; elsewhere the field is left out')
    .optional(),
  transform: z.array(transform).describe('Applied in order').optional(),
  lookup: z
    .union(
      [z.record(z.string(), scalar).refine((one) => Object.keys(one).length > 0, 'expected at least one value'), from],
      'expected { VALUE: what the HR system calls it } or a CSV file',
    )
    .describe(
      'Value after the transforms -> what the HR system calls it; or a CSV file of these two columns with a ' +
        'header line, its path relative to this file',
    )
    .optional(),
  table: from
    .describe(
      'The value after the transforms is the id of a record of the hiring platform: TABLE.FIELD gives what the table ' +
        'says of it (users.email, teams.name, pipelines.name, stages.name, flows.name). TABLE[COLUMN].FIELD looks ' +
        'for it in that column instead: users[email].id, users[email].teamId, teams[name].id',
    )
    .optional(),
  default: scalar.describe('Where the source is empty or the lookup does not know the value').optional(),
  unique: z
    .literal(true, 'expected true, or no "unique" at all')
    .describe(
      'For a user name or work e-mail: if somebody has it, 2 to 99 is added before the @; decided once for each hire',
    )
    .optional(),
  required: z.boolean().describe('Empty means the hire waits for a person').optional(),
  sensitive: z.boolean().describe('Shown masked wherever values are shown').optional(),
  acknowledge: z
    .enum(['previousJob'])
    .describe('candidate.currentJobTitle and currentCompany are the previous job; confirm that you mean it')
    .optional(),
  ...flow,
});

/** One mapping file: employee field -> rule. `null` removes the rule of a lower file. */
export const mappingFile = z.strictObject({
  $schema: z.string().optional(),
  extends: from.describe('A mapping file that this one extends, its path relative to this file').optional(),
  fields: z
    .record(
      z.string(),
      z.union([fieldRule, z.null()], 'expected { from: ... }, { constant: ... } or { template: ... }'),
    )
    .describe('Field of the HR system -> its rule; null removes the rule of an extended file'),
});

export type FieldRule = z.output<typeof fieldRule>;
type Condition = z.output<typeof condition>;
type TransformRule = z.output<typeof transform>;

const words = (text: string): string[] => text.split(' ');

/** Tables of the hiring platform in which rules look values up by record id; streams of the same names store them. */
export const lookupTables = {
  users: words('email firstName lastName status role teamId reportingManagerId'),
  teams: words('name createdBy'),
  pipelines: words('name'),
  stages: words('name type pipelineId order'),
  flows: words('name status'),
  assessments: words('testName jobId status assessmentType hiringForRole'),
  schedules: words('name timezone durationMinutes bookingMode scheduleProfile'),
} as const satisfies Record<string, readonly string[]>;

export type TableName = keyof typeof lookupTables;

export const tableNames = Object.keys(lookupTables) as TableName[];

/** Rows by id. */
export type TableRows = ReadonlyMap<string, EmployeeFields>;

/** One column of one table, with its rows once they are loaded. */
export interface TableColumn {
  name: TableName;
  field: string;
  /** The column in which to search for the value; the record's id if absent. */
  by?: string;
  rows?: TableRows;
}

/** A column that does not exist: the word to blame, and possible corrections. */
interface WrongColumn {
  wrong: string;
  word: string;
  known: readonly string[];
}

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

/** A rule with its lookup loaded, and the file it comes from. */
export interface PlacedRule {
  target: string;
  rule: Omit<FieldRule, 'lookup'> & { lookup?: Lookup };
  source: YamlFile;
  /** Place of each value, if the lookup is in a file of its own. */
  lookupPlaces?: Readonly<Record<string, Place>>;
}

export function flowsToPartner({ direction }: PlacedRule['rule']): boolean {
  return direction === 'toPartner' || direction === 'both';
}

/** The paths that give the value, in written order; none for a broken template. */
export function pathsOf({ from, template }: PlacedRule['rule']): string[] {
  if (template === undefined) return from === undefined ? [] : [from].flat();
  return (templateParts(template) ?? []).flatMap((part) => ('path' in part ? part.path : []));
}

type Lookup = Record<string, string | number | boolean>;

interface ReadLookup {
  /** Absolute path. */
  file: string;
  text: string;
  lookup: Lookup;
  /** Place of each value. */
  places: Record<string, Place>;
  problems: Problem[];
}

/**
 * Reads a lookup from a CSV file: a header line, then rows of the partner's value and the HR system's name for it.
 * `from` is the file that names it. Undefined if the file does not exist.
 */
export function readLookup(path: string, from: string, texts?: Texts): ReadLookup | undefined {
  const file = resolve(dirname(from), path);
  const bytes = texts === undefined ? contents(file) : undefined;
  const text = texts === undefined ? bytes?.toString('utf8') : texts[file];
  if (text === undefined) return undefined;
  const odd = bytes && notAText(bytes);
  if (odd !== undefined)
    return { file, text: '', lookup: {}, places: {}, problems: [{ file, line: 1, column: 1, text: odd }] };
  try {
    return {
      file,
      text,
      ...readRows(file, parse(text, { bom: true, info: true, skip_empty_lines: true, relax_column_count: true })),
    };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error['lines'] === 'number' ? error['lines'] : 1;
    const why = `is not valid CSV (${error.code}). Correct it.`;
    return { file, text, lookup: {}, places: {}, problems: [{ file, line, column: 1, text: why }] };
  }
}

function contents(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** `lines` is the line on which a row ends. */
interface Row {
  info: { lines: number };
  record: string[];
}

const TWO_CELLS =
  'needs two cells with a comma between them: the value of the hiring platform, and what the HR system calls it. ' +
  'Excel may write semicolons: replace them.';

function readRows(file: string, parsed: unknown): Pick<ReadLookup, 'lookup' | 'places' | 'problems'> {
  const [, ...rows] = parsed as Row[];
  const lookup: Lookup = Object.create(null) as Lookup;
  const seen = new Map<string, number>();
  const problems: Problem[] = [];
  const refuse = (line: number, text: string) => problems.push({ file, line, column: 1, text });
  for (const { info, record } of rows) {
    const [key = '', value = ''] = record.map((cell) => cell.trim());
    const before = seen.get(key);
    if (record.length !== 2 || key === '' || value === '') refuse(info.lines, TWO_CELLS);
    else if (before !== undefined)
      refuse(info.lines, `gives "${key}" a second time; it stands in line ${before} too. Keep one of the two.`);
    else {
      lookup[key] = value;
      seen.set(key, info.lines);
    }
  }
  if (problems.length === 0 && seen.size === 0)
    refuse(1, 'holds no row below its header line. Add one for each value.');
  const places = Object.fromEntries([...seen].map(([key, line]) => [key, { file, line, column: 1 }]));
  return { lookup, places, problems };
}

/** A longer lookup is shown as a count. */
const MOST_VALUES = 5;

/** Writes a rule as one line of YAML. */
export function writeRule({ lookup, ...rule }: PlacedRule['rule']): string {
  const values = lookup === undefined ? 0 : Object.keys(lookup).length;
  const short = lookup === undefined ? {} : { lookup: values > MOST_VALUES ? `${values} values` : { ...lookup } };
  return stringify({ ...rule, ...short }, { collectionStyle: 'flow', lineWidth: 0 }).trim();
}

/** Parses `users.email`, and the reverse look-up `users[email].id`. */
export function parseTableColumn(text: string): TableColumn | WrongColumn {
  const [, name = '', by, dot, field = ''] = /^([^.[]*)(?:\[([^\]]*)\])?(\.?)(.*)$/.exec(text) ?? [];
  const table = tableNames.find((one) => one === name);
  if (table === undefined) return { wrong: `"${name}" is not a table to look up in`, word: name, known: tableNames };
  const known: readonly string[] = lookupTables[table];
  const isKey = by === undefined || known.includes(by);
  if (isKey && dot === '.' && (known.includes(field) || (by !== undefined && field === 'id')))
    return { name: table, field, ...(by === undefined ? {} : { by }) };
  const start = by === undefined ? table : `${table}[${by}]`;
  const fields = by === undefined ? known : ['id', ...known];
  const columns = isKey
    ? fields.map((one) => `${start}.${one}`)
    : known.map((one) => `${table}[${one}].${field || 'id'}`);
  return { wrong: `"${text}" names no column of ${table}`, word: text, known: columns };
}
