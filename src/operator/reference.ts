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
  ].join('\n');
}

function table(rows: readonly SchemaRow[]): string[] {
  return ['| key | takes | default | restart |', '|---|---|---|---|', ...rows.map(line)];
}

function line({ key, takes, required, default: fallback }: SchemaRow): string {
  const cell = fallback === undefined ? (required ? 'required' : '') : `\`${fallback}\``;
  const restart = READ_AGAIN.has(key) ? 'no, when its secret changes' : 'yes';
  return `| \`${key}\` | ${takes.replaceAll('|', '\\|')} | ${cell.replaceAll('|', '\\|')} | ${restart} |`;
}
