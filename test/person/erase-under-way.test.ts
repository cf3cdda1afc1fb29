import { describe, expect, test } from 'vitest';
import type { ActivityDeps } from '../../activities/connections.ts';
import { bindActivities, noteFailure } from '../../activities/create-activities.ts';
import { carryOutErasure } from '../../activities/erase/carry-out.ts';
import type { OwnHris } from '../../activities/own-hris.ts';
import { ConnectorError, isConnectorError } from '../../src/errors.ts';
import { createLogger } from '../../src/log.ts';
import { listAlarms } from '../../src/store/alarms.ts';
import { askErasure, assertNotHeld, changeLegalHold } from '../../src/store/erasures.ts';
import { type NewWrite, recordWrites } from '../../src/store/foreign-writes.ts';
import { noteDocumentLook, sendDocument, settleDocument } from '../../src/store/hire-documents.ts';
import { claimStep } from '../../src/store/hire-steps.ts';
import { insertHires } from '../../src/store/hires.ts';
import type { Store } from '../../src/store/open-store.ts';
import { completeIds, erasePersonRows, findPersonRows, type Subject } from '../../src/store/person-data.ts';
import { insertPlan } from '../../src/store/plans.ts';
import { readTenantState, recordReconcile } from '../../src/store/tenant-states.ts';
import { giveNames } from '../../src/store/unique-names.ts';
import { employPerson } from '../activities/hire/employed-person.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { freshStore, kinds } from '../store/stores.ts';

test.each(kinds)(
  'somebody erased while a worker stood still after its create stays erased, with the store in %s',
  async (database) => {
    const { fleet, begin, employOnce, row, employees } = await employPerson({ database });
    const { store, deps } = fleet;
    const second = await begin();
    const candidates = [(await row(second))?.candidate_id ?? ''];
    const dataDir = await scratchFolder();
    let subject: Subject | undefined;
    let left: string[] | undefined;
    const erase = async (): Promise<void> => {
      const ids = { candidates, jobCandidates: [], enrolments: [], employees: [] };
      subject = await completeIds(store, 'acme', ids);
      const asked = await askErasure(store, { subject, by: 'ann', reason: 'request', employee: 'keep' });
      // As if the time that work under way may take were over.
      await store.kysely.updateTable('intents').set({ give_up_at: 1 }).execute();
      await store.kysely.updateTable('erasures').set({ quiet_at: 1 }).execute();
      const { log, limits } = deps;
      const nothing = async (): Promise<number> => 0;
      const forgetting = { forgetHire: nothing, forgetTenant: nothing };
      const erasing = { store, log, limits, dataDir, connect: async () => undefined, ...forgetting };
      left = (await carryOutErasure(erasing, asked.erasure_id))?.left;
    };
    const stalled = (hris: OwnHris): OwnHris => {
      const create: OwnHris['employees']['create'] = async (...given) => {
        const made = await hris.employees.create(...given);
        await erase();
        return made;
      };
      return { ...hris, employees: { ...hris.employees, create } };
    };
    await expect(employOnce(second, stalled)).rejects.toMatchObject({ code: 'HIRE_OVER' });
    if (subject === undefined) throw new Error('nothing was erased');
    expect(await findPersonRows(store, subject)).toEqual([]);
    // The receipt tells a person to look for the employee.
    expect(await employees()).toHaveLength(2);
    expect(left).toContainEqual(expect.stringMatching(/^create-employee was under way.*check in the HR system/));
  },
);

describe.each(kinds)('a worker that is late with somebody who was erased, in %s', (database) => {
  const ref = { tenantId: 'acme', jobCandidateId: '5012', period: 1 };
  const ids = { candidates: ['88'], jobCandidates: ['5012'], enrolments: [], employees: [] };
  const subject = { tenantId: 'acme', companies: [], ...ids };
  const known = async (): Promise<Store> => {
    const { store } = await freshStore(database);
    await readTenantState(store, 'acme');
    await insertHires(store, [{ ...ref, candidateId: '88', state: 'open' }]);
    return store;
  };
  /** All that is written of a hire. */
  const writesOf = (store: Store): [string, () => Promise<unknown>][] => {
    const change = { target: 'employee', recordId: '5012', period: 1, kind: 'create' as const };
    const write: NewWrite = { ...change, changes: { name: { new: 'Eva' } }, sensitive: [] };
    const origin = { tenantId: 'acme', runId: 'hire', mappingHash: null, by: 'hirebridge' };
    const name = { field: 'login', place: 'login', name: 'eva' };
    const document = { ...ref, document: 'resume' };
    return [
      ['a plan', () => insertPlan(store, ref, { mappingHash: 'm', change: { name: 'Eva' } })],
      ['a write', () => recordWrites(store, origin, [write])],
      ['two writes', () => recordWrites(store, origin, [write, { ...write, target: 'enrolment' }])],
      ['names', () => giveNames(store, 'hr', ref, { names: [name], before: new Map() })],
      ['a step', () => claimStep(store, { ...ref, destination: 'ad' }, { reference: 'eva', runId: 'r' })],
      ['a document', () => sendDocument(store, { ...document, sha256: 'x', runId: 'r' }, undefined, 1)],
      ['an outcome', () => settleDocument(store, { ...document, attempt: 1 }, { state: 'unlike', reason: 'Eva' })],
      ['a look', () => noteDocumentLook(store, ref, true)],
    ];
  };

  test('stores nothing about them', async () => {
    const store = await known();
    const places = async () => (await findPersonRows(store, subject)).map(({ place }) => place).toSorted();
    for (const [, write] of writesOf(store)) await write();
    const everywhere = ['foreign_writes', 'hire_documents', 'hire_steps', 'hires', 'plans', 'unique_names'];
    expect(await places()).toEqual(expect.arrayContaining(everywhere));
    await erasePersonRows(store, subject);
    for (const [what, write] of writesOf(store)) {
      const outcome = await write().catch((error: unknown) => error);
      if (isConnectorError(outcome)) expect([what, outcome.code]).toEqual([what, 'HIRE_BEHIND']);
      expect([what, await places()]).toEqual([what, []]);
    }
    for (const table of ['open_batches', 'document_looks'] as const)
      expect(await store.kysely.selectFrom(table).selectAll().execute()).toEqual([]);
  });

  test('raises no alarm that names them, and is no sign of a restored store', async () => {
    const store = await known();
    const deps = { store, log: createLogger('test') } as ActivityDeps;
    await recordReconcile(store, 'acme', true);
    await askErasure(store, { subject, by: 'ann', reason: 'request', employee: 'keep' });
    await erasePersonRows(store, subject);
    const failed = new ConnectorError({ code: 'REFUSED', action: 'reject', message: 'Refused.' });
    await noteFailure(deps, { name: 'enrol', input: ref, attempt: 3 }, failed);
    expect(await listAlarms(store)).toEqual([]);
    await expect(bindActivities(deps).hasEmployee(ref)).rejects.toMatchObject({ code: 'HIRE_BEHIND' });
    expect(await readTenantState(store, 'acme')).toMatchObject({ fully_reconciled_at: expect.any(Number) });
  });

  test('stays, with all of it, where a legal hold was put at the last moment', async () => {
    const store = await known();
    await insertPlan(store, ref, { mappingHash: 'm', change: { name: 'Eva' } });
    const held = (open: Store) => assertNotHeld(open, subject);
    await changeLegalHold({ store, tenantId: 'acme', by: 'ann' }, [{ kind: 'candidate', id: '88' }], {
      reason: 'case 7',
    });
    await expect(erasePersonRows(store, subject, held)).rejects.toMatchObject({ code: 'LEGAL_HOLD' });
    expect((await findPersonRows(store, subject)).map(({ place }) => place)).toEqual(expect.arrayContaining(['plans']));
  });
});
