import { expect } from 'vitest';
import { type HrisCase, type HrisUnderTest, power } from '../hris-case.ts';
import { created, refusal, signal, write } from '../profile.ts';

/** Creates that somebody over there finishes. */
export const pending: readonly HrisCase[] = [
  { name: 'pending, resolved later', needs: ['pending', 'job'], run: resolves },
  { name: 'pending, rejected later', needs: ['pending', 'job'], run: isRejected },
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
  await power(hris, 'job').refuse(ticket);
  const refused = await refusal(Promise.resolve(hris.adapter.pending?.resolve(ticket, signal)));
  expect(refused).toMatchObject({ action: 'reject' });
}

async function neverResolves(hris: HrisUnderTest): Promise<void> {
  const ticket = await begin(hris, 'never');
  for (let n = 0; n < 3; n += 1)
    expect(await hris.second.pending?.resolve(ticket, signal)).toMatchObject({ kind: 'pending', ticket });
}
