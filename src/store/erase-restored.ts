import { readFile } from 'node:fs/promises';
import { forgetBytes } from './erasures.ts';
import type { Store } from './open-store.ts';
import { completeIds, erasePersonRows } from './person-data.ts';
import { erasedAmong, type IdKind, type PersonIds, takeMarkKey, takeMarks } from './person-marks.ts';
import { eraseRestoredTenant } from './tenant-rows.ts';

/** An erased person, as the list beside the store and the marks in the store record them. */
export interface ErasedSince {
  tenant: string;
  erasure: string;
  by: string;
  /** The keys that their ids were hashed with. */
  keys: string[];
  person: string[];
  /** Set if the whole tenant was erased: when that was requested, in milliseconds. Absent for a single person. */
  wholeTenant?: number;
}

/** File in the data directory, beside the store: one line for each erasure. */
export const ERASURES_FILE = 'erasures.jsonl';

/** Reads the list kept beside a store; empty if there is no file. A line that was cut off is skipped. */
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

/** Erases from a restored store the people who were erased after its backup was made. Returns how many it erased. */
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

/** All ids of people in the tenant's rows. */
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
