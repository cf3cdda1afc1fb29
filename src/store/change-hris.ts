import { type ExpressionBuilder, sql } from 'kysely';
import { type ConnectorError, rejected } from '../errors.ts';
import type { Recorded } from '../person/person.ts';
import { unnotedCreates } from './intents.ts';
import { countOf, has, hireOf, type Store } from './open-store.ts';
import { employedRows, lapseCreating, recordedBy, releaseUnemployed } from './people.ts';
import { recordPeople } from './persons.ts';
import type { Tables } from './schema.ts';
import { siblingsOf } from './tenant-states.ts';

/**
 * What a changed HR connection of a tenant means. `keep`: the same HR system under another name or address, so
 * everything recorded of it still holds. `new`: another HR system. Records of the old one stay as history, and its
 * people are neither written to nor looked up in the new one.
 */
export type HrisWay = 'keep' | 'new';

interface HrisChange {
  tenantId: string;
  from: string;
  to: string;
  way: HrisWay;
}

/** Counts people whom the tenant's hires own, recorded before go-live or employ in this HR system. */
export async function countPeopleOf(store: Store, tenantId: string, connection: string): Promise<number> {
  const isRecorded = await recordedFor(store, tenantId);
  const known = store.kysely
    .selectFrom('persons')
    .where('connection', '=', connection)
    .where(({ eb, or, exists, selectFrom }) =>
      or([
        eb('tenant_id', '=', tenantId),
        isRecorded(eb),
        exists(
          selectFrom('person_keys')
            .select('person_keys.value')
            .whereRef('person_keys.person_id', '=', 'persons.person_id')
            .where('person_keys.tenant_id', '=', tenantId),
        ),
      ]),
    );
  return countOf(known);
}

/**
 * Selects people whom the tenant recorded, or whom a tenant of the same company recorded and this tenant has a hire of:
 * of the tenants that share an HR system, the first one records a person for all.
 */
async function recordedFor(store: Store, tenantId: string) {
  const siblings = await siblingsOf(store, tenantId);
  return ({ or, and, exists, selectFrom }: ExpressionBuilder<Tables, 'persons'>) => {
    const own = selectFrom('person_keys as key')
      .innerJoin('hires', 'hires.candidate_id', 'key.candidate_id')
      .select('key.value')
      .whereRef('key.person_id', '=', 'persons.person_id')
      .where(has({ 'key.kind': 'candidate', 'hires.tenant_id': tenantId }));
    const isByAnother = or(siblings.map((id) => recordedBy(id)));
    return or([recordedBy(tenantId), and([isByAnother, exists(own)])]);
  };
}

/** What prevents a tenant from giving up its HR system. */
interface BoundToHris {
  /** Hires that asked for an employee and whose request has an unknown or unfinished outcome. */
  unsettled: number;
  /** Jobs made from the HR system's requisitions. */
  requisitions: number;
  /** Files that it listed as resumes. */
  resumes: number;
}

export async function readBoundToHris(store: Store, tenantId: string): Promise<BoundToHris> {
  const unsettled = await unnotedCreates(store, ['open', 'done'])
    .select((eb) => eb.fn.count<number>('hires.job_candidate_id').distinct().as('count'))
    .where('hires.tenant_id', '=', tenantId)
    .executeTakeFirstOrThrow();
  const requisitions = await countOf(store.kysely.selectFrom('requisitions').where('tenant_id', '=', tenantId));
  const resumes = await countOf(store.kysely.selectFrom('resumes').where('tenant_id', '=', tenantId));
  return { unsettled: unsettled.count, requisitions, resumes };
}

/**
 * Updates the records for a changed HR connection, in the transaction that applies it.
 * @throws ConnectorError HRIS_NOT_CHANGED
 */
export async function changeHris(store: Store, change: HrisChange): Promise<void> {
  if (change.from === change.to) return;
  await (change.way === 'keep' ? rename(store, change) : replace(store, change));
}

/** Renames the HR system in the records of all tenants, because a connection name stands for one HR system. */
async function rename(store: Store, { from, to }: HrisChange): Promise<void> {
  const { kysely } = store;
  const known = kysely.selectFrom('person_keys').where(has({ scope: to, kind: 'employee' }));
  const taken = await known.select('tenant_id').executeTakeFirst();
  if (taken !== undefined)
    throw notChanged(`Employees are already linked under "${to}" (tenant ${taken.tenant_id}). Use another name.`);
  await recordUnder(store, { from, to });
  await lapseSameKeys(store, { from, to });
  // A cursor under the new name is from the time before the tenant had the old one: the later one counts.
  const current = kysely.selectFrom('change_cursors').select('tenant_id').where('connection', '=', from);
  await kysely.deleteFrom('change_cursors').where('connection', '=', to).where('tenant_id', 'in', current).execute();
  await kysely.updateTable('person_keys').set({ scope: to }).where('scope', '=', from).execute();
  // Who read them under the old name decides again.
  await kysely
    .updateTable('persons')
    .set((eb) => ({ connection: to, version: eb('version', '+', 1) }))
    .where('connection', '=', from)
    .execute();
  for (const table of ['change_cursors', 'hires', 'resumes'] as const)
    await kysely.updateTable(table).set({ connection: to }).where('connection', '=', from).execute();
  // Ids of list entries begin with the connection: under the old name, an entry that is called otherwise would be new.
  const begins = (name: string): string => `[${JSON.stringify(name)},`;
  const size = begins(from).length;
  await kysely
    .updateTable('option_labels')
    .set({ entry_id: sql<string>`${begins(to)} || substr(entry_id, ${sql.lit(size + 1)})` })
    .where(sql`substr(entry_id, 1, ${sql.lit(size)})`, '=', begins(from))
    .execute();
  // A name that a tenant gave under the new name already is taken all the same.
  const isGiven = kysely.selectFrom('unique_names as given').select('given.name').where('given.connection', '=', to);
  await kysely
    .updateTable('unique_names')
    .set({ connection: to })
    .where('connection', '=', from)
    .where(({ not, exists, ref }) =>
      not(
        exists(
          isGiven
            .where('given.place', '=', ref('unique_names.place'))
            .where('given.name_key', '=', ref('unique_names.name_key')),
        ),
      ),
    )
    .execute();
}

/** Merges people known under both names: records of the new name's person move to the old name's person. */
async function recordUnder(store: Store, { from, to }: Pick<HrisChange, 'from' | 'to'>): Promise<void> {
  const { kysely } = store;
  const twice = await kysely
    .selectFrom('persons')
    .innerJoin('person_keys as key', 'key.person_id', 'persons.person_id')
    .innerJoin('person_keys as old', (join) =>
      join.onRef('old.kind', '=', 'key.kind').onRef('old.value', '=', 'key.value').on('old.scope', '=', from),
    )
    .select(['persons.person_id', 'persons.tenant_id', 'persons.recorded', 'key.company', 'key.candidate_id'])
    .where(has({ 'persons.connection': to, 'key.scope': to, 'key.kind': 'candidate' }))
    .execute();
  if (twice.length === 0) return;
  const owner = twice.find((row) => row.tenant_id !== null)?.tenant_id;
  if (owner !== undefined)
    throw notChanged(
      `Tenant ${owner} is hiring somebody under "${to}" who is known under "${from}" as well. ` +
        'Let that hire end first, or use another name.',
    );
  await recordPeople(
    store,
    twice.flatMap(({ recorded, ...row }) =>
      recorded === null ? [] : [{ ...personOf(row, from), as: JSON.parse(recorded) as Recorded }],
    ),
  );
  const ids = twice.map((row) => row.person_id);
  await kysely.deleteFrom('person_keys').where('person_id', 'in', ids).execute();
  await kysely.deleteFrom('persons').where('person_id', 'in', ids).execute();
}

/** Forgets keys of employees that no hire is making any more. Two hires that still make one keep the names apart. */
async function lapseSameKeys(store: Store, { from, to }: Pick<HrisChange, 'from' | 'to'>): Promise<void> {
  const twice = store.kysely
    .selectFrom('person_keys as key')
    .innerJoin('person_keys as old', (join) =>
      join.onRef('old.kind', '=', 'key.kind').onRef('old.value', '=', 'key.value').on('old.scope', '=', from),
    )
    .select(['key.tenant_id', 'old.tenant_id as old_tenant_id'])
    .where(has({ 'key.scope': to, 'key.kind': 'creating' }));
  const tenantsOf = async () =>
    new Set((await twice.execute()).flatMap((row) => [row.tenant_id ?? [], row.old_tenant_id ?? []].flat()));
  for (const tenantId of await tenantsOf()) await lapseCreating(store, tenantId);
  const making = [...(await tenantsOf())];
  if (making.length > 0)
    throw notChanged(
      `The hires of ${making.join(' and ')} may be making the same employee, under "${to}" and under "${from}". ` +
        'Let one of them end first, or use another name.',
    );
}

function personOf(row: { company: string | null; candidate_id: string | null }, connection: string) {
  return { connection, candidate: { company: row.company ?? '', candidateId: row.candidate_id ?? '' } };
}

async function replace(store: Store, { tenantId, from, to }: HrisChange): Promise<void> {
  const { kysely } = store;
  const { unsettled, requisitions } = await readBoundToHris(store, tenantId);
  if (unsettled > 0)
    throw notChanged(
      `${unsettled} hires have a request for an employee under way in "${from}". Let them end, or cancel them, first.`,
    );
  if (requisitions > 0)
    throw notChanged(
      `${requisitions} jobs belong to requisitions of "${from}", whose ids mean other requisitions in a new HR ` +
        'system. Give the new HR system a tenant of its own.',
    );
  // These rows are keyed by ids of the old HR system; the new one uses the same ids for other people.
  for (const table of ['employments', 'exchange_pairs'] as const)
    await kysely.deleteFrom(table).where('tenant_id', '=', tenantId).execute();
  await kysely
    .updateTable('field_conflicts')
    .set({ closed_at: store.now })
    .where(has({ tenant_id: tenantId, closed_at: null }))
    .execute();
  // Those of an earlier version do not say who listed them.
  const unnamed = has({ tenant_id: tenantId, connection: null });
  await kysely.updateTable('resumes').set({ connection: from }).where(unnamed).execute();
  // People may have answered with ids of the old HR system, too.
  await kysely
    .updateTable('holds')
    .set({ former_hris: from })
    .where('tenant_id', '=', tenantId)
    .where('job_candidate_id', 'is not', null)
    .where('former_hris', 'is', null)
    .execute();
  await recordPeople(store, await knownIn(store, { tenantId, from, to }));
  await releaseUnemployed(store, tenantId, from);
}

/** People whom the tenant employs or recorded in the old HR system: they may be employees in the new one, too. */
async function knownIn(
  store: Store,
  { tenantId, from, to }: Omit<HrisChange, 'way'>,
): Promise<Parameters<typeof recordPeople>[1]> {
  const { kysely } = store;
  const isRecorded = await recordedFor(store, tenantId);
  // As whichever candidate: two may be one human.
  const employed = await kysely
    .selectFrom(employedRows(store).as('employed'))
    .innerJoin('person_keys as key', 'key.person_id', 'employed.person_id')
    .select(['key.company', 'key.candidate_id', 'employed.tenant_id', 'employed.job_candidate_id', 'employed.period'])
    .where(has({ 'employed.tenant_id': tenantId, 'employed.connection': from, 'key.kind': 'candidate' }))
    .execute();
  const recorded = await kysely
    .selectFrom('persons')
    .innerJoin('person_keys', 'person_keys.person_id', 'persons.person_id')
    .select(['persons.recorded', 'person_keys.company', 'person_keys.candidate_id'])
    .where(has({ 'persons.connection': from, 'person_keys.kind': 'candidate' }))
    .where(isRecorded)
    .execute();
  return [
    ...employed.map((row) => ({ ...personOf(row, to), as: { ...hireOf(row), how: 'other-hris' as const } })),
    ...recorded.map((row) => ({ ...personOf(row, to), as: JSON.parse(row.recorded ?? '') as Recorded })),
  ];
}

function notChanged(why: string): ConnectorError {
  return rejected('HRIS_NOT_CHANGED', `The HR connection was not changed, and nothing was applied. ${why}`);
}
