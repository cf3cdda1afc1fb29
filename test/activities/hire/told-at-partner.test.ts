import { expect, onTestFinished, test, vi } from 'vitest';
import type { ActivityDeps } from '../../../activities/connections.ts';
import { cancelHire, lookForReturn } from '../../../activities/hire/cancel-hire.ts';
import { readOnboarding } from '../../../activities/hire/go-on.ts';
import { openHold, takeAnswer } from '../../../activities/hire/hold-hire.ts';
import { API_KEY, REFERENCE_FIELD, startBambooDouble } from '../../../src/counterparts/bamboohr-double.ts';
import { ConnectorError } from '../../../src/errors.ts';
import { holdOf } from '../../../src/hire/holds.ts';
import type { PartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { answerHold, listHolds } from '../../../src/store/holds.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { stepsIn } from './employed-person.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

const URL_OF = 'https://hr.example/people/{id}';
const SQL = 'kind: sql, connection: hr, url: sqlite:./hr.sqlite, createTable: true';
const MISSING = (jobCandidateId: string) =>
  holdOf('MAPPING_INCOMPLETE', { jobCandidateId, problems: 'title is empty.', fields: { title: 'MISSING' } });

async function defineText(partner: PartnerClient, fieldLabel: string): Promise<string> {
  const body = { entityType: 'candidate', fieldLabel, fieldType: 'text', parentSection: 'Miscellaneous' } as const;
  return String((await partner.customFields.create({ body })).data.id);
}

/** A tenant, and one hire that is onboarded; `told`: the candidate has places for address and reason. */
async function begun({
  told,
  hris = told ? `${SQL}, employeeUrl: "${URL_OF}"` : SQL,
}: {
  told: boolean;
  hris?: string;
}) {
  const fleet = await fleetAtSandbox({ hris });
  const { sandbox, deps, store } = fleet;
  const [url, reason] = [await defineText(sandbox.partner, 'In HR'), await defineText(sandbox.partner, 'Why it waits')];
  await fleet.apply('acme', told ? `writeBack: { employeeUrl: "${url}", holdReason: "${reason}" }\n` : '');
  await fleet.reconcile('acme');
  const steps = stepsIn(fleet);
  const id = await steps.begin();
  const ref = await steps.refOf(id);
  const entityId = (await steps.row(id))?.candidate_id ?? '';
  const kinds = async (kind: 'effect' | 'request') => (await sandbox.control.ledger({ kind })).length;
  return {
    steps,
    id,
    ref,
    deps,
    store,
    kinds,
    hold: async () => (await openHold(deps, { ...ref, hold: MISSING(id) })).holdId,
    goOn: async (holdId: string) => {
      await answerHold(store, holdId, { answer: 'retry', arguments: [], by: 'ada' });
      return takeAnswer(deps, { ...ref, holdId });
    },
    /** What the candidate shows in the two fields. */
    async shown() {
      const query = { entityType: 'candidate', entityId } as const;
      const { items } = await sandbox.partner.readAll(contract.customFieldValues.list, { query });
      const at = (field: string) => items.find(({ customFieldId }) => customFieldId === field)?.value ?? null;
      return { url: at(url), reason: at(reason) };
    },
    deleteReason: () => sandbox.control.act('deleteCustomField', { customFieldId: reason }),
  };
}

test('why a hire is held stands at the candidate until it goes on, and then the address of the employee', async () => {
  const { steps, id, hold, goOn, shown, kinds, store } = await begun({ told: true });
  const holdId = await hold();
  const { reason } = await shown();
  expect(reason).toMatch(/^On hold: .* lacks what the HR system needs: title\. \[MAPPING_INCOMPLETE\]$/);
  expect(reason).not.toMatch(/hirebridge|answer retry/);
  // The activity's answer was lost, and it runs again.
  const before = await kinds('effect');
  expect(await hold()).toBe(holdId);
  expect(await kinds('effect')).toBe(before);
  expect(await goOn(holdId)).toMatchObject({ verdict: 'answered' });
  expect(await shown()).toEqual({ url: null, reason: '' });
  await steps.employOnce(id);
  await steps.finish(id);
  const employeeId = (await steps.row(id))?.employee_id ?? '';
  expect(await shown()).toEqual({ url: `https://hr.example/people/${employeeId}`, reason: '' });
  const writes = await store.kysely
    .selectFrom('foreign_writes')
    .selectAll()
    .where('target', '=', 'custom-fields')
    .execute();
  expect(writes.map(({ outcome }) => outcome)).not.toContain('refused');
  expect(writes.length).toBe(3);
});

test('the address of an employee of BambooHR needs no setting, and no call there', async () => {
  vi.stubEnv('TEST_BAMBOO_KEY', API_KEY);
  const asked = await Promise.all(
    [true, false].map(async (told) => {
      const double = await startBambooDouble();
      onTestFinished(() => double.close());
      const hris = `kind: bamboohr, connection: hr, url: "${double.url}", apiKey: env:TEST_BAMBOO_KEY,
        referenceField: ${REFERENCE_FIELD}, readLag: 0ms, allowPrivateAddress: true`;
      const { steps, id, shown } = await begun({ told, hris });
      await steps.employOnce(id);
      await steps.finish(id);
      const employeeId = (await steps.row(id))?.employee_id ?? '';
      const url = told ? `${double.url}/employees/employee.php?id=${employeeId}` : null;
      expect((await shown()).url).toBe(url);
      return double.requests;
    }),
  );
  expect(asked[0]).toBe(asked[1]);
});

test('a hold that ends by itself leaves no reason behind', async () => {
  const { steps, id, hold, shown } = await begun({ told: true });
  await hold();
  await steps.employOnce(id);
  await steps.finish(id);
  expect((await shown()).reason).toBe('');
});

test('a hold that the onboarding ends leaves no reason behind while the hire goes on', async () => {
  const { hold, shown, deps, ref, store } = await begun({ told: true });
  await hold();
  expect((await shown()).reason).toMatch(/^On hold/);
  expect(await readOnboarding(deps, { ...ref, asked: true })).toEqual({ verdict: 'ready' });
  expect(await listHolds(store, {})).toEqual([]);
  expect((await shown()).reason).toBe('');
});

test.each([
  ['ends', cancelHire],
  ['waits to be ended', lookForReturn],
])('a hire that %s and whose person is back leaves no reason behind', async (_what, look) => {
  const { hold, shown, deps, ref, store } = await begun({ told: true });
  await hold();
  expect(await look(deps, ref)).toEqual({ verdict: 'back' });
  expect(await listHolds(store, {})).toEqual([]);
  expect((await shown()).reason).toBe('');
});

test('a field that is gone keeps no hire from being held, nor from going on', async () => {
  const { hold, goOn, deleteReason, store } = await begun({ told: true });
  await deleteReason();
  const holdId = await hold();
  expect(await listHolds(store, {})).toMatchObject([{ hold_id: holdId }]);
  expect(await goOn(holdId)).toMatchObject({ verdict: 'answered' });
});

test.each([
  ['refused', 'refused'],
  ['not shown', 'absent'],
] as const)('a reason that is %s never counts as written, not even when the hire is done', async (how, outcome) => {
  const { hold, deps, store, steps, id, ref, shown } = await begun({ told: true });
  await openHold(swallowing(deps, how), { ...ref, hold: MISSING(id) });
  const reasons = async () => {
    const rows = await store.kysely.selectFrom('foreign_writes').selectAll().orderBy('sent_at').execute();
    return rows.filter(({ target, changes }) => target === 'custom-fields' && changes.includes('On hold'));
  };
  expect([await reasons(), (await shown()).reason]).toMatchObject([[{ outcome }], null]);
  expect(await hold()).not.toBe('');
  await steps.employOnce(id);
  await steps.finish(id);
  expect((await reasons()).map((row) => [row.outcome, row.verified_at === null])).toEqual([
    [outcome, true],
    ['done', false],
  ]);
});

/** A partner that refuses custom field values, or takes them and keeps none. */
function swallowing(deps: ActivityDeps, how: 'refused' | 'not shown'): ActivityDeps {
  const of: ActivityDeps['connections']['of'] = async (tenantId) => {
    const connection = await deps.connections.of(tenantId);
    const error = new ConnectorError({ code: 'VALUE_REFUSED', action: 'reject', message: 'Not this value.' });
    const outcome = how === 'refused' ? { ok: false, error } : { ok: true, value: {} };
    const inChunks = async () => [{ from: 0, to: 1, ...outcome }];
    return { ...connection, partner: { ...connection.partner, inChunks } as typeof connection.partner };
  };
  return { ...deps, connections: { ...deps.connections, of } };
}

test('a tenant that names no place for them costs no call, no write and no row', async () => {
  const { hold, goOn, shown, kinds, store } = await begun({ told: false });
  const rows = () => store.kysely.selectFrom('foreign_writes').selectAll().execute();
  const [asked, written, before] = [await kinds('request'), await kinds('effect'), await rows()];
  await goOn(await hold());
  expect([await kinds('request'), await kinds('effect'), await rows()]).toEqual([asked, written, before]);
  expect(await shown()).toEqual({ url: null, reason: null });
});

test('documents of a hire are looked for once it has ended, where the tenant wants any', async () => {
  const { fleet, told, hireOne } = await hinted('documents: [offers]\nstreams: { documents: { every: 6h } }\n');
  const id = await hireOne();
  expect(told).toEqual([[{ tenantId: 'acme', stream: 'documents' }, [id]]]);
  await fleet.apply('acme');
  await hireOne();
  expect(told).toHaveLength(1);
});

/** A tenant whose streams are told of hires: what they were told. */
async function hinted(settings: string) {
  const folder = await scratchFolder();
  const fleet = await fleetAtSandbox({ hris: `${SQL}, files: { folder: "${folder}" }` });
  const told: unknown[] = [];
  fleet.deps.hintStream = async (...about) => void told.push(about);
  await fleet.apply('acme', settings);
  await fleet.reconcile('acme');
  const steps = stepsIn(fleet);
  const hireOne = async (): Promise<string> => {
    const id = await steps.begin();
    expect(await steps.employOnce(id)).toMatchObject({ verdict: 'employee' });
    await steps.finish(id);
    return id;
  };
  return { fleet, told, hireOne };
}
