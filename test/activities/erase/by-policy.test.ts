import { describe, expect, test } from 'vitest';
import { followPrivacy } from '../../../activities/erase/by-policy.ts';
import type { Places } from '../../../src/config.ts';
import { withTenant } from '../../../src/operator/open-tenant.ts';
import { decideDue, holdPerson, listDue } from '../../../src/operator/person.ts';
import { openErasures } from '../../../src/store/erasures.ts';
import type { Store } from '../../../src/store/open-store.ts';
import type { Subject } from '../../../src/store/person-data.ts';
import { dueCases, noteCases } from '../../../src/store/privacy-cases.ts';
import { countTenantRows } from '../../../src/store/tenant-rows.ts';
import { readTenantState } from '../../../src/store/tenant-states.ts';
import { writeFailpoints } from '../../../src/store/write-failpoints.ts';
import { seedEverywhere } from '../../store/seeded-person.ts';
import { freshStore, kinds } from '../../store/stores.ts';
import { failpoints, Killed } from '../killable.ts';
import { openPullWorld } from '../streams/pull-world.ts';

const GONE = { tenantId: 'acme', cause: 'gone' } as const;

/** Candidates of a sandbox over HTTP who landed, and a tenant with this policy. */
async function landedPeople(policies: string) {
  const played = await openPullWorld('{ candidates: { every: 1h } }', { candidates: 12, jobs: 1 });
  await played.edit((text) => text.replace('policies:\n', `policies:\n${policies}`));
  await played.pull('full');
  const { world } = played;
  const places = { tenantsDir: world.tenantsDir, dataDir: world.dataDir } as Places;
  const round = (store: Store): Promise<void> =>
    withTenant({ store, places, tenantId: 'acme' }, ({ deps }) =>
      followPrivacy(deps, 'acme', new AbortController().signal),
    );
  const remove = (ids: readonly string[]) => world.control.act('deleteCandidate', { candidateIds: ids.map(Number) });
  return { ...played, places, round, remove, ids: [...played.rows().keys()] };
}

/** A day passes. */
async function passDay({ kysely }: Store): Promise<void> {
  await kysely.updateTable('privacy_cases').set({ due_at: 1 }).execute();
}

async function erasing(store: Store): Promise<string[]> {
  const rows = await openErasures(store);
  return rows.flatMap(({ subject }) => (JSON.parse(subject) as Subject).candidates).toSorted();
}

test('who is gone is erased after two passes, a day and a read that shows others; an outage erases nobody', async () => {
  const policy = '  privacy: { gone: erase }\n';
  const { store, pull, round, remove, ids, rows, calls } = await landedPeople(policy);
  const [gone = '', back = ''] = ids;
  expect(await listDue({ store, tenantId: 'acme' })).toEqual([]);
  await remove([gone]);
  await pull('full');
  expect(await listDue({ store, tenantId: 'acme' })).toEqual([]);
  await pull('full');
  expect(await listDue({ store, tenantId: 'acme' })).toMatchObject([{ candidate: gone, cause: 'gone', state: 'due' }]);
  expect(rows().get(gone)?.['gone_at']).not.toBeNull();
  await pull('full');
  const before = await calls('candidates.bulkFetch');
  await round(store);
  expect(await calls('candidates.bulkFetch')).toBe(before);
  expect(await openErasures(store)).toEqual([]);

  // Missed, and there after all.
  await noteCases(store, GONE, [back]);
  await passDay(store);
  await round(store);
  expect((await calls('candidates.bulkFetch')) - before).toBe(1);
  expect(await erasing(store)).toEqual([gone]);
  expect(await openErasures(store)).toMatchObject([
    { by: 'policy', reason: 'policies.privacy.gone', employee: 'keep', tenant_id: 'acme' },
  ]);
  expect(await listDue({ store, tenantId: 'acme' })).toEqual([]);
  expect(rows().get(back)).toMatchObject({ gone_at: null });

  // From now on the partner shows nobody at all.
  await remove(ids.slice(1));
  await noteCases(store, GONE, [back]);
  await passDay(store);
  await round(store);
  expect(await erasing(store)).toEqual([gone]);
  expect(await listDue({ store, tenantId: 'acme' })).toMatchObject([{ state: 'due', why: 'unconfirmed' }]);
});

describe.each(kinds)('on %s', (kind) => {
  test('more than the limit, a hire under way and a legal hold wait for a person', async () => {
    const limits = '  privacy: { gone: erase }\n  changeLimits: { erasuresPerHour: 2 }\n';
    const { round, remove, ids, places } = await landedPeople(limits);
    const { store } = await freshStore(kind);
    await readTenantState(store, 'acme');
    const parts = { store, places, tenantId: 'acme', by: 'ann' };
    const [hired = '', held = '', third = ''] = ids;
    await remove([hired, held, third]);
    await noteCases(store, GONE, [hired, held, third]);
    await passDay(store);
    await round(store);
    expect(await openErasures(store)).toEqual([]);
    expect(await listDue(parts)).toMatchObject(Array(3).fill({ state: 'asked', why: 'limit' }));

    await expect(decideDue(parts, '999', 'keep')).rejects.toMatchObject({ code: 'NOBODY_WAITS' });
    expect(await decideDue(parts, third, 'keep')).toBe(1);
    await holdPerson(parts, `candidate:${held}`, { reason: 'case 12' });
    expect(await decideDue(parts, held, 'erase')).toBe(1);
    const person = { tenant: 'acme', candidate: hired, application: '9501', enrolment: '7501', employee: '31' };
    await seedEverywhere(store, person);
    await store.kysely.deleteFrom('privacy_cases').where('candidate_id', '=', hired).execute();
    await store.kysely.updateTable('hires').set({ state: 'open' }).execute();
    await noteCases(store, GONE, [hired]);
    await passDay(store);
    await round(store);
    expect(await openErasures(store)).toEqual([]);
    const why = new Map((await listDue(parts)).map((one) => [one.candidate, `${one.state} ${one.why}`]));
    expect(why).toEqual(
      new Map([
        [hired, 'asked hire-open'],
        [held, 'allowed legal-hold'],
        [third, 'kept limit'],
      ]),
    );
    await holdPerson(parts, `candidate:${held}`, { release: true });
    expect(await decideDue(parts, 'all', 'erase')).toBe(1);
    await passDay(store);
    await round(store);
    expect(await erasing(store)).toEqual([hired, held].toSorted());
    await noteCases(store, GONE, [third]);
    expect(await dueCases(store, 'acme')).toEqual([]);
  });

  test('killed at any write, it erases each person once, and a second round writes nothing', async () => {
    const points = failpoints();
    const { remove, ids, places } = await landedPeople('  privacy: { gone: erase }\n');
    // Calls wait where their permits cannot be noted: no death of this process.
    const pass = (name: string): void => (name.includes('rate_limits') ? undefined : points.pass(name));
    const { store, other } = await freshStore(kind, { plugins: [writeFailpoints(pass)] });
    await readTenantState(store, 'acme');
    const gone = ids.slice(0, 2).toSorted();
    await remove(gone);
    await withTenant({ store, places, tenantId: 'acme' }, async ({ deps }) => {
      const round = (): Promise<void> => followPrivacy(deps, 'acme', new AbortController().signal);
      let kills = 0;
      for (let nth = 1; ; nth += 1) {
        for (const table of ['privacy_cases', 'erasures', 'person_marks'] as const)
          await other.kysely.deleteFrom(table).execute();
        await noteCases(other, GONE, gone);
        await passDay(other);
        points.arm(nth);
        const died = await round().catch((error: unknown) => error);
        if (died === undefined) break;
        expect(died).toBeInstanceOf(Killed);
        kills += 1;
        await round();
        expect(await erasing(other), `killed at ${nth}`).toEqual(gone);
        expect(await dueCases(other, 'acme')).toEqual([]);
      }
      expect(kills).toBeGreaterThan(4);
      const before = await countTenantRows(other, 'acme');
      points.arm(0);
      await round();
      expect(points.arm(0)).toEqual([]);
      expect(await countTenantRows(other, 'acme')).toEqual(before);
    });
  });
});
