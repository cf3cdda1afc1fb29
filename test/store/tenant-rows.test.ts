import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type KyselyPlugin, sql, type TableMetadata } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { holdOf } from '../../src/hire/holds.ts';
import { applyDefinitions, removeTenant } from '../../src/store/applied-tenants.ts';
import { STORE_PLACES } from '../../src/store/data-map.ts';
import { eraseRestored } from '../../src/store/erase-restored.ts';
import { askTenantErasure, type ErasureReceipt, forgetBytes, openErasures } from '../../src/store/erasures.ts';
import { insertHires } from '../../src/store/hires.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { EVERYBODY, markPerson, unmarkPerson } from '../../src/store/person-marks.ts';
import { findPerson, recordPeople } from '../../src/store/persons.ts';
import { countTenantRows, endTenantErasure, eraseTenantRows } from '../../src/store/tenant-rows.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import { who } from './known-people.ts';
import { freshStore, freshStoreUrl, kinds, unguardAudit } from './stores.ts';

const definition = (tenantId: string) => ({
  tenantId,
  file: `/${tenantId}.yaml`,
  files: { [`/${tenantId}.yaml`]: `canary-${tenantId}-file` },
  receives: { webhooks: 'off' as const, webhookKeys: [] },
  over: null,
  changes: [],
});

let known: Promise<TableMetadata[]> | undefined;

/** Both databases have the same tables, and SQLite tells of them quickly. */
function tables(): Promise<TableMetadata[]> {
  known ??= freshStore('sqlite').then(({ store }) => store.kysely.introspection.getTables());
  return known;
}

/** A row of the tenant in each table that has a tenant, a canary in every text of it. */
async function fillEveryTable(store: Store, tenant: string): Promise<string[]> {
  await applyDefinitions(store, [definition(tenant)], `canary-${tenant}-applier`);
  const filled: string[] = ['tenants'];
  for (const { name, columns } of await tables()) {
    if (!columns.some((column) => column.name === 'tenant_id') || name === 'tenants' || name === 'erasures') continue;
    if (name === 'person_marks' || name === 'hire_counts') continue;
    const row = columns.flatMap(({ name: column, dataType, isNullable, isAutoIncrementing }): [string, unknown][] => {
      if (column === 'tenant_id') return [[column, tenant]];
      if (isAutoIncrementing || (name === 'persons' && column === 'recorded')) return [];
      if (/int|num/i.test(dataType)) return isNullable ? [] : [[column, 1]];
      return [[column, `canary-${tenant}-${name}-${column}`]];
    });
    const values = Object.fromEntries(row) as Record<string, unknown>;
    if (name === 'person_keys') values['person_id'] = `canary-${tenant}-persons-person_id`;
    if (name === 'audit') values['act'] = 'linked';
    await sql`insert into ${sql.table(name)} (${sql.join(Object.keys(values).map((one) => sql.ref(one)))})
      values (${sql.join(Object.values(values))})`.execute(store.kysely);
    filled.push(name);
  }
  const plan = `canary-${tenant}-saved_plans-plan_hash`;
  const record = { plan_hash: plan, record_id: `canary-${tenant}-record`, change: '{}', state: 'planned' } as const;
  await store.kysely.insertInto('saved_plan_records').values(record).execute();
  return filled;
}

async function dump(store: Store, tenant: string): Promise<string[]> {
  const rows: string[] = [];
  for (const table of Object.keys(STORE_PLACES)) {
    if (table.startsWith('kysely')) continue;
    const all = await sql<object>`select * from ${sql.table(table)}`.execute(store.kysely);
    rows.push(...all.rows.map((row) => `${table} ${JSON.stringify(row)}`));
  }
  return rows.filter((row) => row.includes(tenant)).toSorted();
}

function receiptOf(store: Store): Promise<ErasureReceipt> {
  return store.kysely
    .selectFrom('erasures')
    .select('receipt')
    .executeTakeFirstOrThrow()
    .then(({ receipt }) => JSON.parse(receipt ?? '{}') as ErasureReceipt);
}

const ASKED = { tenantId: 'acme', by: 'ann', reason: 'end of contract', landing: 'keep' } as const;

describe.each(kinds)('all of a tenant, on %s', (kind) => {
  test("leaves other tenants' questions without the hires that they named", async () => {
    const { store } = await freshStore(kind);
    const ask = (hold_id: string, tenantId: string) => {
      const other = { tenantId, jobCandidateId: '9501', period: 1 };
      const { code, message, details } = holdOf('PERSON_HIRED_ELSEWHERE', { jobCandidateId: '77', other });
      const row = { hold_id, tenant_id: 'beta', job_candidate_id: '77', period: 1, code, message, answers: '[]' };
      const values = { ...row, period: hold_id === 'theirs' ? 1 : 2, details: JSON.stringify(details), opened_at: 1 };
      return store.kysely.insertInto('holds').values(values).execute();
    };
    await ask('theirs', 'acme');
    await ask('of-another', 'gamma');
    expect(await countTenantRows(store, 'acme')).toEqual([{ place: 'holds', count: 1 }]);
    await eraseTenantRows(store, 'acme');
    expect(await countTenantRows(store, 'acme')).toEqual([]);
    const left = await store.kysely.selectFrom('holds').select(['hold_id', 'message']).orderBy('hold_id').execute();
    expect(left).toMatchObject([
      { hold_id: 'of-another', message: expect.stringContaining('job candidate 9501 of tenant gamma') },
      { hold_id: 'theirs', message: expect.stringContaining('77 is also an erased hire of tenant acme') },
    ]);
  });

  test('no table is emptied from the moment that a legal hold stands', async () => {
    const { store, other } = await freshStore(kind);
    await fillEveryTable(store, 'acme');
    const held = { tenantId: 'acme', mark: 'legal-hold', by: 'law', about: 'case 12' } as const;
    await markPerson(other, held, EVERYBODY);
    await expect(eraseTenantRows(store, 'acme')).rejects.toMatchObject({ code: 'LEGAL_HOLD' });
    expect((await countTenantRows(store, 'acme')).map(({ place }) => place)).toContain('hires');
    await unmarkPerson(other, 'acme', EVERYBODY);
    await eraseTenantRows(store, 'acme');
    expect(await countTenantRows(store, 'acme')).toEqual([]);
  });

  test('goes from every table; another tenant keeps every row; what stays names nobody', async () => {
    const { store } = await freshStore(kind);
    await fillEveryTable(store, 'umbrella');
    const before = await dump(store, 'umbrella');
    const filled = await fillEveryTable(store, 'acme');
    expect(filled.length).toBeGreaterThan(40);
    const found = (await countTenantRows(store, 'acme')).map(({ place }) => place);
    const unseen = ['tenants', 'saved_plan_records', 'hire_counts'];
    expect(found.toSorted()).toEqual(
      [...new Set([...filled, ...unseen])].filter((one) => one !== 'tenants').toSorted(),
    );
    const row = await askTenantErasure(store, ASKED);
    for (let times = 0; times < 2; times += 1) await eraseTenantRows(store, 'acme');
    expect(await countTenantRows(store, 'acme')).toEqual([]);
    await endTenantErasure(store, row, () => ({ receipt: row.erasure_id }) as ErasureReceipt);
    expect(await receiptOf(store)).toEqual({ receipt: row.erasure_id });
    expect(await dump(store, 'umbrella')).toEqual(before);
    const left = (await dump(store, 'acme')).filter((one) => one.includes('canary-'));
    // Operators stand in the audit trail; its details are cleared.
    expect(left.map((one) => one.split(' ')[0])).toEqual(['audit', 'audit']);
    expect(left.join()).not.toContain('audit-details"');
    expect(await readTenantState(store, 'acme')).toMatchObject({ state: 'removed', files: '{}', applied_by: null });
  });

  test('goes, and whom a sister tenant had before go-live as well stays recorded as that one’s', async () => {
    const { store } = await freshStore(kind);
    const receives = { ...definition('').receives, company: 17 };
    for (const id of ['acme', 'sister', 'stranger'])
      await applyDefinitions(
        store,
        [{ ...definition(id), receives: id === 'stranger' ? definition(id).receives : receives }],
        'ann',
      );
    const as = { tenantId: 'acme', jobCandidateId: '3', period: 1, how: 'baseline' as const };
    await recordPeople(store, [
      { ...who('88', 'hr'), as },
      { ...who('89', 'hr'), as },
    ]);
    for (const [tenantId, candidateId] of [
      ['acme', '88'],
      ['sister', '88'],
      ['stranger', '89'],
    ] as const)
      await insertHires(store, [{ ...as, tenantId, state: 'before-go-live', candidateId }]);
    await askTenantErasure(store, ASKED);
    for (let times = 0; times < 2; times += 1) await eraseTenantRows(store, 'acme');
    expect(await findPerson(store, who('88', 'hr'))).toMatchObject({ recorded: { ...as, tenantId: 'sister' } });
    expect(await findPerson(store, who('89', 'hr'))).toMatchObject({ version: 0 });
  });

  test('is not erased while somebody of it is under legal hold', async () => {
    const { store } = await freshStore(kind);
    await fillEveryTable(store, 'acme');
    await markPerson(store, { tenantId: 'acme', mark: 'legal-hold', by: 'ann', about: 'case 12' }, [
      { kind: 'candidate', id: '501' },
    ]);
    await expect(askTenantErasure(store, ASKED)).rejects.toMatchObject({ code: 'LEGAL_HOLD' });
    expect(await readTenantState(store, 'acme')).toMatchObject({ state: 'active' });
    expect(await unmarkPerson(store, 'acme', [{ kind: 'candidate', id: '501' }])).toBe(1);
    await markPerson(store, { tenantId: 'acme', mark: 'legal-hold', by: 'ann', about: 'all' }, EVERYBODY);
    await expect(askTenantErasure(store, ASKED)).rejects.toMatchObject({ code: 'LEGAL_HOLD' });
  });

  test('is one erasure however often it is asked for, and nothing is applied meanwhile', async () => {
    const { store } = await freshStore(kind);
    await fillEveryTable(store, 'acme');
    await removeTenant(store, ASKED);
    const first = await askTenantErasure(store, ASKED);
    const second = await askTenantErasure(store, { ...ASKED, landing: 'delete' });
    expect(second.erasure_id).toBe(first.erasure_id);
    expect(JSON.parse(second.subject)).toEqual({ landing: 'delete', tenantId: 'acme' });
    const { version } = await readTenantState(store, 'acme');
    const again = { ...definition('acme'), over: Number(version) };
    await expect(applyDefinitions(store, [again], 'ann')).rejects.toMatchObject({ code: 'TENANT_ERASING' });
    await endTenantErasure(store, second, () => ({ receipt: 'r' }) as ErasureReceipt);
    const { version: over } = await readTenantState(store, 'acme');
    expect(await applyDefinitions(store, [{ ...again, over: Number(over) }], 'ann')).toBe(true);
    expect(await readTenantState(store, 'acme')).toMatchObject({ state: 'active', baseline_done_at: null });
  });

  test('goes from a store that was put back, unless it was applied after it was erased', async () => {
    const { store } = await freshStore(kind);
    await fillEveryTable(store, 'acme');
    const since = { tenant: 'acme', erasure: 'e', by: 'ann', keys: [], person: [] };
    expect(await eraseRestored(store, [{ ...since, wholeTenant: 1 }])).toBe(0);
    expect((await countTenantRows(store, 'acme')).length).toBeGreaterThan(40);
    expect(await eraseRestored(store, [{ ...since, wholeTenant: Date.now() + 60_000 }])).toBe(1);
    expect(await countTenantRows(store, 'acme')).toEqual([]);
    expect(await readTenantState(store, 'acme')).toMatchObject({ state: 'removed', files: '{}' });
  });

  test.each(['keep', undefined] as const)(
    'stays in a store that was put back while somebody is under legal hold (landing: %s)',
    async (landing) => {
      const { store } = await freshStore(kind);
      await fillEveryTable(store, 'acme');
      await markPerson(store, { tenantId: 'acme', mark: 'legal-hold', by: 'law', about: 'case 12' }, EVERYBODY);
      const before = await countTenantRows(store, 'acme');
      const since = { tenant: 'acme', erasure: 'e', by: 'ann', keys: [], person: [] };
      const erased = { ...since, wholeTenant: Date.now() + 60_000, ...(landing && { landing }) };
      for (let times = 0; times < 2; times += 1) expect(await eraseRestored(store, [erased])).toBe(0);
      expect(await countTenantRows(store, 'acme')).toEqual(before);
      expect(await readTenantState(store, 'acme')).toMatchObject({ state: 'removed' });
      const subject = JSON.stringify({ landing: 'keep', tenantId: 'acme' });
      expect(await openErasures(store)).toMatchObject([{ subject, tenant_id: 'acme' }]);
    },
  );
});

test('no byte of an erased tenant is left in the files of the store', async () => {
  const url = await freshStoreUrl('sqlite');
  const store = await openStore(url);
  onTestFinished(() => store.close());
  for (const tenant of ['umbrella', 'acme']) await fillEveryTable(store, tenant);
  const dir = dirname(url.slice('sqlite:'.length));
  const holding = async (text: string): Promise<string[]> => {
    const files = await readdir(dir);
    const whole = await Promise.all(files.map(async (name) => [name, await readFile(join(dir, name))] as const));
    return whole.filter(([, bytes]) => bytes.includes(text)).map(([name]) => name);
  };
  const row = await askTenantErasure(store, ASKED);
  expect(await holding('canary-acme-plans-change')).not.toEqual([]);
  await eraseTenantRows(store, 'acme');
  await endTenantErasure(store, row, () => ({ receipt: 'r' }) as ErasureReceipt);
  expect(await forgetBytes(store)).toBe(true);
  // Who did it stays in the audit trail.
  await unguardAudit('sqlite', store.kysely, async () => {
    await store.kysely.deleteFrom('audit').where('tenant_id', '=', 'acme').execute();
  });
  expect(await forgetBytes(store)).toBe(true);
  expect(await holding('canary-acme')).toEqual([]);
  expect(await holding('canary-umbrella')).not.toEqual([]);
});

test.each(kinds)('people of a tenant go a batch at a time, and what is done stays done; on %s', async (kind) => {
  let isCut = false;
  let deletes = 0;
  const cut: KyselyPlugin = {
    transformQuery: ({ node }) => {
      if (JSON.stringify(node).includes('delete from persons') && (deletes += 1) === 2 && isCut) throw new Error('cut');
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const { store } = await freshStore(kind, { plugins: [cut] });
  await readTenantState(store, 'acme');
  const people = Array.from({ length: 4_500 }, (_, at) => {
    const person_id = `p-${String(at).padStart(5, '0')}`;
    return { person_id, connection: 'hr', version: 1, is_abandoned: 0, tenant_id: 'acme', job_candidate_id: person_id };
  });
  for (let from = 0; from < people.length; from += 500) {
    const some = people.slice(from, from + 500);
    const keys = some.map(({ person_id: id }) => ({
      scope: 'hr',
      kind: 'candidate' as const,
      value: id,
      person_id: id,
    }));
    await store.kysely.insertInto('persons').values(some).execute();
    await store.kysely.insertInto('person_keys').values(keys).execute();
  }
  const shared = { scope: 'hr', kind: 'employee', value: '7', person_id: 'p-04400', tenant_id: 'sister' } as const;
  await store.kysely.insertInto('person_keys').values(shared).execute();
  const left = async () =>
    (await store.kysely.selectFrom('persons').select('person_id').orderBy('person_id').execute()).length;
  isCut = true;
  await expect(eraseTenantRows(store, 'acme')).rejects.toThrow('cut');
  expect(await left()).toBe(2_500);
  isCut = false;
  await eraseTenantRows(store, 'acme');
  expect(await store.kysely.selectFrom('persons').select(['person_id', 'tenant_id']).execute()).toEqual([
    { person_id: 'p-04400', tenant_id: null },
  ]);
  expect(await countTenantRows(store, 'acme')).toEqual([]);
});
