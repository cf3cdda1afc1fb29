import { expect, test } from 'vitest';
import { carryOutErasure } from '../../activities/erase/carry-out.ts';
import type { OwnHris } from '../../activities/own-hris.ts';
import { askErasure } from '../../src/store/erasures.ts';
import { completeIds, findPersonRows, type Subject } from '../../src/store/person-data.ts';
import { employPerson } from '../activities/hire/employed-person.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { kinds } from '../store/stores.ts';

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
