import type { z } from 'zod';
import { wrap } from '../../src/cli/command.ts';
import { Config } from '../../src/config.ts';
import { definitionSchema } from '../../src/hris/http/definition-schema.ts';
import { findHrisAdapter, hrisKinds } from '../../src/hris/registry.ts';
import { mappingFile } from '../../src/mapping/compile-rule.ts';
import { landings } from '../../src/streams/streams.ts';
import { tenantFile } from '../../src/tenants/schema.ts';

/** Keys that name a secret. A `file:` is read again; environment variables are read at the process's start. */
const SECRETS = new Set([
  'partner.apiKey',
  'partner.webhookKeys',
  'hris.url',
  'landing.url',
  'notify.url',
  'notify.secret',
  'events.url',
  'events.secret',
  ...hrisKinds().flatMap((kind) => (findHrisAdapter(kind)?.secrets ?? []).map((name) => `hris.${name}`)),
]);

/** Every key of every file and of the environment, as Markdown. */
export function settingsReference(): string {
  const kinds = hrisKinds().flatMap((kind) => {
    const schema = findHrisAdapter(kind)?.optionsSchema(landings);
    if (schema === undefined) return [];
    // Only with `http` it is in the tenant file; the other kinds bring their own.
    const rows = schemaRows(schema, 'hris').flatMap((row) => {
      if (row.key !== 'hris.definition') return [row];
      return kind === 'http' ? [{ ...row, takes: 'text', required: true }] : [];
    });
    return ['', `### hris, kind ${kind}`, '', ...appliedTable(rows)];
  });
  return [
    '## Tenant file',
    '',
    '`hirebridge tenant apply` brings a change to running processes within seconds. A secret that changes behind',
    '`file:` is taken within a second, without applying; one behind `env:` needs a restart of `worker` and `serve`.',
    '',
    ...appliedTable(schemaRows(tenantFile)),
    ...kinds,
    '',
    '## Mapping file',
    '',
    ...appliedTable(schemaRows(mappingFile)),
    '',
    '## Definition of an HR system',
    '',
    'The [file](http-definitions.md) behind `hris.definition`. `hirebridge hris schema` prints it for editors.',
    'Each call has one of `get`, `post`, `put`, `patch` and `delete` with a path, and may have `query`, `headers` and',
    '`body`. Keys that several parts share are listed once: each search has those of `find.reference`, each `paging`',
    'those of `find.all.paging`, each write those of `create.as` to `create.without`, and each field those of',
    '`fields.NAME`.',
    '',
    ...definitionKeys().map(wrap),
    '',
    '## Environment',
    '',
    'Read when a process starts. `TEMPORAL_*` are those of Temporal itself; `LOG_LEVEL` and `LOG_FORMAT` set the log;',
    '`HIREBRIDGE_CACHE_DIR` is the folder of what is downloaded or built once, by default in the cache of the user.',
    '',
    ...table(
      schemaRows(Config).filter(({ key }) => !key.includes('FAILPOINT')),
      () => 'yes',
    ),
    '',
    ...describedKeys(Config.shape).map(wrap),
  ].join('\n');
}

/** Keys that every call of a definition has, and those that are listed elsewhere. */
const SHARED = [
  /\.(get|post|put|patch|delete|(query|headers)(\.NAME)?|body)$/,
  /^(?!find\.all\.).*\.paging\./,
  /^find\.(number|email|person|name|taken\.NAME)\./,
  /^(update|terminate|rehire|requisitions\.update)\.(as|set|unversioned|without)$/,
  /^requisitions\.fields\.NAME\./,
];

function definitionKeys(): string[] {
  return schemaRows(definitionSchema)
    .filter(({ key }) => !SHARED.some((shared) => shared.test(key)))
    .map(({ key, takes, default: fallback, required, about }) => {
      const need = fallback === undefined ? (required ? ', required' : '') : `, default \`${fallback}\``;
      return `- \`${key}\` (${takes}${need})${about === undefined ? '' : `: ${about}`}`;
    });
}

function describedKeys(shape: Record<string, { description?: string | undefined }>): string[] {
  return Object.entries(shape).flatMap(([key, { description }]) =>
    description === undefined ? [] : [`- \`${key}\`: ${description}`],
  );
}

const MOST_COLUMNS = 120;

type Restart = (key: string) => string;

/** The table of a file that `tenant apply` brings to running processes. */
function appliedTable(rows: readonly SchemaRow[]): string[] {
  return table(rows, (key) => (SECRETS.has(key) ? 'only for `env:`' : 'no'));
}

/** Rows that are too long are explained below the table. */
function table(rows: readonly SchemaRow[], restart: Restart): string[] {
  const isLong = (row: SchemaRow): boolean => line(row, restart).length > MOST_COLUMNS;
  const lines = rows.map((row) => line(isLong(row) ? { ...row, ...SEE_BELOW } : row, restart));
  return ['| key | takes | default | restart |', '|---|---|---|---|', ...lines, ...rows.filter(isLong).map(note)];
}

const SEE_BELOW = { takes: 'see below the table' };

function note({ key, takes }: SchemaRow): string {
  return `\n${wrap(`\`${key}\` takes: ${takes}`)}`;
}

function line({ key, takes, required, default: fallback }: SchemaRow, restart: Restart): string {
  const cell = fallback === undefined ? (required ? 'required' : '') : `\`${fallback}\``;
  return `| \`${key}\` | ${takes.replaceAll('|', '\\|')} | ${cell.replaceAll('|', '\\|')} | ${restart(key)} |`;
}

/** One key of a file, from its schema. */
interface SchemaRow {
  key: string;
  takes: string;
  /** Undefined if it has none. */
  default?: string;
  required: boolean;
  /** The schema's own description. */
  about?: string;
}

type Schema = z.core.$ZodType;
interface Def {
  type: string;
  innerType?: Schema;
  defaultValue?: unknown;
  in?: Schema;
  out?: Schema;
  shape?: Record<string, Schema>;
  element?: Schema;
  valueType?: Schema;
  options?: Schema[];
  entries?: Record<string, unknown>;
  values?: unknown[];
}

interface Unwrapped {
  def: Def;
  fallback?: unknown;
  isOptional: boolean;
}

/** Every key of an object schema in order; nested keys with their path. */
function schemaRows(schema: Schema, path = ''): SchemaRow[] {
  return Object.entries(unwrap(schema).def.shape ?? {}).flatMap(([name, inner]) =>
    keyRows(path === '' ? name : `${path}.${name}`, inner),
  );
}

function keyRows(key: string, schema: Schema): SchemaRow[] {
  const { def, fallback, isOptional } = unwrap(schema);
  const parts = (def.options ?? []).filter((option) => unwrap(option).def.type === 'object');
  const inside = def.type === 'object' ? [schema] : parts;
  const list = def.element ?? def.valueType;
  const below = list === undefined ? [] : [list];
  const nested = [
    ...inside.flatMap((part) => schemaRows(part, key)),
    ...below.flatMap((part) => schemaRows(part, def.type === 'array' ? `${key}[]` : `${key}.NAME`)),
  ];
  if (def.type === 'object' && nested.length > 0) return nested;
  const isPlain = typeof fallback !== 'object' || Array.isArray(fallback) || nested.length === 0;
  const shown = fallback === undefined || !isPlain ? {} : { default: defaultText(def, fallback) };
  const about = aboutOf(schema);
  return [
    { key, takes: takes(schema), required: !isOptional, ...shown, ...(about !== undefined && { about }) },
    ...nested,
  ];
}

function aboutOf(schema: Schema): string | undefined {
  const { innerType } = schema._zod.def as unknown as Def;
  return (schema as z.ZodType).description ?? (innerType && aboutOf(innerType));
}

function unwrap(schema: Schema): Unwrapped {
  const def = schema._zod.def as unknown as Def;
  if (def.type === 'default' || def.type === 'prefault')
    return { fallback: def.defaultValue, ...only(def.innerType), isOptional: true };
  if (def.type === 'optional') return { ...only(def.innerType), isOptional: true };
  if (def.type === 'nullable') return only(def.innerType);
  if (def.type === 'pipe') return only((def.in?._zod.def as Def | undefined)?.type === 'transform' ? def.out : def.in);
  return { def, isOptional: false };
}

function only(schema: Schema | undefined): Unwrapped {
  return schema === undefined ? { def: { type: 'any' }, isOptional: true } : unwrap(schema);
}

const WORDS: Record<string, string> = {
  string: 'text',
  template_literal: 'text',
  boolean: 'true or false',
  object: 'keys below',
  any: 'anything',
  lazy: 'anything',
};

function takes(schema: Schema): string {
  const { def } = unwrap(schema);
  if (def.type === 'enum')
    return Object.values(def.entries ?? {})
      .map(String)
      .join(', ');
  if (def.type === 'literal') return (def.values ?? []).map(String).join(', ');
  if (def.type === 'union') return [...new Set((def.options ?? []).map(takes))].join(' or ');
  if (def.type === 'array') return `list of ${def.element === undefined ? 'anything' : takes(def.element)}`;
  if (def.type === 'record') return `names with ${def.valueType === undefined ? 'anything' : takes(def.valueType)}`;
  return WORDS[def.type] ?? def.type;
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
] as const;

/** A duration is written as text and stored as milliseconds. */
function defaultText(def: Def, value: unknown): string {
  if (def.type !== 'string' || typeof value !== 'number') return JSON.stringify(value);
  const [size, unit] = UNITS.find(([length]) => value >= length && value % length === 0) ?? [1, 'ms'];
  return `${value / size}${unit}`;
}
