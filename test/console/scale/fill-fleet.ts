import { sql } from 'kysely';
import { holdOf } from '../../../src/hire/holds.ts';
import { createRootLogger } from '../../../src/log.ts';
import { noteTrouble } from '../../../src/store/alarms.ts';
import { openHold } from '../../../src/store/holds.ts';
import type { Store } from '../../../src/store/open-store.ts';
import { openRateLimit } from '../../../src/store/rate-limits.ts';
import type { Tables } from '../../../src/store/schema.ts';

export interface FleetSize {
  tenants: number;
  hires: number;
  audit: number;
}

/** The tenant that has a fifth of everything. */
export const BIG = 'tenant-7';

const HOUR = 3_600_000;
const YEAR = 365 * 24 * HOUR;

/** A year of a fleet: hires with their deliveries and writes, questions, streams, limits, and what people did. */
export async function fillFleet(store: Store, { tenants, hires, audit }: FleetSize): Promise<void> {
  const ids = Array.from({ length: tenants }, (_, n) => `tenant-${n}`);
  const now = Date.now();
  /** The nth of so many, spread over a year until now. */
  const time = (n: number, of: number): number => now - YEAR + Math.floor((n / of) * YEAR);
  const tenantOf = (n: number): string => (n % 5 === 0 ? BIG : (ids[n % tenants] ?? BIG));
  await putAll(store, 'tenants', ids, (tenantId) => tenantRow(tenantId, now));
  const each = Array.from({ length: hires }, (_, n) => n);
  await putAll(store, 'hires', each, (n) => {
    const isOpen = n % 50 === 0;
    const id = String(500_000 + n);
    return {
      tenant_id: tenantOf(n),
      job_candidate_id: id,
      period: 1,
      candidate_id: String(900_000 + n),
      job_id: String(n % 300),
      state: isOpen ? 'open' : n % 7 === 0 ? 'left' : 'done',
      step: isOpen ? 'enrol' : 'ended',
      enrolment: 1,
      opened_at: time(n, hires),
      updated_at: time(n, hires),
      ended_at: isOpen ? null : time(n, hires),
      employee_id: isOpen ? null : id,
      employee_number: isOpen ? null : id,
    };
  });
  await putAll(store, 'inbox', each, (n) => ({
    tenant_id: tenantOf(n),
    body_hash: hashOf(n),
    event: 'candidate.hired',
    ids: JSON.stringify({ jobCandidateId: [String(500_000 + n)] }),
    body: JSON.stringify({ event: 'candidate.hired', data: { jobCandidateId: 500_000 + n } }),
    state: n % 400 === 0 ? ('undeliverable' as const) : ('relayed' as const),
    received_at: time(n, hires),
    failures: 0,
    due_at: time(n, hires),
    last_error: n % 400 === 0 ? 'UNREACHABLE' : null,
    done_at: time(n, hires),
  }));
  await putAll(store, 'foreign_writes', each, (n) => ({
    batch_id: hashOf(n),
    tenant_id: tenantOf(n),
    run_id: 'hire',
    target: 'employee',
    record_id: String(500_000 + n),
    period: 1,
    foreign_id: String(500_000 + n),
    verb: null,
    attempt: null,
    kind: 'create' as const,
    fields: '["givenName","familyName","email","title"]',
    sensitive: '[]',
    changes:
      '{"givenName":{"new":"Ann"},"familyName":{"new":"Lee"},"email":{"new":"a@b.example"},"title":{"new":"Cook"}}',
    row_hash: null,
    mapping_hash: hashOf(1),
    by: 'hirebridge',
    sent_at: time(n, hires),
    outcome: 'done' as const,
    verified_at: time(n, hires),
    purged_at: null,
  }));
  const acts = ['applied', 'paused', 'resumed', 'hold-answered', 'records-retried', 'revealed'] as const;
  await putAll(
    store,
    'audit',
    Array.from({ length: audit }, (_, n) => n),
    (n) => ({
      at: time(n, audit),
      by: `person-${n % 40}`,
      tenant_id: tenantOf(n),
      act: acts[n % acts.length] ?? 'applied',
      details: `version ${n}: policies.reconcile.every: 5m -> 30m`,
    }),
  );
  await putPlans(store, tenantOf, audit / 10);
  await putHolds(store, tenantOf, hires);
  await putStreams(store, ids, now, hires);
  await putAlarms(store, ids);
  await putLimits(store, ids);
  if (store.kind === 'postgres') await sql`vacuum analyze`.execute(store.kysely);
  else await sql`analyze`.execute(store.kysely);
}

async function putAll<Table extends keyof Tables, Item>(
  { kysely }: Store,
  table: Table,
  items: readonly Item[],
  rowOf: (item: Item) => object,
): Promise<void> {
  for (let from = 0; from < items.length; from += 1_000)
    await kysely
      .insertInto(table)
      .values(items.slice(from, from + 1_000).map(rowOf) as never)
      .execute();
}

function hashOf(n: number): string {
  return n.toString(16).padStart(12, '0').padEnd(64, 'a');
}

function tenantRow(tenantId: string, now: number): object {
  const file = `/tenants/${tenantId}.yaml`;
  const mapping = `/tenants/${tenantId}-mapping.yaml`;
  const text = `tenant: ${tenantId}
partner:
  baseUrl: https://hiring.example/v1/partner
  environment: sandbox
  apiKey: env:KEY_${tenantId.replace('-', '_')}
  company: "${tenantId.slice(7)}"
  webhookKeys: [env:WEBHOOK]
hris:
  kind: sql
  connection: ${tenantId}-hr
  url: postgres://hr.example/${tenantId}
mapping: ${tenantId}-mapping.yaml
policies:
  onboarding: { flow: "flow-1" }
streams:
  jobs: { every: 1h }
  candidates: { every: 1h }
`;
  const fields = 'fields:\n  department: { constant: People }\n';
  return {
    tenant_id: tenantId,
    state: 'active',
    version: 1,
    file,
    files: JSON.stringify({ [file]: text, [mapping]: fields }),
    receives: JSON.stringify({
      environment: 'sandbox',
      origin: 'https://hiring.example',
      webhooks: 'on',
      webhookKeys: [],
    }),
    applied_at: now - YEAR,
    applied_by: 'ann',
    baseline_started_at: now - YEAR,
    baseline_done_at: now - YEAR,
    reconciled_at: now - HOUR / 60,
  };
}

async function putPlans(store: Store, tenantOf: (n: number) => string, plans: number): Promise<void> {
  const all = Array.from({ length: plans }, (_, n) => n);
  await putAll(store, 'saved_plans', all, (n) => ({
    plan_hash: hashOf(n),
    tenant_id: tenantOf(n),
    subject: `hire ${500_000 + n}/1`,
    source: 'records' as const,
    mapping_hash: hashOf(1),
    planned_at: n,
    planned_by: 'ann',
  }));
  await putAll(store, 'saved_plan_records', all, (n) => ({
    plan_hash: hashOf(n),
    record_id: String(500_000 + n),
    change: '{"city":{"new":"Oslo"}}',
    state: 'planned' as const,
  }));
}

/** Some hundred that wait, and many that are over. */
async function putHolds(store: Store, tenantOf: (n: number) => string, hires: number): Promise<void> {
  const open = Array.from({ length: Math.min(400, hires / 50) }, (_, n) => n * 50);
  for (const n of open) {
    const hire = { tenantId: tenantOf(n), jobCandidateId: String(500_000 + n), period: 1 };
    const id = hire.jobCandidateId;
    const question =
      n % 100 === 0
        ? holdOf('IDENTITY_AMBIGUOUS', {
            jobCandidateId: id,
            reason: 'two people',
            keys: ['name'],
            employeeIds: ['1', '2'],
          })
        : holdOf('PERSON_BEING_HIRED', { jobCandidateId: id, other: { ...hire, jobCandidateId: '1' } });
    await openHold(store, { ...hire, ...question });
  }
  const over = Array.from({ length: hires / 5 }, (_, n) => n * 5 + 1);
  await putAll(store, 'holds', over, (n) => ({
    hold_id: `h${n.toString(16)}`,
    tenant_id: tenantOf(n),
    job_candidate_id: String(500_000 + n),
    period: 1,
    code: 'MAPPING_INCOMPLETE',
    message: 'A value is missing. Then answer retry.',
    answers: '["retry"]',
    details: '{}',
    opened_at: n,
    answer: 'retry',
    answer_arguments: '[]',
    answered_at: n + 1,
    answered_by: 'ann',
    closed_at: n + 2,
    notified_at: n,
  }));
}

async function putStreams(store: Store, ids: readonly string[], now: number, hires: number): Promise<void> {
  const streams = ids.flatMap((tenantId) =>
    ['jobs', 'candidates', 'employees'].map((stream) => ({ tenantId, stream })),
  );
  await putAll(store, 'streams', streams, ({ tenantId, stream }) => ({
    tenant_id: tenantId,
    stream,
    run_id: 'r1',
    state: 'done',
    is_full: 0,
    page: 1,
    seen: 200,
    total: 200,
    unchanged: 190,
    created: 5,
    updated: 5,
    quarantined: 0,
    started_at: now - HOUR,
    updated_at: now - HOUR,
    ended_at: now - HOUR,
    mode: 'full',
  }));
  await putAll(store, 'stream_states', streams, ({ tenantId, stream }) => ({
    tenant_id: tenantId,
    stream,
    whole_at: now - HOUR,
    listed: 200,
    landed: 200,
  }));
  const own = Array.from({ length: hires / 50 }, (_, n) => n);
  const people = Array.from({ length: hires / 5 }, (_, n) => n);
  const of = { tenant_id: BIG, stream: 'candidates' };
  await putAll(store, 'stream_passes', own.slice(0, 60), (n) => ({
    ...of,
    began_at: now - n * HOUR,
    ended_at: now - n * HOUR + 60_000,
    listed: 200 + n,
    landed: 199 + n,
    created: 1,
    updated: 2,
    quarantined: 0,
  }));
  await putAll(store, 'quarantine', own, (n) => ({
    ...of,
    record_key: String(n),
    page: 0,
    reason: 'phone: MISSING',
    since: n,
  }));
  await putAll(store, 'purged_writes', own, (n) => ({
    page_id: `p${n}`,
    tenant_id: BIG,
    run_id: `r${n}`,
    target: 'candidates',
    mapping_hash: hashOf(1),
    by: 'hirebridge',
    sent_at: n,
    purged_at: n,
    records: JSON.stringify([{ kind: 'update', outcome: 'done', fields: ['city'], ids: own.slice(0, 50).map(String) }]),
  }));
  await putAll(store, 'exchange_pairs', people, (n) => ({
    tenant_id: BIG,
    stream: 'employees',
    pair_id: String(500_000 + n),
    bases: '{"city":["Oslo","Oslo"]}',
    sent: n % 4_000 === 0 ? '{"city":"Oslo"}' : '{}',
    version: 1,
    settles_at: 0,
    missing_side: n % 3_000 === 0 ? ('partner' as const) : null,
    updated_at: n,
  }));
  await putAll(store, 'field_conflicts', people, (n) => ({
    conflict_id: `c${n}`,
    tenant_id: BIG,
    stream: 'employees',
    pair_id: String(n),
    field: 'city',
    kind: 'held',
    partner_form: 'a',
    hris_form: 'b',
    partner_value: '"Oslo"',
    hris_value: '"Rome"',
    is_sensitive: 0,
    times: 1,
    since: n,
    // The oldest ones are open still.
    closed_at: n < 200 ? null : n + 1,
  }));
}

async function putAlarms(store: Store, ids: readonly string[]): Promise<void> {
  for (let n = 0; n < 50; n += 1)
    await noteTrouble(
      store,
      {
        tenantId: ids[n * 3] ?? BIG,
        kind: 'activity-failing',
        subject: `planEmployee of job candidate ${500_000 + n}`,
        reason: 'UNREACHABLE',
        message: 'The HR system did not answer in time.',
      },
      0,
    );
}

/** One that was learned, as every tenant's. */
async function putLimits(store: Store, ids: readonly string[]): Promise<void> {
  const limit = openRateLimit(
    store,
    { tenantId: BIG, upstream: 'partner' },
    createRootLogger({ write: () => undefined }, 'error'),
  );
  for (let n = 0; n < 20; n += 1) {
    await limit.acquire('live');
    limit.answered({ status: 200, sentAt: Date.now() });
  }
  await limit.close();
  const one = await store.kysely.selectFrom('rate_limits').selectAll().executeTakeFirstOrThrow();
  await putAll(
    store,
    'rate_limits',
    ids.filter((id) => id !== BIG),
    (id) => ({ ...one, tenant_id: id }),
  );
}
