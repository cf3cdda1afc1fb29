import { tmpdir } from 'node:os';
import { countStuck, listAlarms, tenantsToTell } from '../../src/store/alarms.ts';
import { keepAudit } from '../../src/store/audit.ts';
import { openErasures } from '../../src/store/erasures.ts';
import { oldestUntaken, purgeEvents, tenantsWithEvents } from '../../src/store/events-out.ts';
import { recentWrites } from '../../src/store/exchange-pairs.ts';
import { countUndecided, purgeConflicts } from '../../src/store/field-conflicts.ts';
import { readOpenWrites } from '../../src/store/foreign-writes.ts';
import { oldestHints, readHints } from '../../src/store/hints.ts';
import { documentsToTell, hiresDueForDocuments } from '../../src/store/hire-documents.ts';
import { oldestOwnTimes } from '../../src/store/hire-states.ts';
import { countHires, hiresInState, hiresOfEnrolments, latestHires, unmadeHiresOf } from '../../src/store/hires.ts';
import {
  countOpenHolds,
  everHeld,
  hiresHeld,
  listHolds,
  openDepartures,
  tenantHoldsOf,
  tenantsHeldLike,
  unheardAnswers,
  unnotifiedHolds,
} from '../../src/store/holds.ts';
import { countOpenDeliveries, leaseDeliveries, lookForDue } from '../../src/store/inbox.ts';
import { hasWriteUnderWay } from '../../src/store/intents.ts';
import { readLeftOutPairs } from '../../src/store/linked-pairs.ts';
import { STARTS, tenantsToStart } from '../../src/store/observed-hires.ts';
import type { Store } from '../../src/store/open-store.ts';
import { lapseCreating } from '../../src/store/people.ts';
import { countAsked, tenantsWithCases } from '../../src/store/privacy-cases.ts';
import { readAbsent } from '../../src/store/reconciles.ts';
import {
  listOverdue,
  purgeBodies,
  purgeDeliveries,
  purgePlans,
  purgeWriteLog,
  purgeWrites,
} from '../../src/store/retention.ts';
import { listTenantStates } from '../../src/store/tenant-states.ts';
import { readWebhookFacts } from '../../src/store/webhook-refusals.ts';

const DAY_MS = 86_400_000;
const TENANT = 'tenant-7';
const KEPT = { bodiesMs: 8 * DAY_MS, deliveriesMs: 91 * DAY_MS };
const people = { tenantId: TENANT, stream: 'people' } as const;

type Loops = Record<string, (store: Store) => Promise<unknown>>;

/** What workers, receivers and metrics ask by themselves, again and again, of all tenants. */
export const ofAll: Loops = {
  'relay: which tenants have something due': lookForDue,
  'chores: the oldest hint of each stream': oldestHints,
  'chores: deliveries that nothing moves': (store) => countStuck(store, DAY_MS),
  'chores: what should have been cleared': (store) => listOverdue(store, KEPT),
  'chores: clear bodies': (store) => purgeBodies(store, KEPT.bodiesMs),
  'chores: delete deliveries': (store) => purgeDeliveries(store, KEPT.deliveriesMs),
  'chores: delete events': (store) => purgeEvents(store, 30 * DAY_MS),
  'chores: whom to send events': tenantsWithEvents,
  'chores: events that nobody takes': oldestUntaken,
  'chores: people to decide about': async (store) => [await countAsked(store), await tenantsWithCases(store)],
  'chores: whom to tell': tenantsToTell,
  'chores: whom to start': tenantsToStart,
  'chores: the state of each tenant': listTenantStates,
  'chores: departures': (store) => openDepartures(store, ['LEFT_BEFORE_START', 'LEFT_AFTER_EMPLOYEE']),
  'chores: HR systems that are held': (store) => tenantsHeldLike(store, 'HRIS_%'),
  'chores: answers that nobody heard': (store) => unheardAnswers(store, 10_000),
  'chores: erasures': openErasures,
  'chores: the audit trail': (store) => keepAudit(store, tmpdir()),
  'metrics: hires by state': countHires,
  'metrics: the oldest that wait for nobody': oldestOwnTimes,
  'metrics: open holds': countOpenHolds,
  'metrics: alarms': listAlarms,
  'status: open holds': (store) => listHolds(store),
  'status: open deliveries': countOpenDeliveries,
  'status: webhooks': readWebhookFacts,
};

/** What they ask of one tenant after the other. */
export const ofOne: Loops = {
  'relay: what is due of a tenant': (store) => leaseDeliveries(store, TENANT, 100),
  'relay: the hires that a delivery names': async (store) => {
    await latestHires(store, TENANT, ['7', '1007']);
    await hiresOfEnrolments(store, TENANT, ['none']);
    await unmadeHiresOf(store, TENANT, 'job_id', ['none']);
  },
  'chores: hires of a tenant to start': (store) => readHints(store, TENANT, STARTS),
  'chores: holds of a tenant to tell of': (store) => unnotifiedHolds(store, TENANT, 50),
  'each hour: plans of a tenant': (store) => purgePlans(store, TENANT, 30 * DAY_MS),
  'each hour: values of its writes': (store) => purgeWrites(store, TENANT, 30 * DAY_MS),
  'each hour: values of its conflicts': (store) => purgeConflicts(store, TENANT, 30 * DAY_MS),
  'each hour: its creates that lapsed': (store) => lapseCreating(store, TENANT),
  'each day: writes about who was not hired': (store) => purgeWriteLog(store, TENANT, 180 * DAY_MS),
  'schedules: whether a write is under way': (store) => hasWriteUnderWay(store, TENANT),
  'reconcile: open hires': (store) => hiresInState(store, TENANT, 'open'),
  'reconcile: who was asked about': async (store) => {
    await hiresHeld(store, TENANT, 'BACK_IN_STAGE');
    await everHeld(store, { tenantId: TENANT, code: 'JOB_LEFT_SCOPE' }, ['1007', '20007']);
    await tenantHoldsOf(store, TENANT, 'NOT_RESTORED');
  },
  'reconcile: whom a job no longer lists': (store) =>
    readAbsent(store, TENANT, { jobIds: ['job-7'], states: ['open'], after: '', limit: 100 }),
  'documents: whose to look at': (store) =>
    hiresDueForDocuments(
      store,
      { tenantId: TENANT, connection: 'hris', againAfterMs: DAY_MS, endedWithinMs: 30 * DAY_MS, hinted: [] },
      undefined,
    ),
  'documents: what to tell': (store) => documentsToTell(store, TENANT, 'now'),
  'exchange: what waits': async (store) => {
    await countUndecided(store, people);
    await readLeftOutPairs(store, TENANT);
    await recentWrites(store, people);
    await readOpenWrites(store, TENANT, 'people');
  },
};
