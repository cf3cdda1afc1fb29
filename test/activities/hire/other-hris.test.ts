import { join } from 'node:path';
import { expect, test } from 'vitest';
import { finishHire } from '../../../activities/hire/finish-hire.ts';
import { employ } from '../../../activities/hire/go-on.ts';
import type { OwnHris } from '../../../activities/own-hris.ts';
import { ConnectorError } from '../../../src/errors.ts';
import { knownIn } from '../../../src/hire/hire.ts';
import { held } from '../../../src/hire/holds.ts';
import { steerTenant } from '../../../src/operator/tenants.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { kinds } from '../../store/stores.ts';
import { employPerson, readTable } from './employed-person.ts';

type Employed = Awaited<ReturnType<typeof employPerson>>;

/** One hire that is done, one whose ID was not told yet; then the customer moves to an HR system with the same ids. */
async function moved(database: (typeof kinds)[number] = 'sqlite', before?: (world: Employed) => Promise<void>) {
  const world = await employPerson({ database });
  const { fleet, begin, employOnce, refOf, change } = world;
  const second = await begin();
  expect(await employOnce(second)).toMatchObject({ verdict: 'employee' });
  await before?.(world);
  const url = `sqlite:${join(await scratchFolder(), 'anew.sqlite')}`;
  const hris = `kind: sql, connection: anew, url: "${url}", createTable: true, endColumn: last_day`;
  const by = { tenantId: 'acme', by: 'ada' };
  await expect(fleet.apply('acme', '', { hris })).rejects.toMatchObject({ code: 'HRIS_CHANGED' });
  await expect(fleet.apply('acme', '', { hris, way: 'new' })).rejects.toMatchObject({ code: 'TENANT_NOT_PAUSED' });
  await steerTenant(fleet.store, 'pause', by);
  await fleet.apply('acme', '', { hris, way: 'new' });
  await steerTenant(fleet.store, 'resume', by);
  const connection = await fleet.deps.connections.of('acme');
  for (const nth of [1, 2, 3])
    await connection.hris.employees.create(
      { familyName: 'Stranger', givenName: `Nth ${nth}`, startDate: '2020-01-01', email: `s${nth}@elsewhere.example` },
      `stranger-${nth}`,
      { signal: AbortSignal.timeout(120_000), beforeSend: () => undefined },
    );
  const strangers = () => readTable(url);
  return { ...world, second, secondRef: await refOf(second), strangers, before: await strangers(), change };
}

test.each(kinds)(
  'after a move to another HR system no stranger there is read or written by an id of before, in %s',
  async (database) => {
    const world = await moved(database);
    const { fleet, id, ref, second, secondRef, move, judge, end, answer, answerAs, shown, strangers, before } = world;
    // The hire that had its employee and was not written back.
    const asked = await finishHire(fleet.deps, secondRef);
    expect(asked).toMatchObject({ hold: { code: 'EMPLOYEE_GONE' } });
    expect(await shown(second)).toBeNull();
    // The one that was done and leaves before the first day.
    await move('SCREEN');
    const left = await judge();
    expect(left).toMatchObject({ hold: { code: 'LEFT_AFTER_EMPLOYEE' } });
    await answer(left, 'left');
    expect(await world.row(id)).toMatchObject({ state: 'left' });
    expect(await end()).toEqual({ verdict: 'over' });
    expect(await strangers()).toEqual(before);
    // HR names who they are in the new system, also where the hire began anew meanwhile.
    await answerAs(secondRef, asked, 'link', '2');
    expect(await employ(fleet.deps, secondRef)).toEqual({ verdict: 'employee' });
    expect(await strangers()).toEqual(before);
    await answerAs(secondRef, await finishHire(fleet.deps, secondRef), 'link-anyway');
    expect(await finishHire(fleet.deps, secondRef)).toEqual({ verdict: 'verified' });
    expect(await world.row(second)).toMatchObject({ employee_id: '2', connection: 'anew' });
    expect(ref.period).toBe(1);
  },
);

test.each(kinds)(
  'after the move somebody who was hired before is asked about when hired again, in %s',
  async (database) => {
    const { fleet, applyFor, strangers, before } = await moved(database);
    const again = await fleet.hire(await applyFor(0));
    expect(await fleet.open('acme', again)).toMatchObject({
      enrolled: { verdict: 'hold', hold: { code: 'PERSON_RECORDED' } },
    });
    expect(await strangers()).toEqual(before);
  },
);

test.each(kinds)(
  'an answer that named an employee of the system before links nobody in the new one, in %s',
  async (database) => {
    let third = '';
    const world = await moved(database, async ({ begin, refOf, answerAs }) => {
      third = await begin();
      const ambiguous = { jobCandidateId: third, reason: 'absence-unproven', keys: ['email'], employeeIds: ['1'] };
      await answerAs(await refOf(third), held('IDENTITY_AMBIGUOUS', ambiguous), 'link', '1');
    });
    const { fleet, refOf, strangers, before, row } = world;
    expect(await employ(fleet.deps, await refOf(third))).toMatchObject({ verdict: 'employee' });
    expect(await strangers()).toHaveLength(before.length + 1);
    expect(await row(third)).toMatchObject({ employee_id: '4', connection: 'anew' });
  },
);

/** The process ends between the outcome of the create and the link. */
const unlinked = (hris: OwnHris): OwnHris => ({
  ...hris,
  employees: {
    ...hris.employees,
    async create(...given) {
      const made = await hris.employees.create(...given);
      return made.kind === 'created' ? { ...made, ref: knownIn('hr', { id: made.ref.id }) } : made;
    },
    read: async () => {
      throw new ConnectorError({ code: 'HRIS_AWAY', action: 'retry', message: 'It is away.' });
    },
  },
});

/** Searches do not show yet who was made. */
const unshown = (hris: OwnHris): OwnHris => ({
  ...hris,
  employees: { ...hris.employees, find: async () => ({ kind: 'none', trusted: true }) },
});

test.each(kinds)(
  'an employee who was made and not linked yet is linked under the new name of the same system, in %s',
  async (database) => {
    const url = `sqlite:${join(await scratchFolder(), 'own.sqlite')}`;
    const hris = (name: string) =>
      `kind: sql, connection: ${name}, url: "${url}", createTable: true, endColumn: last_day`;
    const { fleet, begin, employOnce, finish, row } = await employPerson({ database, hris: hris('hr') });
    const second = await begin();
    await expect(employOnce(second, unlinked)).rejects.toMatchObject({ code: 'HRIS_AWAY' });
    expect(await row(second)).toMatchObject({ employee_id: null });
    await steerTenant(fleet.store, 'pause', { tenantId: 'acme', by: 'ada' });
    await fleet.apply('acme', '', { hris: hris('renamed'), way: 'keep' });
    await steerTenant(fleet.store, 'resume', { tenantId: 'acme', by: 'ada' });
    expect(await employOnce(second, unshown)).toMatchObject({ verdict: 'employee' });
    expect(await row(second)).toMatchObject({ employee_id: '2', connection: 'renamed' });
    await finish(second);
    expect(await readTable(url)).toHaveLength(2);
  },
);
