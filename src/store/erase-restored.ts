import { readFile } from 'node:fs/promises';
import { forgetBytes } from './erasures.ts';
import type { Store } from './open-store.ts';
import { completeIds, erasePersonRows } from './person-data.ts';
import { erasedAmong, type IdKind, type PersonIds, takeMarkKey, takeMarks } from './person-marks.ts';
import { eraseRestoredTenant } from './tenant-rows.ts';

/** Somebody who was erased, as the list beside the store and the marks in it have them. */
export interface ErasedSince {
  tenant: string;
  erasure: string;
  by: string;
  /** What their ids were hashed with. */
  keys: string[];
  person: string[];
  /** All of the tenant was erased: when that was asked for, milliseconds. Absent where it was one person. */
  wholeTenant?: number;
}

/** Beside the store, in the data directory: a line an erasure. */
export const ERASURES_FILE = 'erasures.jsonl';

/** The list that is kept beside a store; none where there is no file. A line that was cut off says nothing. */
export async function readErasures(file: string): Promise<ErasedSince[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as ErasedSince];
    } catch {
      return [];
    }
  });
}

/** Erases from a store that was put back whoever was erased since it was copied. Gives how many people it met. */
export async function eraseRestored(store: Store, erased: readonly ErasedSince[]): Promise<number> {
  for (const key of new Set(erased.flatMap(({ keys }) => keys))) await takeMarkKey(store, key);
  for (const { tenant: tenantId, erasure: about, by, person } of erased)
    await takeMarks(store, { tenantId, mark: 'erased', by, about }, person);
  let met = 0;
  for (const { tenant, wholeTenant } of erased)
    if (wholeTenant !== undefined && (await eraseRestoredTenant(store, tenant, wholeTenant))) met += 1;
  for (const tenantId of new Set(erased.map(({ tenant }) => tenant))) {
    const columns = await idsIn(store, tenantId);
    for (const { kind, ids } of columns) {
      const theirs = await erasedAmong(
        store,
        tenantId,
        ids.map((id) => ({ kind, id })),
      );
      for (const id of theirs) {
        const subject = await completeIds(store, tenantId, startAt(kind, id));
        await erasePersonRows(store, subject);
        met += 1;
      }
    }
  }
  if (met > 0) await forgetBytes(store);
  return met;
}

function startAt(kind: IdKind, id: string): PersonIds {
  const at = id.indexOf('/');
  return {
    candidates: kind === 'candidate' ? [id] : [],
    jobCandidates: kind === 'job-candidate' ? [id] : [],
    enrolments: kind === 'enrolment' ? [id] : [],
    employees: kind === 'employee' ? [{ connection: id.slice(0, at), id: id.slice(at + 1) }] : [],
  };
}

/** Every id of a person that the tenant's rows name. */
async function idsIn({ kysely }: Store, tenantId: string): Promise<{ kind: IdKind; ids: string[] }[]> {
  const hires = await kysely
    .selectFrom('hires')
    .select(['candidate_id', 'job_candidate_id', 'onboarding_candidate_id', 'employee_id', 'connection'])
    .where('tenant_id', '=', tenantId)
    .execute();
  const written = await kysely
    .selectFrom('foreign_writes')
    .select(['target', 'record_id'])
    .distinct()
    .where('tenant_id', '=', tenantId)
    .where('target', 'in', ['candidates', 'applications', 'onboarding', 'candidate-value'])
    .execute();
  const named = await kysely
    .selectFrom('person_keys')
    .select('candidate_id')
    .where('candidate_id', 'is not', null)
    .execute();
  const landed = (target: string) => written.filter((row) => row.target === target).map((row) => row.record_id);
  const present = (ids: readonly (string | null)[]): string[] => [...new Set(ids.filter((id) => id !== null))];
  return [
    {
      kind: 'candidate',
      ids: present([
        ...hires.map((row) => row.candidate_id),
        ...named.map((row) => row.candidate_id),
        ...landed('candidates'),
        ...landed('candidate-value'),
      ]),
    },
    {
      kind: 'job-candidate',
      ids: present([...hires.map((row) => row.job_candidate_id), ...landed('applications')]),
    },
    {
      kind: 'enrolment',
      ids: present([...hires.map((row) => row.onboarding_candidate_id), ...landed('onboarding')]),
    },
    {
      kind: 'employee',
      ids: present(
        hires.map(({ connection, employee_id: id }) =>
          connection === null || id === null ? null : `${connection}/${id}`,
        ),
      ),
    },
  ];
}
