import { expect, onTestFinished, test } from 'vitest';
import { contract } from '../../src/partner/contract/index.ts';
import { insertHires } from '../../src/store/hires.ts';
import { startWorld } from '../harness/world.ts';
import { addTenant, openConsole } from './open-console.ts';

test('a hire is found by a name that the hiring platform is asked for, and the words are not kept', async () => {
  const world = await startWorld({ temporalAddress: '127.0.0.1:1' });
  onTestFinished(() => world.close());
  const [one, two] = await world.applicants();
  const id = String(one?.jobCandidateId);
  const { items } = await world.partner.readAll(contract.candidates.list);
  const person = items.find((item) => String(item.id) === String(one?.candidateId));
  const words = `${person?.lastName} ${person?.firstName}`;
  const { store, signIn } = await openConsole(world);
  await addTenant(store, 'acme', null);
  const hire = { tenantId: 'acme', period: 1, state: 'open' } as const;
  await insertHires(store, [
    { ...hire, jobCandidateId: id, candidateId: String(one?.candidateId) },
    { ...hire, jobCandidateId: String(two?.jobCandidateId), candidateId: String(two?.candidateId) },
  ]);
  await store.kysely
    .updateTable('hires')
    .set({ employee_number: '000126' })
    .where('job_candidate_id', '=', id)
    .execute();
  const visitor = await signIn();
  expect((await visitor.get('/hires?tenant=acme')).text).toContain('action="/people/acme"');
  const found = async (given: string): Promise<(string | undefined)[]> => {
    const answer = await visitor.post('/people/acme', { words: given });
    const text = await answer.text();
    expect([answer.status, answer.url, text]).toEqual([
      200,
      `${new URL(answer.url).origin}/people/acme`,
      expect.not.stringContaining(person?.lastName ?? ''),
    ]);
    return [...text.matchAll(/<th scope="row"><a href="\/hires\/acme\/(\d+)"/g)].map(([, hire]) => hire);
  };
  expect(await found(words.toUpperCase())).toEqual([id]);
  expect(await found(String(person?.email))).toEqual([id]);
  expect(await found('000126')).toEqual([id]);
  expect(await found(`${person?.firstName} Nobody-of-that-name`)).toEqual([]);
  expect(await found('a')).toEqual([]);
  const looks = await store.kysely.selectFrom('audit').select(['act', 'details']).where('act', '=', 'looked').execute();
  expect(looks).toEqual(Array.from({ length: 5 }, () => ({ act: 'looked', details: 'hires by a name or number' })));
});
