import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import { ODOO_PASSWORD, type OdooServer, startOdoo } from '../../../src/counterparts/start-odoo.ts';
import { loadDefinition } from '../../../src/hris/http/load-definition.ts';
import { definitionUnderTest } from '../../../src/hris-kit/definition-under-test.ts';
import { offers } from '../../../src/hris-kit/hris-under-test.ts';
import { describeHris } from '../conformance.ts';
import { ownClock } from '../profile.ts';

let server: OdooServer;
beforeAll(async () => {
  server = await startOdoo();
});
afterAll(() => server?.stop());

describeHris('odoo', async () => {
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
    people: { add: addPeople, touch: touchPeople },
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
  const played = { ...hris, powers, count: countEmployees };
  const lacks = Object.entries(hris.lacks ?? {}).filter(([need]) => !offers(played, need as never));
  return {
    ...played,
    lacks: {
      ...Object.fromEntries(lacks),
      uniqueReference: 'a field of the customer is not unique: the claim in our store keeps a second create away',
      staleUpdate: 'Odoo knows no versions: an update writes the fields given, whatever else changed',
    },
  };
});

/** Past the server; the administrator is an employee too. */
async function countEmployees(): Promise<number> {
  const [row] = await server.sql('select count(*)::int as n from hr_employee');
  return (row as { n: number }).n;
}

/** Imported at once: one transaction, one stamp. */
function addPeople(count: number): Promise<string[]> {
  const people = Array.from({ length: count }, (_, at) => ({ name: `Imported ${at}` }));
  return server.call<number[]>('hr.employee', 'create', [people]).then((ids) => ids.map(String));
}

async function touchPeople(ids: readonly string[]): Promise<void> {
  await server.call('hr.employee', 'write', [ids.map(Number), { notes: 'touched' }]);
}
