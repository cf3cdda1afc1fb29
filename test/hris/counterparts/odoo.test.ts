import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { ODOO_PASSWORD, type OdooServer, startOdoo } from '../../../src/counterparts/start-odoo.ts';
import { isConnectorError } from '../../../src/errors.ts';
import { loadDefinition } from '../../../src/hris/http/load-definition.ts';
import { urlOfEmployee } from '../../../src/hris/option-types.ts';
import { openHris } from '../../../src/hris/registry.ts';
import { definitionUnderTest } from '../../../src/hris-kit/definition-under-test.ts';
import { type HrisUnderTest, offers } from '../../../src/hris-kit/hris-under-test.ts';
import { describeHris } from '../conformance.ts';
import { created, ownClock, refusal, signal, write } from '../profile.ts';

/** Or why this machine cannot have it. */
const server = await startOdoo().catch((error: unknown) => {
  if (isConnectorError(error) && error.action === 'reject') return error.message;
  throw error;
});
afterAll(() => (typeof server === 'string' ? undefined : server.stop()));

describeHris('odoo', async () => (typeof server === 'string' ? server : odooUnderTest(server)));

test.skipIf(typeof server === 'string')('the address of an employee leads whoever is logged in to them', async () => {
  const { url, database, call } = server as OdooServer;
  const account = { database, user: 'admin', password: ODOO_PASSWORD, allowPrivateAddress: true };
  const hris = await openHris('odoo', 'odoo', { url, ...account });
  const id = String(await call<number>('hr.employee', 'create', [{ name: 'Ana Silva' }]));
  const login = { jsonrpc: '2.0', params: { db: database, login: 'admin', password: ODOO_PASSWORD } };
  const session = await fetch(`${url}/web/session/authenticate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(login),
  });
  const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? '';
  const seen = await fetch(urlOfEmployee(hris.capabilities.employeeUrl, { id }) ?? '', {
    redirect: 'manual',
    headers: { cookie },
  });
  expect(seen.headers.get('location')).toMatch(new RegExp(`/web#.*model=hr\\.employee.*\\bid=${id}\\b`));
  await hris.close();
});

test.skipIf(typeof server === 'string')('a work e-mail that anybody has is taken, whatever its capitals', async () => {
  const { url, database, call } = server as OdooServer;
  const account = { database, user: 'admin', password: ODOO_PASSWORD, allowPrivateAddress: true };
  const hris = await openHris('odoo', 'odoo', { url, ...account });
  const isTaken = async (value: string) => hris.employees.isTaken?.('workEmail', value, AbortSignal.timeout(30_000));
  await call('hr.employee', 'create', [
    [
      { name: 'Ana Silva', work_email: 'Ana.Silva@acme.example' },
      { name: 'Left', work_email: 'left@acme.example', active: false },
      { name: 'Wide', work_email: 'anaXsilva2@acme.example' },
    ],
  ]);
  const asked = ['ana.silva@ACME.example', 'left@acme.example', 'ana.silva3@acme.example', 'ana_silva2@acme.example'];
  expect(await Promise.all(asked.map(isTaken))).toEqual([true, true, false, false]);
  await hris.close();
});

test.skipIf(typeof server === 'string')(
  'a department is the one of its name below another, never one of two',
  async () => {
    const { url, database, call } = server as OdooServer;
    const account = { database, user: 'admin', password: ODOO_PASSWORD, allowPrivateAddress: true };
    const hris = await openHris('odoo', 'odoo', { url, ...account });
    const [above] = await call<number[]>('hr.department', 'create', [[{ name: 'Nordics' }]]);
    await call('hr.department', 'create', [[{ name: 'Fjord desk', parent_id: above }, { name: 'Twin' }]]);
    await call('hr.department', 'create', [[{ name: 'Twin', parent_id: above }]]);
    const employee = { name: 'Ana Silva', startDate: '2026-02-01' };
    const ref = created(await hris.employees.create({ ...employee, department: 'Fjord desk' }, '27:fjord', write));
    expect(await hris.employees.read(ref.id, signal)).toMatchObject({ fields: { department: 'Fjord desk' } });
    const amendment = { fields: { department: 'Nordics' }, over: { department: 'Fjord desk' }, from: '2026-02-01' };
    await hris.employees.amend?.(ref.id, amendment, write);
    expect(await hris.employees.read(ref.id, signal)).toMatchObject({ fields: { department: 'Nordics' } });
    expect(await refusal(hris.employees.create({ ...employee, department: 'Twin' }, '27:twin', write))).toMatchObject({
      action: 'reject',
      message: expect.stringContaining('with several parts'),
    });
    await hris.close();
  },
);

async function odooUnderTest(server: OdooServer): Promise<HrisUnderTest> {
  const file = fileURLToPath(new URL('../../../src/hris/kinds/odoo.yaml', import.meta.url));
  const { definition } = loadDefinition(file, await readFile(file, 'utf8'));
  if (definition === undefined) throw new Error('odoo.yaml is not right');
  const account = { database: server.database, user: 'admin', password: ODOO_PASSWORD, allowPrivateAddress: true };
  const hris = definitionUnderTest({ definition, options: { url: server.url, ...account }, values: {} });
  const powers = {
    ...hris.powers,
    ownClock,
    restart: () => server.restart(),
    custom: { key: 'startDate', label: 'Start date', value: '2026-05-05' },
    people: {
      // Imported at once: one transaction, one stamp.
      async add(count: number) {
        const people = Array.from({ length: count }, (_, at) => ({ name: `Imported ${at}` }));
        return (await server.call<number[]>('hr.employee', 'create', [people])).map(String);
      },
      async touch(ids: readonly string[]) {
        await server.call('hr.employee', 'write', [ids.map(Number), { notes: 'touched' }]);
      },
    },
    stored: async (id: string, name: string) => {
      const domain = [
        ['res_model', '=', 'hr.employee'],
        ['res_id', '=', Number(id)],
        ['name', '=', name],
      ];
      const found = await server.call<{ datas: string }[]>('ir.attachment', 'search_read', [domain, ['datas']]);
      return found.map(({ datas }) => Buffer.from(datas, 'base64'));
    },
  };
  const played = { ...hris, powers, count: () => countEmployees(server) };
  const lacks = Object.entries(hris.lacks ?? {}).filter(([need]) => !offers(played, need as never));
  return {
    ...played,
    lacks: {
      ...Object.fromEntries(lacks),
      uniqueReference: 'a field of the customer is not unique: the claim in our store keeps a second create away',
      staleUpdate: 'Odoo knows no versions: an update writes the fields given, whatever else changed',
    },
  };
}

/** Past the server; the administrator is an employee too. */
async function countEmployees({ sql }: OdooServer): Promise<number> {
  const [row] = await sql('select count(*)::int as n from hr_employee');
  return (row as { n: number }).n;
}
