import { Config } from '../config.ts';
import { findHrisAdapter, hrisKinds } from '../hris/registry.ts';
import { mappingFile } from '../mapping/schema.ts';
import { landings } from '../streams/streams.ts';
import { tenantFile } from '../tenants/schema.ts';
import { type SchemaRow, schemaRows } from './schema-rows.ts';

/** Keys whose value stands behind a reference that is read again while a worker runs. */
const READ_AGAIN = new Set(['partner.apiKey']);

/** Every key of every file and of the environment, as Markdown. */
export function settingsReference(): string {
  const kinds = hrisKinds().flatMap((kind) => {
    const schema = findHrisAdapter(kind)?.optionsSchema(landings);
    return schema === undefined ? [] : ['', `### hris, kind ${kind}`, '', ...table(schemaRows(schema, 'hris'))];
  });
  return [
    '## Tenant file',
    '',
    'Files are read when a process starts, so a change needs a restart of `worker` and `serve`. A secret behind',
    'a reference is read again while a tenant is paused.',
    '',
    ...table(schemaRows(tenantFile)),
    ...kinds,
    '',
    '## Mapping file',
    '',
    ...table(schemaRows(mappingFile)),
    '',
    '## Environment',
    '',
    'Read when a process starts. `TEMPORAL_*` are those of Temporal itself; `LOG_LEVEL` and `LOG_FORMAT` set the log.',
    '',
    ...table(schemaRows(Config).filter(({ key }) => !key.includes('FAILPOINT'))),
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

/** What is too long for a row stands below the table. */
function table(rows: readonly SchemaRow[]): string[] {
  const notes = rows.filter((row) => line(row).length > MOST_COLUMNS).map(note);
  const lines = rows.map((row) => (line(row).length > MOST_COLUMNS ? line({ ...row, ...SEE_BELOW }) : line(row)));
  return ['| key | takes | default | restart |', '|---|---|---|---|', ...lines, ...notes];
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

function line({ key, takes, required, default: fallback }: SchemaRow): string {
  const cell = fallback === undefined ? (required ? 'required' : '') : `\`${fallback}\``;
  const restart = READ_AGAIN.has(key) ? 'no, when its secret changes' : 'yes';
  return `| \`${key}\` | ${takes.replaceAll('|', '\\|')} | ${cell.replaceAll('|', '\\|')} | ${restart} |`;
}
