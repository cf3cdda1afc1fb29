import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { kinds } from '../../store/stores.ts';
import { partnerSide, readTable, stepsIn } from './employed-person.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

test.each(kinds)(
  'an employee who is made while the tenant names its company is known of their person, with the store in %s',
  async (database) => {
    const url = `sqlite:${join(await scratchFolder(), 'hr.sqlite')}`;
    const hris = `kind: sql, connection: hr, url: "${url}", createTable: true`;
    const fleet = await fleetAtSandbox({ jobs: 3, hris, database });
    await fleet.apply('acme', '', { company: 'none' });
    await fleet.reconcile('acme');
    const { begin, employOnce, finish, row } = stepsIn(fleet);
    const id = await begin();
    const making = employOnce(id, (hr) => {
      const create: typeof hr.employees.create = async (...given) => {
        const made = await hr.employees.create(...given);
        await fleet.apply('acme');
        return made;
      };
      return { ...hr, employees: { ...hr.employees, create } };
    });
    await expect(making).rejects.toMatchObject({ code: 'COMPANY_NAMED', action: 'retry' });
    expect(await employOnce(id)).toMatchObject({ verdict: 'employee' });
    await finish(id);
    expect(await row(id)).toMatchObject({ state: 'done', employee_id: '1' });
    const again = await fleet.hire(await partnerSide(fleet, id).applyFor(0));
    expect(await fleet.open('acme', again)).toMatchObject({ enrolled: { hold: { code: 'PERSON_HIRED_BEFORE' } } });
    expect(await readTable(url)).toHaveLength(1);
  },
);
