import type { EmployeeRef } from '../../src/hire/employee.ts';
import type { HireActivities } from '../../src/hire/hire-activities.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { held } from '../../src/hire/holds.ts';
import type { CreateResult } from '../../src/hris/port.ts';
import { readHireRow, updateHire } from '../../src/store/hires.ts';
import { linkEmployee } from '../../src/store/identity.ts';
import { decideIntent, latestIntent } from '../../src/store/intents.ts';
import { markApplied, readPlan } from '../../src/store/plans.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { guardedOrHeld } from '../guarded.ts';
import { personOf } from './hire-references.ts';
import { lookForEmployee } from './look-for-employee.ts';
import type { Change } from './plan-employee.ts';
import { readDecisions } from './read-decisions.ts';
import { readSources } from './read-sources.ts';
import { type Elapsed, type OnceOptions, type Seen, settleEarlier, startClock, writeOnce } from './write-once.ts';

type Applied = Awaited<ReturnType<HireActivities['applyPlan']>>;
type Creation = Extract<Change, { kind: 'create' }>;

const verb = 'create-employee';
const READ_MS = 30_000;

/** Applies one saved plan, if what it was made from still stands. A create happens once per hire whatever breaks. */
export function applyPlan(deps: ActivityDeps, ref: HireRef & { planId: string }): Promise<Applied> {
  return guardedOrHeld(deps, ref.tenantId, async (connection): Promise<Applied> => {
    const { store } = deps;
    const plan = await readPlan(store, ref.planId);
    const change = JSON.parse(plan.change) as Change;
    await updateHire(store, ref, { step: 'employ' });
    const candidateId = (await readHireRow(store, ref)).candidate_id ?? '';
    if (change.kind === 'create' && (await latestIntent(store, ref, verb)) !== undefined) {
      const settled = await settleEarlier(onceOptions(deps, connection, ref, change, startClock()));
      if (settled.kind === 'unprovable') return createUnknown(deps, ref, settled.hits);
      if (settled.kind === 'adopted') return finish(deps, connection, ref, candidateId, settled.value);
    }
    const sinceRead = startClock();
    const read = await readSources(deps, connection, ref, { anyStage: false });
    if (read.verdict !== 'read') return { verdict: read.verdict === 'left' ? 'left' : 'stale' };
    if (read.sources.hash !== plan.sources_hash) return { verdict: 'stale' };
    const applied = await apply(deps, connection, ref, candidateId, change, sinceRead);
    if (applied.verdict === 'employee') await markApplied(store, ref.planId);
    return applied;
  });
}

async function apply(
  deps: ActivityDeps,
  connection: Connection,
  ref: HireRef,
  candidateId: string,
  change: Change,
  sinceRead: Elapsed,
): Promise<Applied> {
  if (change.kind === 'create') return create(deps, connection, ref, candidateId, change, sinceRead);
  if (change.kind === 'update')
    await connection.hris.employees.update(change.employee.id, change.fields, {
      signal: AbortSignal.timeout(READ_MS),
      beforeSend: () => undefined,
    });
  return finish(deps, connection, ref, candidateId, { kind: 'created', ref: change.employee });
}

async function create(
  deps: ActivityDeps,
  connection: Connection,
  ref: HireRef,
  candidateId: string,
  change: Creation,
  sinceRead: Elapsed,
): Promise<Applied> {
  const once = await writeOnce(onceOptions(deps, connection, ref, change, sinceRead));
  if (once.kind === 'unprovable') return createUnknown(deps, ref, once.hits);
  if (once.kind === 'refused') throw once.error;
  return finish(deps, connection, ref, candidateId, once.value);
}

function onceOptions(
  { store, limits }: ActivityDeps,
  connection: Connection,
  ref: HireRef,
  { fields, reference }: Creation,
  sinceRead: Elapsed,
): OnceOptions<CreateResult, { reference: string }> {
  return {
    store,
    key: ref,
    verb,
    pinned: () => ({ reference }),
    giveUpMs: limits.giveUpMs,
    readLagMs: connection.hris.capabilities.readLagMs,
    look: () => look(store, connection, ref, { kind: 'create', fields, reference }),
    sinceRead,
    send: (pinned, guard) => connection.hris.employees.create(fields, pinned.reference, guard),
  };
}

/**
 * Did an earlier attempt make the employee? Only evidence, or a person's word on that very attempt, settles it; and the word only while
 * nothing is found that the person was not shown: an employee may have come to light since.
 */
async function look(
  store: ActivityDeps['store'],
  connection: Connection,
  ref: HireRef,
  { fields, reference }: Creation,
): Promise<Seen<CreateResult>> {
  const latest = await latestIntent(store, ref, verb);
  const decisions = await readDecisions(store, ref);
  const unsettledCreate = latest?.outcome === 'open';
  // A first attempt was looked for by planEmployee a moment ago, and nothing of ours has left since.
  if (!unsettledCreate && latest === undefined && decisions.createUnproven) return { kind: 'absent' };
  const identity = await lookForEmployee(connection, reference, fields, {
    unsettledCreate,
    notThese: decisions.notThese,
  });
  if (identity.kind === 'link') return { kind: 'found', value: { kind: 'created', ref: identity.ref } };
  if (identity.kind === 'create') return { kind: 'absent' };
  const hits = [...new Set(identity.evidence.flatMap(({ refs }) => refs.map(({ id }) => id)))];
  const denied = latest !== undefined && decisions.neverHappened.has(latest.attempt);
  return denied && hits.length === 0 ? { kind: 'absent' } : { kind: 'unprovable', hits };
}

async function finish(
  { store }: ActivityDeps,
  { tenant, hris }: Connection,
  ref: HireRef,
  candidateId: string,
  created: CreateResult,
): Promise<Applied> {
  const result =
    created.kind === 'pending' ? await hris.pending?.resolve(created.ticket, AbortSignal.timeout(READ_MS)) : created;
  if (result === undefined || result.kind === 'pending')
    return { verdict: 'pending', nextCheckMs: result?.nextCheckMs ?? 60_000 };
  const employee = await withNumber(hris, result.ref);
  const number = employee.number ?? null;
  const open = await latestIntent(store, ref, verb);
  if (open !== undefined) await decideIntent(store, open, 'done', { kind: 'created', ref: employee });
  await linkEmployee(store, personOf(tenant, candidateId), ref, { id: employee.id, number });
  await updateHire(store, ref, { step: 'write-back', employee_id: employee.id, employee_number: number });
  return { verdict: 'employee' };
}

async function withNumber(hris: Connection['hris'], employee: EmployeeRef): Promise<EmployeeRef> {
  if (employee.number !== undefined) return employee;
  return (await hris.employees.read(employee.id, AbortSignal.timeout(READ_MS)))?.ref ?? employee;
}

async function createUnknown({ store }: ActivityDeps, ref: HireRef, employeeIds: string[] = []): Promise<Applied> {
  const attempt = (await latestIntent(store, ref, verb))?.attempt ?? 0;
  return held('CREATE_UNKNOWN', { jobCandidateId: ref.jobCandidateId, attempt, employeeIds });
}
