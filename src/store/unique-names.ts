import { sql } from 'kysely';
import { ConnectorError } from '../errors.ts';
import type { HireRef } from '../hire/hire.ts';
import { hireBehind, whileKnown } from './hires.ts';
import { didChange, findsAny, has, hireColumns, ofHire, type Store } from './open-store.ts';

/** One name in an HR system: `place` is its own field, for which tenants may use another name. */
export interface UniqueName {
  field: string;
  place: string;
  name: string;
}

/** The names that this hire was given, by field. */
export async function readNames({ kysely }: Store, ref: HireRef): Promise<Map<string, string>> {
  const rows = await kysely.selectFrom('unique_names').select(['field', 'name']).where(ofHire(ref)).execute();
  return new Map(rows.map(({ field, name }) => [field, name]));
}

/** Whether another hire was given one of these names, unless it ended without an employee. */
export async function isGiven(
  { kysely }: Store,
  connection: string,
  ref: HireRef,
  names: readonly UniqueName[],
): Promise<boolean> {
  const given = kysely
    .selectFrom('unique_names')
    .select('field')
    .where('connection', '=', connection)
    .where((eb) => eb.or(names.map(({ place, name }) => eb.and({ place, name_key: keyOf(name) }))))
    .where((eb) => eb.not(eb.and(hireColumns(ref))))
    .where(counts)
    .limit(1);
  return findsAny(given);
}

/** Hires in progress or with an employee; names of a hire that ended without one are free. */
const counts = sql<boolean>`exists (
  select 1 from hires where hires.tenant_id = unique_names.tenant_id
    and hires.job_candidate_id = unique_names.job_candidate_id and hires.period = unique_names.period
    and (hires.state = 'open' or hires.employee_id is not null))`;

/**
 * Gives all of the names to the hire in place of `before`, or none.
 * @throws ConnectorError NAME_TAKEN (retry) if another hire, or another worker of this one, was faster; HIRE_BEHIND if
 *   the hire's row is gone
 */
export async function giveNames(
  store: Store,
  connection: string,
  ref: HireRef,
  { names, before }: { names: readonly UniqueName[]; before: ReadonlyMap<string, string> },
): Promise<void> {
  const given = await whileKnown(store, ref, async ({ kysely: trx }) => {
    for (const [field, name] of before)
      await trx
        .deleteFrom('unique_names')
        .where(has({ ...hireColumns(ref), field, name }))
        .execute();
    // In a fixed order, so that no two transactions wait for each other.
    for (const { field, place, name } of names.toSorted((one, other) => (one.place < other.place ? -1 : 1))) {
      const key = { connection, place, name_key: keyOf(name) };
      await trx
        .deleteFrom('unique_names')
        .where(has(key))
        .where((eb) => eb.not(counts))
        .execute();
      const row = { ...key, ...hireColumns(ref), field, name };
      if (
        !(await didChange(
          trx
            .insertInto('unique_names')
            .values(row)
            .onConflict((c) => c.doNothing()),
        ))
      )
        throw taken(ref);
    }
    return true;
  });
  if (given === undefined) throw hireBehind(ref);
}

/** Names that differ only in case count as equal. */
function keyOf(name: string): string {
  return name.toLowerCase();
}

function taken({ jobCandidateId }: HireRef): ConnectorError {
  return new ConnectorError({
    code: 'NAME_TAKEN',
    action: 'retry',
    message: `A name for job candidate ${jobCandidateId} went to another hire a moment ago. The next one is tried.`,
    retryAfterMs: 0,
  });
}
