import { describe, expect, test } from 'vitest';
import {
  alignAlarms,
  countStuck,
  forgetTrouble,
  listAlarms,
  noteTrouble,
  readDigest,
  tenantsToTell,
} from '../../src/store/alarms.ts';
import { audit } from '../../src/store/audit.ts';
import { firstEvents, listEvents, purgeEvents, tenantsWithEvents } from '../../src/store/events-out.ts';
import { readPairStates } from '../../src/store/exchange-pairs.ts';
import { countUndecided, listConflicts, purgeConflicts } from '../../src/store/field-conflicts.ts';
import {
  concludeWrites,
  listWrites,
  readOpenWrites,
  recordWrites,
  settleWrites,
  verifyWrites,
} from '../../src/store/foreign-writes.ts';
import { addHints, clearHints, oldestHints, readHints } from '../../src/store/hints.ts';
import { documentsToTell, hiresDueForDocuments, readHireDocuments } from '../../src/store/hire-documents.ts';
import { baselineHires, endHire, oldestOwnTimes, openHiresAfter, ownTimeOf } from '../../src/store/hire-states.ts';
import { accountOf, claimStep, hiresDueForStep, settleStep, stepsToTell } from '../../src/store/hire-steps.ts';
import {
  countBegun,
  countHires,
  hasOtherHire,
  hiresInState,
  hiresOfEnrolments,
  insertHires,
  latestHire,
  latestHires,
  listHires,
  updateHire,
} from '../../src/store/hires.ts';
import {
  answersOf,
  closeHoldsOf,
  closeTenantHolds,
  countOpenHolds,
  lastAnswered,
  listHolds,
  openHold,
  unnotifiedHolds,
} from '../../src/store/holds.ts';
import {
  countOpenDeliveries,
  failDelivery,
  finishDeliveries,
  insertDelivery,
  leaseDeliveries,
  listDeliveries,
  lookForDue,
  retryDeliveries,
} from '../../src/store/inbox.ts';
import { decideIntent, latestIntent, openIntent } from '../../src/store/intents.ts';
import { findHires, listAudit } from '../../src/store/listings.ts';
import type { Store } from '../../src/store/open-store.ts';
import { insertPlan, latestPlan, markApplied } from '../../src/store/plans.ts';
import { countQuarantined } from '../../src/store/quarantine.ts';
import { readAbsent } from '../../src/store/reconciles.ts';
import {
  listOverdue,
  purgeBodies,
  purgeDeliveries,
  purgePlans,
  purgeWriteLog,
  purgeWrites,
} from '../../src/store/retention.ts';
import { leftStates } from '../../src/store/schema.ts';
import { listStreamStates, listStreams } from '../../src/store/streams.ts';
import { readWebhookFacts } from '../../src/store/webhook-refusals.ts';
import { holdPerson, linkPerson, who } from './known-people.ts';
import { type Asked, plansOf, recordingStore } from './recording-store.ts';
import { kinds } from './stores.ts';

const key = { tenantId: 'acme', jobCandidateId: '7', period: 1 };
/** Tables that grow with every hire and every event, without end. */
const GROWING = (
  'inbox hires intents plans holds hints persons person_keys foreign_writes purged_writes ' +
  'field_conflicts hire_documents document_looks hire_steps exchange_pairs audit events_out'
).split(' ');

/** However small the tables are here, Postgres must show whether an index would serve. */
const INDEXES_ONLY = '?options=-c%20enable_seqscan%3Doff';

/** What workers and receivers ask by themselves, once each. */
async function askEverything(store: Store): Promise<void> {
  const delivery = { tenantId: 'acme', event: 'candidate.hired', ids: {}, body: '{}' };
  for (const bodyHash of ['a', 'b']) await insertDelivery(store, { ...delivery, bodyHash, state: 'waiting' });
  await lookForDue(store);
  const [one, other] = await leaseDeliveries(store, 'acme', 2);
  await leaseDeliveries(store, 'acme', 200, ['candidate.hired']);
  if (one !== undefined) await finishDeliveries(store, [one], 'relayed');
  if (other !== undefined) await failDelivery(store, other, 'TEST');
  await insertHires(store, [{ ...key, state: 'open' }]);
  await updateHire(store, key, { onboarding_candidate_id: 'oc-1' });
  await ownTimeOf(store, key);
  await latestHire(store, 'acme', '7');
  await latestHires(store, 'acme', ['7']);
  await hiresInState(store, 'acme', 'open');
  await hasOtherHire(store, 'acme', '4', '7');
  await openHiresAfter(store, 'acme', { after: '', limit: 9 });
  await baselineHires(store, 'acme');
  await readAbsent(store, 'acme', { jobIds: ['1'], states: ['open', 'done'], after: '', limit: 9 });
  await hiresOfEnrolments(store, 'acme', ['oc-1']);
  const intent = await openIntent(store, { ...key, verb: 'enrol:1', attempt: 1, pinned: {}, budgetMs: 1_000 });
  if (intent !== undefined) await decideIntent(store, intent, 'done', null);
  await latestIntent(store, key, 'enrol:1');
  const planId = await insertPlan(store, key, { mappingHash: 'm', change: {} });
  await latestPlan(store, key);
  await markApplied(store, planId);
  await askForWrites(store);
  await askForPairsAndDocuments(store);
  await openHold(store, { ...key, code: 'TEST', message: 'A test.', answers: ['retry'] });
  await unnotifiedHolds(store, 'acme', 50);
  await answersOf(store, key);
  await lastAnswered(store, key);
  await closeHoldsOf(store, key);
  await closeTenantHolds(store, 'acme', 'HRIS_%');
  await holdPerson(store, who('88'), key, { company: '* sandbox https://partner.example' });
  await linkPerson(store, who('88'), key, { id: '7' });
  await endHire(store, key, 'done');
  await addHints(store, 'acme', 'people', ['1']);
  await clearHints(store, 'acme', 'people', await readHints(store, 'acme', 'people'));
  await oldestHints(store);
  await noteTrouble(store, { tenantId: 'acme', kind: 'unknown-value', subject: 's', reason: 'R', message: 'm' }, 0);
  await forgetTrouble(store, 'activity-failing', 1_000);
  await alignAlarms(store, []);
  await countStuck(store, 1_000);
  await tenantsToTell(store);
  await tenantsWithEvents(store);
  await firstEvents(store, 'acme', 9);
  await listEvents(store, { tenantId: 'acme' }, { waiting: false, limit: 9 });
  await purgeEvents(store, 1_000);
  await readDigest(store, 'acme', 0, 1_000);
  await purgeBodies(store, 1_000);
  await purgeDeliveries(store, 1_000);
  await purgePlans(store, 'acme', 1_000);
  await listOverdue(store, { bodiesMs: 1_000, deliveriesMs: 1_000 });
}

/** What the metrics, `hirebridge status` and `hirebridge inbox` ask. */
async function askForStatus(store: Store): Promise<void> {
  await countHires(store);
  await oldestOwnTimes(store);
  await countBegun(store, 1_000);
  await countOpenHolds(store);
  await listHolds(store);
  await countOpenDeliveries(store);
  await readWebhookFacts(store);
  await listDeliveries(store, { states: leftStates, limit: 50 });
  await listDeliveries(store, { states: ['undeliverable'], tenantId: 'acme' });
  await retryDeliveries(store, { states: ['undeliverable'] });
  await retryDeliveries(store, { states: leftStates, hash: 'a' });
}

async function askForWrites(store: Store): Promise<void> {
  const origin = { tenantId: 'acme', runId: 'hire', mappingHash: 'm', by: 'hirebridge' };
  const write = {
    target: 'jobs',
    recordId: '7',
    kind: 'update',
    changes: { a: { old: 1, new: 2 } },
    sensitive: [],
  } as const;
  const batchId = await recordWrites(store, origin, [write]);
  await readOpenWrites(store, 'acme', 'jobs');
  await settleWrites(store, batchId, 'done');
  await concludeWrites(store, batchId, ['7']);
  await verifyWrites(store, key);
  await listWrites(store, { tenantId: 'acme', recordId: '7', limit: 10 });
  await listWrites(store, { tenantId: 'acme', runId: 'r1' });
  await purgeWrites(store, 'acme', 1_000);
  await purgeWriteLog(store, 'acme', 1_000);
}

async function askForPairsAndDocuments(store: Store): Promise<void> {
  const stream = { tenantId: 'acme', stream: 'employees' };
  await countUndecided(store, stream);
  await listConflicts(store, { tenantId: 'acme', all: false });
  await purgeConflicts(store, 'acme', 1_000);
  await readPairStates(store, stream, ['7']);
  const due = { tenantId: 'acme', connection: 'c', againAfterMs: 1_000, endedWithinMs: 1_000, hinted: [] };
  await hiresDueForDocuments(store, due, undefined);
  await readHireDocuments(store, key);
  await documentsToTell(store, 'acme', 'run');
  await askForSteps(store, due);
  await audit(store, { by: 'ada', tenantId: 'acme', act: 'paused' });
  await listAudit(store, { tenantIds: ['acme'], limit: 5 });
}

async function askForSteps(store: Store, due: Parameters<typeof hiresDueForDocuments>[1]): Promise<void> {
  const [step, of] = [
    { ...key, destination: 'directory' },
    { ...due, destination: 'directory', hinted: ['7'] },
  ];
  await hiresDueForStep(store, of, undefined);
  await claimStep(store, step, { reference: '17:88', runId: 'run' });
  const made = { state: 'done', account_id: 'u7', code: null, reason: null, hold_id: null } as const;
  await settleStep(store, step, 'run', made);
  await stepsToTell(store, 'acme', 'run');
  await accountOf(store, step, '17:88');
}

describe.each(kinds)('query plans on %s', (kind) => {
  test('nothing that a worker or a receiver asks by itself reads all of a table that grows without end', async () => {
    const { store, asked } = await recordingStore(kind, INDEXES_ONLY);
    await askEverything(store);
    expect(asked.length).toBeGreaterThan(30);
    expect(await scansOf(store, asked.splice(0))).toEqual([]);
  });

  test('nothing that metrics and status ask reads what is over', async () => {
    const { store, asked } = await recordingStore(kind, INDEXES_ONLY);
    await askForStatus(store);
    expect(asked.length).toBeGreaterThan(6);
    expect(await scansOf(store, asked.splice(0))).toEqual([]);
  });
});

test('a list that is asked without a filter has no empty condition', async () => {
  const { store, asked } = await recordingStore('sqlite');
  await listAlarms(store);
  await listStreams(store);
  await listStreamStates(store);
  await countQuarantined(store);
  await listHires(store, {});
  await listHolds(store, { all: true });
  await listWrites(store, { tenantId: 'acme' });
  await listAudit(store, { limit: 1 });
  await findHires(store, { anyOf: { job_candidate_id: ['1'] }, limit: 1 });
  const written = (await plansOf(store, asked.splice(0))).map((plan) => plan.sql);
  expect(written.length).toBeGreaterThan(8);
  expect(written.filter((text) => text.includes('1 = 1'))).toEqual([]);
});

async function scansOf(store: Store, asked: readonly Asked[]): Promise<string[]> {
  const plans = await plansOf(store, asked);
  return plans.flatMap((plan) => plan.lines.filter(isScan).map((line) => `${line.trim()}: ${plan.sql}`));
}

/** Partial indexes that hold what waits, stands open or was left, and nothing that is over. */
const WAITING = /inbox_stuck|inbox_left|inbox_waiting|holds_to_notify|holds_waiting|holds_once_open/;

function isScan(line: string): boolean {
  if (WAITING.test(line)) return false;
  return GROWING.some((table) => new RegExp(`^SCAN ${table}\\b|Seq Scan on ${table}\\b`).test(line.trim()));
}
