import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exchangePairs } from '../../../activities/exchange/exchange-pairs.ts';
import { cancelHire } from '../../../activities/hire/cancel-hire.ts';
import { enrol } from '../../../activities/hire/enrol.ts';
import { readOnboarding } from '../../../activities/hire/go-on.ts';
import type { OwnHris } from '../../../activities/own-hris.ts';
import { ConnectorError } from '../../../src/errors.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import type { Store } from '../../../src/store/open-store.ts';
import { purgePlans, purgeWrites } from '../../../src/store/retention.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { kinds } from '../../store/stores.ts';
import { employPerson, readTable, stepsIn } from './employed-person.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

/** As the worker's chore, once `policies.retention.plans` is over. Earlier versions cleared every request. */
async function purge(store: Store, version: 'this' | 'earlier' = 'this'): Promise<void> {
  expect(await purgePlans(store, 'acme', 0)).toBeGreaterThan(0);
  await purgeWrites(store, 'acme', 0);
  if (version === 'earlier') await store.kysely.updateTable('intents').set({ pinned: '{}' }).execute();
}

test.each(kinds)(
  'amendments switched on over purged hires overwrite nothing of HR’s, and follow later changes, in %s',
  async (database) => {
    const { fleet, id, row, update, employees } = await employPerson({ database });
    await purge(fleet.store);
    const jobId = Number((await row(id))?.job_id);
    const editJob = (title: string) => fleet.sandbox.control.act('editJob', { jobId, fields: { title } });
    await editJob('Head of bakery');
    await update({ title: 'Chef' });
    await fleet.apply(
      'acme',
      'streams: { amendments: { every: 15m } }\namendments: { ask: [startDate], apply: [title] }\n',
    );
    let runs = 0;
    const run = async () => {
      await fleet.reconcile('acme');
      const input = {
        tenantId: 'acme',
        stream: 'amendments' as const,
        runId: `run ${++runs}`,
        full: true,
        begun: false,
      };
      return exchangePairs(fleet.deps, input);
    };
    expect(await run()).toMatchObject({ state: 'done' });
    expect(await employees()).toMatchObject([{ title: 'Chef' }]);
    await update({ title: 'Head of bakery' });
    expect(await run()).toMatchObject({ state: 'done' });
    await editJob('Head of kitchen');
    expect(await run()).toMatchObject({ state: 'done' });
    expect(await employees()).toMatchObject([{ title: 'Head of kitchen' }]);
  },
);

/** A tenant whose people have no start date at will; a hire that a person cancels, and adopts long after. */
async function cancellable({ skip, database = 'sqlite' }: { skip: boolean; database?: (typeof kinds)[number] }) {
  const url = `sqlite:${join(await scratchFolder(), 'hr.sqlite')}`;
  const hris = `kind: sql, connection: hr, url: "${url}", createTable: true`;
  const fleet = await fleetAtSandbox({ jobs: 2, hris, skip, database });
  const { partner } = fleet.sandbox;
  const apply = (more = '') => fleet.apply('acme', `writeBack: { customField: "1" }\n${more}`);
  await apply();
  await fleet.reconcile('acme');
  const steps = stepsIn(fleet);
  const query = { entityType: 'candidate' as const };
  const start = (await partner.readAll(contract.customFields.list, { query })).items.find(
    ({ fieldLabel }) => fieldLabel === 'Start date',
  );
  return {
    ...steps,
    fleet,
    apply,
    employees: () => readTable(url),
    adopt: (of: string) => fleet.open('acme', of, true),
    async setStart(of: string, value: string) {
      const entityId = String((await steps.row(of))?.candidate_id);
      const body = [{ customFieldId: String(start?.id), entityType: 'candidate' as const, entityId, value }];
      await partner.inChunks(contract.customFieldValues.upsertBulk, { body });
    },
    /** A person ends it, and what was kept of it is purged. */
    async cancel(of: string, asked: { verdict: string }, version?: 'this' | 'earlier') {
      const ref = await steps.refOf(of);
      await steps.answerAs(ref, asked, 'cancel');
      await steps.letPass(600_000);
      expect(await cancelHire(fleet.deps, ref)).toMatchObject({ verdict: 'cancelled', state: 'cancelled' });
      await purge(fleet.store, version);
    },
  };
}

/** Nothing arrives, and that is known. */
function unavailable(hris: OwnHris): OwnHris {
  const create = async () => {
    throw new ConnectorError({ code: 'HRIS_AWAY', action: 'retry', message: 'The HR system is away.' });
  };
  return { ...hris, employees: { ...hris.employees, create } };
}

test.each([
  ['this', 'sqlite'],
  ['this', 'postgres'],
  ['earlier', 'sqlite'],
] as const)(
  'a hire whose create never arrived, purged by %s version, is adopted and is one employee, in %s',
  async (version, database) => {
    const { fleet, employOnce, setStart, cancel, adopt, employees } = await cancellable({ skip: true, database });
    const id = await fleet.hire();
    await fleet.open('acme', id);
    await expect(employOnce(id, unavailable)).rejects.toMatchObject({ code: 'HRIS_AWAY' });
    await setStart(id, '2020-01-01');
    const asked = await employOnce(id);
    expect(asked).toMatchObject({ hold: { code: 'START_DATE_PAST' } });
    await cancel(id, asked, version);
    await setStart(id, '2099-01-11');
    expect(await adopt(id)).toMatchObject({ verdict: 'open' });
    expect(await employOnce(id)).toMatchObject({ verdict: 'employee' });
    const references = (await employees()).map((one) => (one as { external_ref?: string }).external_ref);
    expect(references).toEqual([expect.stringMatching(/^17:\d+$/)]);
    expect(await employOnce(id)).toMatchObject({ verdict: 'employee' });
    expect(await employees()).toHaveLength(1);
  },
);

test('a hire whose enrolment never arrived, purged, is adopted and is one employee', async () => {
  const { fleet, refOf, employOnce, enrolAnswered, apply, cancel, adopt, row, employees } = await cancellable({
    skip: false,
  });
  const { control } = fleet.sandbox;
  const id = await fleet.hire();
  await control.act('setFaults', { faults: [{ kind: 'throttle', on: 'onboarding.enrol', times: 1 }] });
  await expect(fleet.open('acme', id)).rejects.toMatchObject({ action: 'throttle' });
  const other = (await fleet.sandbox.partner.readAll(contract.jobs.list)).items.map((job) => String(job.id));
  const own = (await row(id))?.job_id;
  await apply(`scope: { jobs: ${JSON.stringify(other.filter((one) => one !== own))} }\n`);
  const asked = await enrol(fleet.deps, await refOf(id));
  expect(asked).toMatchObject({ hold: { code: 'JOB_LEFT_SCOPE' } });
  await cancel(id, asked);
  await apply();
  expect(await adopt(id)).toMatchObject({ verdict: 'open', enrolled: { verdict: 'enrolled' } });
  expect(await fleet.enrolments()).toBe(1);
  await enrolAnswered(await refOf(id));
  expect(await employOnce(id)).toMatchObject({ verdict: 'employee' });
  expect(await employees()).toHaveLength(1);
});

test.each(kinds)(
  'a hire cancelled during its onboarding, purged, is adopted and is one employee, in %s',
  async (database) => {
    const { fleet, begin, refOf, employOnce, setStart, cancel, adopt, employees } = await cancellable({
      skip: false,
      database,
    });
    const id = await begin();
    await setStart(id, '2020-01-01');
    await cancel(id, await employOnce(id));
    await setStart(id, '2099-01-11');
    expect(await adopt(id)).toMatchObject({ verdict: 'open' });
    expect(await readOnboarding(fleet.deps, await refOf(id))).toEqual({ verdict: 'ready' });
    expect(await employOnce(id)).toMatchObject({ verdict: 'employee' });
    expect(await employees()).toHaveLength(1);
  },
);
