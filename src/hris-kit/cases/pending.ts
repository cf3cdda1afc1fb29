import { expectFit } from '../expect.ts';
import {
  create,
  emailOf,
  type HrisCase,
  type HrisUnderTest,
  offers,
  power,
  referenceOf,
  refusal,
  settled,
  signal,
} from '../hris-under-test.ts';

/** Creates that somebody on the HRIS's side finishes. */
export const pending: readonly HrisCase[] = [
  { name: 'pending, resolved later', needs: ['pending', 'finished'], run: resolves },
  { name: 'pending, rejected later', needs: ['pending', 'job'], run: isRejected },
  {
    name: 'pending, rejected later, and created once corrected',
    needs: ['pending', 'job'],
    run: isCorrected,
  },
  { name: 'pending, never resolved', needs: ['pending', 'job'], run: neverResolves },
];

async function begin(hris: HrisUnderTest, tag: string): Promise<string> {
  const result = await create(hris, tag);
  if (result.kind !== 'pending') throw new Error('expected a pending create');
  if (result.nextCheckMs <= 0) throw new Error('a pending create must say when to ask again');
  return result.ticket;
}

/** Either connection may ask: the pending create is stored in the HRIS, not in our process. */
async function resolves(hris: HrisUnderTest): Promise<void> {
  const ticket = await begin(hris, 'resolved');
  const asked = await hris.adapter.pending?.resolve(ticket, signal);
  if (offers(hris, 'job')) expectFit(asked, { kind: 'pending', ticket }, 'what became of it');
  const ref = await settled(hris, hris.second, { kind: 'pending', ticket, nextCheckMs: 0 });
  if (hris.profile.number !== undefined) expectFit(ref.number, hris.profile.number, 'the number');
}

async function isRejected(hris: HrisUnderTest): Promise<void> {
  await refuse(hris, await begin(hris, 'rejected'));
  if (!offers(hris, 'reference')) return;
  const found = await hris.second.employees.find({ by: 'reference', value: referenceOf(hris, 'rejected') }, signal);
  expectFit(found, { kind: 'none', trusted: true }, 'who is found');
}

async function refuse(hris: HrisUnderTest, ticket: string): Promise<void> {
  await power(hris, 'job').refuse(ticket);
  const refused = await refusal(Promise.resolve(hris.adapter.pending?.resolve(ticket, signal)));
  expectFit(refused, { code: 'HIRE_REJECTED', action: 'reject' }, 'the refusal');
}

async function isCorrected(hris: HrisUnderTest): Promise<void> {
  const { adapter, profile } = hris;
  await refuse(hris, await begin(hris, 'corrected'));
  const fields = profile.employee('corrected', profile.edit);
  const again = await create(hris, 'corrected', { fields: profile.edit });
  const waiting = again.kind === 'pending' ? again.ticket : '';
  expectFit(await hris.second.pending?.resolve(waiting, signal), { kind: 'pending' }, 'what became of it');
  const ref = await settled(hris, adapter, again);
  expectFit(await adapter.employees.read(ref.id, signal), { ref, fields }, 'the employee');
  if (!offers(hris, 'emails')) return;
  const found = await adapter.employees.find({ by: 'email', value: emailOf(hris, 'corrected') }, signal);
  expectFit(found, { kind: 'one', ref, by: 'email' }, 'who is found');
}

async function neverResolves(hris: HrisUnderTest): Promise<void> {
  const ticket = await begin(hris, 'never');
  for (let n = 0; n < 3; n += 1)
    expectFit(await hris.second.pending?.resolve(ticket, signal), { kind: 'pending', ticket }, 'what became of it');
}
