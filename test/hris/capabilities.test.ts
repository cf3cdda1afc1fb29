import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { definitionSchema } from '../../src/hris/http/definition-schema.ts';
import type { HrisConnection } from '../../src/hris/port.ts';
import { findHrisAdapter, hrisKinds, openHris } from '../../src/hris/registry.ts';

const acme = fileURLToPath(new URL('definitions/acme.yaml', import.meta.url));

/** Tenant files that name everything a kind can use. */
const options: Record<string, Record<string, unknown>> = {
  http: {
    url: 'https://hr.example/api',
    definition: { file: acme, text: await readFile(acme, 'utf8') },
    user: 'hirebridge',
    password: 'secret',
  },
  entra: {
    url: 'https://graph.microsoft.com/v1.0',
    directory: 'd',
    clientId: 'c',
    clientSecret: 'secret',
    servicePrincipal: 's',
    job: 'j',
  },
  ldap: {
    url: 'ldaps://ldap.example',
    bindDn: 'cn=hirebridge,dc=acme',
    password: 'secret',
    base: 'dc=acme',
    leaver: { moveTo: 'ou=leavers,dc=acme' },
  },
  odoo: { url: 'https://odoo.example', database: 'acme', user: 'hirebridge', password: 'secret' },
  scim: { url: 'https://hr.example/scim/v2', token: 'secret' },
  bamboohr: {
    url: 'https://acme.bamboohr.com',
    apiKey: 'key',
    referenceField: 'customReference',
    employment: { active: 'Full-Time', ended: 'Terminated' },
    fileCategory: 16,
  },
  sftp: {
    host: 'sftp.example',
    user: 'hirebridge',
    hostKey: `SHA256:${'A'.repeat(43)}`,
    privateKey: 'key',
    endColumn: 'last_day',
  },
  sql: {
    url: 'postgres://hr.example/hr?sslmode=verify-full',
    endColumn: 'last_day',
    changes: { column: 'changed_at' },
    requisitions: {},
    lists: { departments: { table: 'departments' } },
    files: { folder: '/srv/hr-files' },
    job: {},
  },
  tryton: { url: 'https://tryton.example', database: 'acme', user: 'hirebridge', password: 'secret', company: 1 },
};

const rows: readonly (readonly [string, (connection: HrisConnection, kind: string) => string | boolean])[] = [
  ['our reference is stored', ({ capabilities }) => capabilities.storesReference],
  ['a read may miss a write for', ({ capabilities }) => `${capabilities.readLagMs / 1000} s`],
  [
    'a change may show later, by',
    ({ capabilities }) => `${(capabilities.shownWithinMs ?? capabilities.readLagMs) / 1000} s`,
  ],
  ['describes its fields', ({ describe }) => describe !== undefined],
  ['lists changed employees', ({ changes }) => changes !== undefined],
  [
    'webhooks name changed employees',
    (_connection, kind) => findHrisAdapter(kind, options[kind])?.webhooks !== undefined,
  ],
  ['a former employee is rehired', ({ employees }) => employees.rehire !== undefined],
  ['ends an employment', ({ employees }) => employees.terminate !== undefined],
  ['changes an employee conditionally', ({ employees }) => employees.amend !== undefined],
  ['takes files', ({ files }) => files !== undefined],
  ['creates may be pending', ({ pending }) => pending !== undefined],
  ['lists open requisitions', ({ requisitions }) => requisitions !== undefined],
  ['has lists, for options', ({ lists }) => lists !== undefined],
  ['records of the partner land', ({ landing }) => landing !== undefined],
];

test('docs/hris.md shows what each kind can do', async () => {
  // A module can do what somebody else wrote.
  const kinds = hrisKinds()
    .filter((kind) => kind !== 'module')
    .toSorted();
  const connections = await Promise.all(kinds.map((kind) => openHris(kind, 'shown', options[kind] ?? {})));
  const cell = (value: string | boolean) => (value === true ? 'yes' : value === false ? '–' : value);
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const table = [
    line(['', ...kinds.map((kind) => `\`${kind}\``)]),
    `|${'---|'.repeat(kinds.length + 1)}`,
    ...rows.map(([what, of]) =>
      line([what, ...connections.map((connection, at) => cell(of(connection, kinds[at] ?? '')))]),
    ),
  ].join('\n');
  await Promise.all(connections.map((connection) => connection.close()));
  expect(await readFile(new URL('../../docs/hris.md', import.meta.url), 'utf8')).toContain(table);
});

test('each answer to what is special in an HR system that cannot run here is a part of a definition', async () => {
  const text = await readFile(new URL('../../docs/hris.md', import.meta.url), 'utf8');
  const lines = text.slice(text.indexOf('| system |')).split('\n').slice(2);
  const answers = lines.flatMap((line) => line.split(' | ').at(2) ?? []);
  const parts = answers.flatMap((answer) => [...answer.matchAll(/`([a-z][\w.]*)`/gi)].map(([, part]) => part ?? ''));
  expect(parts.length).toBeGreaterThan(25);
  const schema = z.toJSONSchema(definitionSchema, { io: 'input' }) as Schema;
  expect(parts.filter((part) => !isPart(schema, part.split('.')))).toEqual([]);
});

interface Schema {
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
}

function isPart(schema: Schema, [name, ...rest]: readonly string[]): boolean {
  if (schema.items !== undefined && name !== undefined) return isPart(schema.items, [name, ...rest]);
  if (name === undefined) return true;
  const { properties = {}, additionalProperties: any } = schema;
  const next = properties[name] ?? (typeof any === 'object' ? any : undefined);
  return next !== undefined && isPart(next, rest);
}
