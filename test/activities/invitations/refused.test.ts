import { expect, test } from 'vitest';
import { readQuarantine } from '../../../src/store/quarantine.ts';
import { invitationWorld } from './invitation-world.ts';

const key = { tenantId: 'acme', stream: 'invitations' };

test('an assessment that the key may not use stops no other rule, and is told until it may', async () => {
  const denied = '00000000-0000-4000-8000-00000000beef';
  const { run, invited, applied, hint, store, partnerSays, sandbox } = await invitationWorld({
    before: [{ assessment: denied }],
  });
  const people = (await applied()).map(({ jobCandidateDetails: { id } }) => id);
  partnerSays.refuses = (operation, input) =>
    operation === 'assessments.inviteBulk' && JSON.stringify(input).includes(denied)
      ? [403, 'ACCESS_DENIED']
      : undefined;
  const both = { created: people.length, quarantined: people.length };
  expect(await run('one')).toMatchObject({ state: 'partial', counts: both });
  await sandbox.later();
  expect((await invited()).people).toBe(people.length);
  // A run about one person says nothing about the others.
  await hint(people.slice(0, 1));
  expect(await run('two', { hinted: true })).toMatchObject({ state: 'partial', counts: { created: 0 } });
  const told = await readQuarantine(store, key);
  expect(told).toHaveLength(people.length);
  expect(told[0]?.reason).toContain('ACCESS_DENIED');
});

test.each([409, 410, 422])(
  'of a request that is answered %i for one person, the others are invited',
  async (status) => {
    const { run, invited, applied, store, partnerSays, sandbox } = await invitationWorld();
    const [bad, ...others] = (await applied()).map(({ jobCandidateDetails: { id } }) => Number(id));
    partnerSays.refuses = (operation, input) =>
      operation === 'assessments.inviteBulk' && JSON.stringify(input).includes(`${bad},`)
        ? [status, 'NOT_NOW']
        : undefined;
    expect(await run('one')).toMatchObject({ state: 'partial', counts: { created: others.length, quarantined: 1 } });
    await sandbox.later();
    expect((await invited()).people).toBe(others.length);
    expect((await readQuarantine(store, key))[0]?.reason).toContain('NOT_NOW');
  },
);

test.each([
  ['an assessment', { assessment: '0a1b2c3d-0000-4000-8000-00000000dead' }],
  ['a flow', { flow: 987_654, moveTo: 'SCREEN' }],
])('%s that the partner does not show stops no other rule, and a person is told', async (_what, gone) => {
  const { run, applied, invited, rows, store, sandbox } = await invitationWorld({ candidates: 60, before: [gone] });
  const people = await applied();
  await run('one');
  await sandbox.later();
  await run('two');
  expect((await invited()).people).toBe(people.length);
  const others = (await rows()).filter(({ state }) => state !== 'invited');
  expect(new Set(others.map(({ state }) => state))).toEqual(new Set(['absent']));
  const told = await readQuarantine(store, { tenantId: 'acme', stream: 'invitations' });
  expect(told.length).toBe(people.length);
  expect(told.every(({ reason }) => /shows no such (assessment|flow): correct the rule/.test(reason))).toBe(true);
});
