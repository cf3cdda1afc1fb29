import { isConnectorError } from '../../src/errors.ts';
import type { PartnerClient } from '../../src/partner/client/create-partner-client.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { Pipeline } from '../../src/partner/contract/pipelines.ts';
import { forgetWrites, recordWrites, settleWrites } from '../../src/store/foreign-writes.ts';
import {
  type Invitee,
  readInvitationsOf,
  readMovesOf,
  readSentMoves,
  sendMove,
  settleMove,
} from '../../src/store/invitations.ts';
import { readClock } from '../../src/store/open-store.ts';
import type { StageMoveRow } from '../../src/store/push-tables.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { hiringStagesOf } from '../../src/tenants/schema.ts';
import { newValues } from '../hire/with-hire.ts';
import { guardFor, startClock } from '../hire/write-once.ts';
import { readPresence } from '../presence/read-presence.ts';
import { assertFew } from '../push/by-rule.ts';
import { assertOurs, leftMs, originOf, type PushContext, type Verdict } from '../push/push-context.ts';
import { flowOf, ifShown, shownId } from './ask-partner.ts';

type Settings = NonNullable<Tenant['invitations']>;
type Rule = Settings['rules'][number];

/** A person who is in the stage of a rule. */
export interface Met extends Invitee {
  rule: Rule;
}

interface MoveRun extends PushContext {
  settings: Settings;
  verdicts: Map<string, Verdict>;
  waitMs: number;
}

interface Due {
  met: Met;
  before: StageMoveRow | undefined;
}

/**
 * Moves each person who completed the flow of a rule to the rule's stage (`moveTo`), once: reads them again, commits
 * the intent, sends one request and stores the outcome. Nobody is moved back, into a hiring stage, or a second time:
 * somebody may have moved them elsewhere.
 */
export async function moveOn(run: MoveRun, people: readonly Met[], beat: () => void): Promise<void> {
  await settleLeft(run, people);
  const due: Due[] = [];
  const moving = people.filter(({ rule }) => rule.moveTo !== undefined);
  for (const [target, some] of Map.groupBy(moving, (one) => one.assessmentId))
    due.push(...(await findDue(run, target, some)));
  if (due.length === 0) return;
  const fresh = due.filter(({ before }) => before?.state !== 'sent').length;
  const most = run.settings.atOnce;
  const message =
    `${fresh} people would be moved to the next stage in one run, more than ${most} (invitations.atOnce in the ` +
    'tenant file). None of them was moved.';
  await assertFew(run, { fresh, most, code: 'MASS_MOVE', message });
  const { items: pipelines } = await run.connection.partner.readAll(contract.pipelines.list, {});
  for (const one of due) {
    await assertOurs(run);
    await move(run, one, pipelines);
    beat();
  }
}

/** Settles moves without an answer of people who left the stage: checks whether they are where they were sent. */
async function settleLeft({ deps, connection, key }: MoveRun, people: readonly Met[]): Promise<void> {
  const { rows, now } = await readSentMoves(deps.store, key.tenantId);
  const still = new Set(people.map(({ assessmentId, jobCandidateId }) => `${assessmentId} ${jobCandidateId}`));
  for (const row of rows) {
    if (still.has(`${row.flow} ${row.job_candidate_id}`) || leftMs({ deps }, row, now) > 0) continue;
    const { verdict } = await readPresence(deps.store, connection, row.job_candidate_id, [row.stage_id]);
    if (verdict === 'in') await settleWrites(deps.store, row.write_id ?? '', 'done');
    await settleMove(deps.store, row, { state: verdict === 'in' ? 'done' : 'left' });
  }
}

/** People who are in the flow by our records, have completed it according to its list, and were not moved yet. */
async function findDue(run: MoveRun, target: string, people: readonly Met[]): Promise<Due[]> {
  const { deps, key, connection } = run;
  const { store } = deps;
  const invited = await readInvitationsOf(
    store,
    key.tenantId,
    target,
    people.map(({ candidateId }) => candidateId),
  );
  const ids = people.map(({ jobCandidateId }) => jobCandidateId);
  const moves = await readMovesOf(store, key.tenantId, target, ids);
  const now = await readClock(store);
  const open: Due[] = [];
  for (const met of people) {
    const { state, job_candidate_id: asked } = invited.get(met.candidateId) ?? {};
    const before = moves.get(met.jobCandidateId);
    if (before?.state === 'refused' && !run.full) note(run, met, 'quarantined', refusedAs(before.code));
    if (state !== 'invited' || asked !== met.jobCandidateId || !mayMove(run, before)) continue;
    const waitMs = before?.state === 'sent' ? leftMs({ deps }, before, now) : 0;
    run.waitMs = Math.max(run.waitMs, waitMs);
    if (waitMs <= 0) open.push({ met, before });
  }
  if (open.length === 0) return [];
  const over = await readCompleted(connection.partner, flowOf(target) ?? 0);
  return open.filter(({ met }) => over.has(met.jobCandidateId));
}

function mayMove({ full }: PushContext, before: StageMoveRow | undefined): boolean {
  return before === undefined || ['absent', 'sent', ...(full ? ['refused'] : [])].includes(before.state);
}

/**
 * Applications with status COMPLETED. An entry without an application counts for nobody (L5). Checks the status because
 * the partner may ignore the filter.
 */
async function readCompleted(partner: PartnerClient, flow: number): Promise<Set<string | undefined>> {
  const input = { params: { id: flow }, query: { status: 'COMPLETED' as const } };
  const shown = await ifShown(partner.readAll(contract.assessmentFlows.listCandidates, input));
  const over = (shown?.items ?? []).filter(({ status }) => String(status).toUpperCase() === 'COMPLETED');
  return new Set(over.map(({ jobCandidateId }) => shownId(jobCandidateId)));
}

async function move(run: MoveRun, { met, before }: Due, pipelines: readonly Pipeline[]): Promise<void> {
  const { deps, key, connection } = run;
  const { store, limits } = deps;
  const { jobCandidateId, candidateId, assessmentId: flow, rule } = met;
  const sinceRead = startClock();
  const presence = await readPresence(store, connection, jobCandidateId, [rule.on.stage]);
  if (presence.verdict !== 'in') return;
  const to = nextStage(
    connection.tenant,
    rule,
    pipelines.find(({ id }) => String(id) === shownId(presence.job?.['pipelineId'])),
  );
  if ('reason' in to) return note(run, met, 'quarantined', to.reason);
  const clock = startClock();
  const changes = newValues({ stageId: to.stageId, flow });
  const written = { target: 'stage', recordId: jobCandidateId, kind: 'update' as const, changes, sensitive: [] };
  const writeId = await recordWrites(store, originOf(run), [written]);
  const row = await sendMove(
    store,
    {
      tenant_id: key.tenantId,
      flow,
      job_candidate_id: jobCandidateId,
      candidate_id: candidateId,
      stage_id: to.stageId,
      write_id: writeId,
    },
    { before, budgetMs: limits.giveUpMs },
  );
  if (row === undefined) return forgetWrites(store, writeId);
  try {
    const { signal, beforeSend } = guardFor('move', limits.giveUpMs, clock, sinceRead);
    const input = { params: { jobCandidateId: Number(jobCandidateId) }, body: { stageId: Number(to.stageId) } };
    await connection.partner.jobCandidates.move(input, { signal, beforeSend });
    await settleMove(store, row, { state: 'done' });
    await settleWrites(store, writeId, 'done');
    note(run, met, 'updated');
  } catch (error) {
    if (!isConnectorError(error)) throw error;
    // A move may be sent again, so the client reports a missing answer as worth a retry.
    const isHeard = error.code === 'DEADLINE_PASSED' || !['retry', 'unknown'].includes(error.action);
    if (!isHeard) return void (run.waitMs = Math.max(run.waitMs, limits.giveUpMs));
    const isRefused = error.action === 'reject';
    await settleWrites(store, writeId, isRefused ? 'refused' : 'absent');
    await settleMove(store, row, { state: isRefused ? 'refused' : 'absent', code: error.code });
    if (!isRefused) throw error;
    note(run, met, 'quarantined', refusedAs(error.code));
  }
}

function refusedAs(code: string | null): string {
  return `the hiring platform refused to move them to the next stage: ${code ?? 'no reason given'}`;
}

/**
 * The rule's stage in the pipeline of the person's job. It must come after every stage that matches the rule's own; the
 * list gives the order.
 */
function nextStage(
  tenant: Tenant,
  { on, moveTo = '' }: Rule,
  pipeline: Pipeline | undefined,
): { stageId: string } | { reason: string } {
  const stages = pipeline?.stages ?? [];
  const isNamed = (stage: (typeof stages)[number], name: string) => stage.type === name || String(stage.id) === name;
  const from = stages.findLastIndex((stage) => isNamed(stage, on.stage));
  const to = stages.find((stage, index) => index > from && isNamed(stage, moveTo));
  if (from < 0 || to === undefined) return { reason: `no stage ${moveTo} comes after ${on.stage} in their pipeline` };
  const hiring = ['HIRED', ...hiringStagesOf(tenant)];
  if (hiring.some((name) => isNamed(to, name)))
    return { reason: `${moveTo} is a hiring stage, and only a person hires` };
  return { stageId: String(to.id) };
}

function note({ verdicts }: MoveRun, met: Met, kind: Verdict['kind'], reason?: string): void {
  const id = `${met.jobCandidateId} to ${met.assessmentId}`;
  verdicts.set(id, reason === undefined ? { id, kind } : { id, kind, reason });
}
