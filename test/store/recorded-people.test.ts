import type { Kysely } from 'kysely';
import { describe, expect, test } from 'vitest';
import { endHire } from '../../src/store/hire-states.ts';
import { insertHires, latestHire } from '../../src/store/hires.ts';
import {
  claimOfPerson,
  linkEmployee,
  moveClaim,
  recordPeople,
  releaseClaim,
  takeClaim,
} from '../../src/store/identity.ts';
import { isClaimed } from '../../src/store/imported-links.ts';
import { up } from '../../src/store/migrations/0034-recorded-people.ts';
import { freshStore, kinds } from './stores.ts';

const ref = (jobCandidateId: string, period = 1) => ({ tenantId: 'acme', jobCandidateId, period });
const person = { connection: 'hr', partnerCompany: '17', candidateId: '88' };
const baseline = { how: 'baseline', ...ref('1') } as const;
const FILE = 'tenant: acme\npartner: { company: "17" }\nhris: { kind: sql, connection: hr }\n';

describe.each(kinds)('somebody who was hired without us, in %s', (kind) => {
  test('is known after an upgrade as whoever a baseline recorded, and nobody else is', async () => {
    const { store } = await freshStore(kind);
    const { kysely } = store;
    for (const column of ['how', 'recorded']) await kysely.schema.alterTable('claims').dropColumn(column).execute();
    await kysely.insertInto('tenants').values({ tenant_id: 'acme', state: 'active', file: FILE }).execute();
    await kysely.insertInto('tenants').values({ tenant_id: 'seen', state: 'active' }).execute();
    await insertHires(store, [
      { ...ref('1'), state: 'before-go-live', candidateId: '88' },
      { ...ref('2'), state: 'before-go-live', candidateId: '88' },
      { ...ref('3'), state: 'before-go-live', candidateId: '89' },
      { ...ref('4'), state: 'open', candidateId: '90' },
      { ...ref('5'), state: 'before-go-live', candidateId: null },
      { ...ref('6'), state: 'open', candidateId: '91' },
      { ...ref('1'), tenantId: 'seen', state: 'before-go-live', candidateId: '92' },
    ]);
    await kysely.updateTable('hires').set({ state: 'left' }).where('job_candidate_id', '=', '3').execute();
    await endHire(store, ref('6'), 'left');
    await up(kysely as Kysely<unknown>);
    const claims = await kysely.selectFrom('claims').selectAll().orderBy('candidate_id').execute();
    expect(claims).toMatchObject([
      { candidate_id: '88', connection: 'hr', partner_company: '17', job_candidate_id: '1', how: 'baseline' },
      { candidate_id: '89', job_candidate_id: '3', how: 'baseline' },
    ]);
    expect(JSON.parse(claims[0]?.recorded ?? '')).toEqual(baseline);
  });

  test('is taken by the hire that somebody decided on, and known again once it ends without an employee', async () => {
    const { store } = await freshStore(kind);
    await insertHires(store, [{ ...ref('2'), state: 'open', candidateId: '88' }]);
    await recordPeople(store, [
      { person, as: baseline },
      { person, as: { ...baseline, jobCandidateId: '3' } },
    ]);
    await recordPeople(store, [{ person, as: { ...baseline, how: 'observed' } }]);
    expect(await isClaimed(store, person)).toBe(false);
    expect(await takeClaim(store, person, ref('2'))).toMatchObject({ mine: false, claim: { how: 'baseline' } });
    const { claim } = (await takeClaim(store, person, ref('2'))) ?? {};
    await moveClaim(store, person, ref(claim?.job_candidate_id ?? ''), ref('2'));
    expect(await takeClaim(store, person, ref('2'))).toMatchObject({ mine: true, claim: { how: null } });
    await releaseClaim(store, ref('2'));
    expect(await claimOfPerson(store, person)).toMatchObject({ how: 'baseline', recorded: claim?.recorded });
  });

  test('who is held by a hire already stays so, and is known to have been recorded', async () => {
    const { store } = await freshStore(kind);
    await insertHires(store, [{ ...ref('2'), state: 'open', candidateId: '88' }]);
    await takeClaim(store, person, ref('2'));
    await linkEmployee(store, person, ref('2'), { id: '7', number: null });
    await recordPeople(store, [{ person, as: baseline }]);
    expect(await claimOfPerson(store, person)).toMatchObject({ how: null, job_candidate_id: '2' });
    expect(JSON.parse((await claimOfPerson(store, person))?.recorded ?? '')).toEqual(baseline);
    expect(await latestHire(store, 'acme', '2')).toMatchObject({ state: 'open' });
  });
});
