import { Config } from '../../config.ts';
import { findHrisAdapter, hrisKinds } from '../../hris/registry.ts';
import { mappingFile } from '../../mapping/schema.ts';
import { landings } from '../../streams/streams.ts';
import { tenantFile } from '../../tenants/schema.ts';
import { type SchemaRow, schemaRows } from './schema-rows.ts';

/** Keys that name a secret. What stands behind `file:` is read again; an environment is that of the process's start. */
const SECRETS = new Set([
  'partner.apiKey',
  'partner.webhookKeys',
  'hris.url',
  'notify.secret',
  ...hrisKinds().flatMap((kind) => (findHrisAdapter(kind)?.secrets ?? []).map((name) => `hris.${name}`)),
]);

/** Every key of every file and of the environment, as Markdown. */
export function settingsReference(): string {
  const kinds = hrisKinds().flatMap((kind) => {
    const schema = findHrisAdapter(kind)?.optionsSchema(landings);
    return schema === undefined ? [] : ['', `### hris, kind ${kind}`, '', ...appliedTable(schemaRows(schema, 'hris'))];
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
    '## Environment',
    '',
    'Read when a process starts. `TEMPORAL_*` are those of Temporal itself; `LOG_LEVEL` and `LOG_FORMAT` set the log.',
    '',
    ...table(
      schemaRows(Config).filter(({ key }) => !key.includes('FAILPOINT')),
      () => 'yes',
    ),
    '',
    ...describedKeys(Config.shape).map(wrap),
  ].join('\n');
}

function describedKeys(shape: Record<string, { description?: string | undefined }>): string[] {
  return Object.entries(shape).flatMap(([key, { description }]) =>
    description === undefined ? [] : [`- \`${key}\`: ${description}`],
  );
}

const MOST_COLUMNS = 120;

type Restart = (key: string) => string;

/** Of a file that `tenant apply` brings to running processes. */
function appliedTable(rows: readonly SchemaRow[]): string[] {
  return table(rows, (key) => (SECRETS.has(key) ? 'only for `env:`' : 'no'));
}

/** What is too long for a row stands below the table. */
function table(rows: readonly SchemaRow[], restart: Restart): string[] {
  const isLong = (row: SchemaRow): boolean => line(row, restart).length > MOST_COLUMNS;
  const lines = rows.map((row) => line(isLong(row) ? { ...row, ...SEE_BELOW } : row, restart));
  return ['| key | takes | default | restart |', '|---|---|---|---|', ...lines, ...rows.filter(isLong).map(note)];
}

const SEE_BELOW = { takes: 'see below the table' };

function note({ key, takes }: SchemaRow): string {
  return `\n${wrap(`\`${key}\` takes: ${takes}`)}`;
}

/** Breaks a line of Markdown between words; what follows is indented. */
export function wrap(text: string): string {
  if (text.length <= MOST_COLUMNS) return text;
  const at = text.lastIndexOf(' ', MOST_COLUMNS);
  return at < 3 ? text : `${text.slice(0, at)}\n${wrap(`  ${text.slice(at + 1)}`)}`;
}

function line({ key, takes, required, default: fallback }: SchemaRow, restart: Restart): string {
  const cell = fallback === undefined ? (required ? 'required' : '') : `\`${fallback}\``;
  return `| \`${key}\` | ${takes.replaceAll('|', '\\|')} | ${cell.replaceAll('|', '\\|')} | ${restart(key)} |`;
}
