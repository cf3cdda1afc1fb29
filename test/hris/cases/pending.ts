import { expect } from 'vitest';
import { type HrisCase, type HrisUnderTest, power, settled } from '../hris-case.ts';
import { created, refusal, signal, write } from '../profile.ts';

/** Creates that somebody over there finishes. */
export const pending: readonly HrisCase[] = [
  { name: 'pending, resolved later', needs: ['pending', 'job'], run: resolves },
  { name: 'pending, rejected later', needs: ['pending', 'job'], run: isRejected },
  { name: 'pending, rejected later, and created once corrected', needs: ['pending', 'job'], run: isCorrected },
  { name: 'pending, never resolved', needs: ['pending', 'job'], run: neverResolves },
];

async function begin({ adapter, profile }: HrisUnderTest, tag: string): Promise<string> {
  const result = await adapter.employees.create(profile.employee(tag), `27:${tag}`, write);
  if (result.kind !== 'pending') throw new Error('expected a pending create');
  expect(result.nextCheckMs).toBeGreaterThan(0);
  return result.ticket;
}

/** Either connection may ask: what is pending stands over there, not in our process. */
async function resolves(hris: HrisUnderTest): Promise<void> {
  const ticket = await begin(hris, 'resolved');
  expect(await hris.adapter.pending?.resolve(ticket, signal)).toMatchObject({ kind: 'pending', ticket });
  await power(hris, 'job').finish(ticket);
  const resolved = await hris.second.pending?.resolve(ticket, signal);
  expect(created(resolved ?? { kind: 'pending', ticket, nextCheckMs: 0 }).number).toMatch(hris.profile.number);
}

async function isRejected(hris: HrisUnderTest): Promise<void> {
  const ticket = await begin(hris, 'rejected');
  await refuse(hris, ticket);
  const found = await hris.second.employees.find({ by: 'reference', value: '27:rejected' }, signal);
  expect(found).toEqual({ kind: 'none', trusted: true });
}

async function refuse(hris: HrisUnderTest, ticket: string): Promise<void> {
  await power(hris, 'job').refuse(ticket);
  const refused = await refusal(Promise.resolve(hris.adapter.pending?.resolve(ticket, signal)));
  expect(refused).toMatchObject({ code: 'HIRE_REJECTED', action: 'reject' });
}

async function isCorrected(hris: HrisUnderTest): Promise<void> {
  const { adapter, profile } = hris;
  await refuse(hris, await begin(hris, 'corrected'));
  const corrected = profile.employee('corrected', profile.edit);
  const again = await adapter.employees.create(corrected, '27:corrected', write);
  const waiting = again.kind === 'pending' ? again.ticket : '';
  expect(await hris.second.pending?.resolve(waiting, signal)).toMatchObject({ kind: 'pending' });
  const ref = await settled(hris, adapter, again);
  expect(await adapter.employees.read(ref.id, signal)).toMatchObject({ ref, fields: corrected });
  const found = await adapter.employees.find({ by: 'email', value: String(corrected['email']) }, signal);
  expect(found).toEqual({ kind: 'one', ref, by: 'email' });
}

async function neverResolves(hris: HrisUnderTest): Promise<void> {
  const ticket = await begin(hris, 'never');
  for (let n = 0; n < 3; n += 1)
    expect(await hris.second.pending?.resolve(ticket, signal)).toMatchObject({ kind: 'pending', ticket });
}
