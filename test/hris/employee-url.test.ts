import { afterAll, expect, test } from 'vitest';
import { urlOfEmployee } from '../../src/hris/option-types.ts';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';

const open: HrisConnection[] = [];
afterAll(() => Promise.all(open.map((hris) => hris.close())));

const BAMBOO = { url: 'https://me:key@acme.bamboohr.com/?a=1', apiKey: 'key', referenceField: 'none' };
const TRYTON = { url: 'https://hr.acme.example/', database: 'acme two', user: 'hire', password: 'pw', company: 1 };
const ODOO = { url: 'https://odoo.acme.example/hr/', database: 'acme', user: 'hire', password: 'pw' };
const SCIM = { url: 'https://scim.acme.example/v2', token: 'token' };
const SFTP = { host: 'sftp.acme.example', user: 'hire', hostKey: `SHA256:${'A'.repeat(43)}`, privateKey: 'key' };
const OWN = { employeeUrl: 'https://people.acme.example/{number}?of={id}' };
const AS_OWN = 'https://people.acme.example/A%2F9?of=7';

test.each<[string, Record<string, unknown>, string | undefined]>([
  ['bamboohr', BAMBOO, 'https://acme.bamboohr.com/employees/employee.php?id=7'],
  ['bamboohr', { ...BAMBOO, ...OWN }, AS_OWN],
  ['tryton', TRYTON, 'https://hr.acme.example/#acme%20two/model/company.employee/7'],
  ['tryton', { ...TRYTON, ...OWN }, AS_OWN],
  ['odoo', ODOO, 'https://odoo.acme.example/hr/mail/view?model=hr.employee&res_id=7'],
  ['odoo', { ...ODOO, ...OWN }, AS_OWN],
  ['scim', SCIM, undefined],
  ['scim', { ...SCIM, ...OWN }, AS_OWN],
  ['sftp', SFTP, undefined],
  ['sftp', { ...SFTP, ...OWN }, AS_OWN],
  ['sql', { url: 'sqlite:./none.sqlite' }, undefined],
  ['sql', { url: 'sqlite:./none.sqlite', ...OWN }, AS_OWN],
])('in %s with %j people see an employee at %s', async (kind, options, url) => {
  const hris = await openHris(kind, 'acme-hr', options);
  open.push(hris);
  expect(urlOfEmployee(hris.capabilities.employeeUrl, { id: '7', number: 'A/9' })).toBe(url);
});

test.each(['http://people.example/{id}', 'https://{id}.example/', 'https://me@people.example/{id}', '/people/{id}'])(
  'a tenant cannot have %s written to the partner',
  async (employeeUrl) => {
    const opened = openHris('bamboohr', 'acme-hr', { ...BAMBOO, employeeUrl });
    await expect(opened).rejects.toThrow(/employeeUrl: expected/);
  },
);
