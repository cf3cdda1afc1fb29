import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { openKestrel } from './open-kestrel.ts';
import { refusal, signal, write } from './profile.ts';

const DEFINITION = `hrisDefinition: 1
name: Kestrel
options: { token: { secret: true } }
auth: { bearer: "{options.token}" }
record: { id: id, reference: reference, version: version }
fields: { familyName: { at: last }, birthDate: { at: born, type: date }, tags: { at: tags, type: list } }
find: { reference: { get: /staff, query: { reference: "{value}" }, items: data, trusted: true } }
read: { get: "/staff/{id}", item: data }
create: { post: /staff, item: body.data }
update: { put: "/staff/{id}", as: put, headers: { if-match: "{version}" } }
changes: { get: /staff, query: { since: "{since}" }, items: data, stamp: at, overlap: 0s }
probe: { get: /me }
`;

/** Each value has a label beside it, and a hook takes it away. */
const labelled = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, { label: key, value }]));
const ANA = labelled({ id: 1, reference: '27:ana', last: 'Reyes', born: '1990-05-17', version: 7, at: '2026-11-27' });

const IN_PLACE = `
const plain = (raw) => { for (const key of Object.keys(raw)) raw[key] = raw[key].value; };
export const hooks = {
  record: (raw) => { plain(raw); RETURNS },
  write: (record) => {
    for (const [key, value] of Object.entries(record)) if (value?.label === undefined) record[key] = { value };
    record.tags?.value.push('hirebridge');
    RETURNS_RECORD
  },
  request: (request, options) => { request.headers['x-key'] = options.token; options.token = ''; RETURNS_REQUEST },
};`;

/** The system whose records have labels, with a module of hooks. */
async function openLabelled(module: string, answered: readonly object[] = [ANA], made: object = ANA) {
  const folder = await mkdtemp(join(tmpdir(), 'hirebridge-hooks-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'hooks.ts');
  await writeFile(file, module);
  const sent: { method: string | undefined; key: unknown; body: unknown; version: unknown }[] = [];
  const hris = await openKestrel(
    `hooks: ${file}\n${DEFINITION}`,
    async (asked, say) => {
      const { method, headers, url = '' } = asked;
      const body = await text(asked);
      if (method !== 'GET')
        sent.push({ method, key: headers['x-key'], version: headers['if-match'], body: JSON.parse(body) });
      if (method === 'POST') return say(201, { data: made });
      if (url.startsWith('/staff/')) return say(200, { data: ANA });
      return say(200, { data: answered });
    },
    { token: 't1' },
  );
  return { hris, sent };
}

test.for([
  ['and returns it', IN_PLACE.replace('RETURNS }', 'return raw; }').replace('RETURNS_RECORD', 'return record;')],
  ['and returns nothing', IN_PLACE.replace('RETURNS }', '}').replace('RETURNS_RECORD', '')],
] as const)('a hook that changes what it is given %s changes its own copy, once', async ([how, module]) => {
  const ends = how.includes('nothing') ? '' : 'return request;';
  const { hris, sent } = await openLabelled(module.replace('RETURNS_REQUEST', ends));
  const found = { by: 'reference', value: '27:ana' } as const;
  for (const _again of [1, 2]) {
    expect(await hris.employees.find(found, signal)).toMatchObject({ kind: 'one', ref: { id: '1' } });
    expect(await hris.employees.find({ ...found, value: '27:bo' }, signal)).toEqual({ kind: 'none', trusted: true });
  }
  expect(await hris.employees.read('1', signal)).toMatchObject({ fields: { familyName: 'Reyes' } });
  const fields = { familyName: 'Reyes', tags: ['chef'] };
  await hris.employees.create(fields, '27:bo', write);
  expect(fields.tags).toEqual(['chef']);
  await hris.employees.update('1', fields, write);
  expect(fields.tags).toEqual(['chef']);
  const written = { last: { value: 'Reyes' }, tags: { value: ['chef', 'hirebridge'] } };
  expect(sent).toMatchObject([
    { method: 'POST', key: 't1', body: { ...written, reference: { value: '27:bo' } } },
    { method: 'PUT', key: 't1', body: { ...ANA, ...written }, version: '7' },
  ]);
});

const RECORD = 'export const hooks = { record: ({ ...raw }) => { PLAIN return raw; } };'.replace(
  'PLAIN',
  'for (const key of Object.keys(raw)) raw[key] = raw[key].value;',
);

test('a record is read through its hook wherever the definition reads one', async () => {
  const { hris } = await openLabelled(RECORD);
  expect(await hris.employees.create({ familyName: 'Reyes' }, '27:bo', write)).toEqual({
    kind: 'created',
    ref: { id: '1' },
  });
  expect((await hris.changes?.since(undefined, signal))?.employees).toMatchObject([{ ref: { id: '1' } }]);
});

test('a hook that does not return at once is refused at the line that names it', async () => {
  await expect(openLabelled('export const hooks = { write: async (record) => record };')).rejects.toThrow(
    /kestrel\.yaml:1:\d+ .*The hook "write" of .*hooks\.ts must return at once/,
  );
});

test.for([
  ['throws', 'throw new TypeError(`no ${record.last}`);', 'threw TypeError in the hook "write" of'],
  [
    'returns a promise',
    'return Promise.resolve(record);',
    'threw a promise, where it must return at once, in the hook',
  ],
  [
    'returns a promise that fails',
    'return Promise.reject(new Error(`no ${record.last}`));',
    'threw a promise, where it must return at once, in the hook',
  ],
])('a hook that %s before a create lets nothing be sent, and is named', async ([, body, told]) => {
  const { hris, sent } = await openLabelled(`export const hooks = { write(record) { ${body} } };`, []);
  const error = await refusal(hris.employees.create({ familyName: 'Reyes' }, '27:bo', write));
  expect(error).toMatchObject({ code: 'HRIS_ADAPTER_FAULT', action: 'retry' });
  expect(error.message).toContain(told);
  expect(error.message).not.toContain('Reyes');
  expect(sent).toEqual([]);
});

test('a create that is answered with less than a record is done, though the hook does not understand it', async () => {
  const module = 'export const hooks = { record: (raw) => ({ ...raw, last: raw.person.last.value }) };';
  const { hris } = await openLabelled(module, [], { id: 9 });
  expect(await hris.employees.create({ familyName: 'Reyes' }, '27:bo', write)).toMatchObject({ ref: { id: '9' } });
});
