import { describe, expect, test } from 'vitest';
import { followPrivacy } from '../../../activities/erase/by-policy.ts';
import type { Places } from '../../../src/config.ts';
import { withTenant } from '../../../src/operator/open-tenant.ts';
import { decideDue, holdPerson, listDue } from '../../../src/operator/person.ts';
import { openErasures } from '../../../src/store/erasures.ts';
import { type Store, writeFailpoints } from '../../../src/store/open-store.ts';
import type { Subject } from '../../../src/store/person-data.ts';
import { dueCases, noteCases } from '../../../src/store/privacy-cases.ts';
import { countTenantRows } from '../../../src/store/tenant-rows.ts';
import { readTenantState } from '../../../src/store/tenant-states.ts';
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

test('who is gone is erased after two passes, a day and a read of others; an outage erases nobody', async () => {
  const { store, pull, edit, round, remove, ids, rows, calls } = await landedPeople('  privacy: { gone: mark }\n');
  const due = () => listDue({ store, tenantId: 'acme' });
  const [before = '', gone = '', back = ''] = ids;
  await remove([before]);
  for (const _pass of [1, 2]) await pull('full');
  expect(rows().get(before)?.['gone_at']).not.toBeNull();
  expect(await due()).toEqual([]);

  await edit((text) => text.replace('gone: mark', 'gone: erase'));
  await remove([gone]);
  await pull('full');
  expect(await due()).toMatchObject([{ candidate: before, cause: 'gone', state: 'due' }]);
  for (const _pass of [2, 3]) await pull('full');
  expect((await due()).map(({ candidate }) => candidate).toSorted()).toEqual([before, gone].toSorted());
  expect(rows().get(gone)?.['gone_at']).not.toBeNull();
  const reads = await calls('candidates.bulkFetch');
  await round(store);
  expect(await calls('candidates.bulkFetch')).toBe(reads);
  expect(await openErasures(store)).toEqual([]);

  // Missed, and there after all.
  await noteCases(store, GONE, [back]);
  await passDay(store);
  await round(store);
  expect((await calls('candidates.bulkFetch')) - reads).toBe(1);
  expect(await erasing(store)).toEqual([before, gone].toSorted());
  const erasure = { by: 'policy', reason: 'policies.privacy.gone', employee: 'keep', tenant_id: 'acme' };
  expect(await openErasures(store)).toMatchObject([erasure, erasure]);
  expect(await due()).toEqual([]);
  expect(rows().get(back)).toMatchObject({ gone_at: null });

  // From now on the partner shows nobody at all.
  await remove(ids.slice(2));
  await noteCases(store, GONE, [back]);
  await passDay(store);
  await round(store);
  expect(await due()).toMatchObject([{ state: 'due', why: 'unconfirmed' }]);
  await store.kysely.updateTable('privacy_cases').set({ since: 1, due_at: 1 }).execute();
  await round(store);
  expect(await due()).toMatchObject([{ state: 'asked', why: 'unconfirmed' }]);
  expect(await erasing(store)).toHaveLength(2);

  await edit((text) => text.replace('gone: erase', 'gone: mark'));
  await passDay(store);
  await round(store);
  expect(await due()).toEqual([]);
});

describe.each(kinds)('on %s', (kind) => {
  test('more than the limit, a hire under way and a legal hold wait for a person', async () => {
    const limits = '  privacy: { gone: erase }\n  changeLimits: { erasuresPerHour: 1 }\n';
    const { round, remove, ids, places } = await landedPeople(limits);
    const { store } = await freshStore(kind);
    await readTenantState(store, 'acme');
    const parts = { store, places, tenantId: 'acme', by: 'ann' };
    const due = async () => new Map((await listDue(parts)).map((one) => [one.candidate, `${one.state} ${one.why}`]));
    // The first five would be asked for as witnesses, and are gone themselves.
    const kept = ids.toSorted().slice(0, 5);
    const [hired = '', held = '', third = ''] = ids.toSorted().slice(5);
    await remove([...kept, hired, held, third]);
    await noteCases(store, GONE, kept);
    await store.kysely.updateTable('privacy_cases').set({ state: 'kept' }).execute();
    const person = { tenant: 'acme', candidate: hired, application: '9501', enrolment: '7501', employee: '31' };
    await seedEverywhere(store, person);
    await store.kysely.deleteFrom('privacy_cases').where('candidate_id', '=', hired).execute();
    await store.kysely.updateTable('hires').set({ state: 'open' }).execute();
    await noteCases(store, GONE, [hired, held, third]);
    await passDay(store);
    await round(store);
    expect(await openErasures(store)).toEqual([]);
    const others = kept.map((id) => [id, 'kept null'] as const);
    expect(await due()).toEqual(
      new Map([...others, [hired, 'asked hire-open'], [held, 'asked limit'], [third, 'asked limit']]),
    );

    await expect(decideDue(parts, '999', 'keep')).rejects.toMatchObject({ code: 'NOBODY_WAITS' });
    expect(await decideDue(parts, third, 'keep')).toBe(1);
    await holdPerson(parts, `candidate:${held}`, { reason: 'case 12' });
    // Whose hire is under way is decided about alone.
    expect(await decideDue(parts, 'all', 'erase')).toBe(1);
    await passDay(store);
    await round(store);
    expect(await openErasures(store)).toEqual([]);
    expect(await due()).toEqual(
      new Map([...others, [hired, 'asked hire-open'], [held, 'allowed legal-hold'], [third, 'kept limit']]),
    );
    await holdPerson(parts, `candidate:${held}`, { release: true });
    expect(await decideDue(parts, hired, 'erase')).toBe(1);
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
