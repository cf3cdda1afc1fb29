import type { Store } from '../../src/store/open-store.ts';

/** Somebody with a row in every table that may hold one of theirs. */
export interface SeededPerson {
  tenant: string;
  candidate: string;
  application: string;
  enrolment: string;
  employee: string;
}

export const HR_SYSTEM = 'hr';

/** A text of theirs that stands nowhere else. */
export function canaryOf({ tenant, candidate }: SeededPerson, what: string): string {
  return `canary-${what}-${tenant}-${candidate}-x`;
}

/** One row a table at least. */
export async function seedEverywhere(store: Store, person: SeededPerson): Promise<void> {
  await seedHire(store, person);
  await seedPairs(store, person);
  await seedWrites(store, person);
  await seedRecords(store, person);
  await seedPolicy(store, person);
}

function seedOf({ kysely }: Store, person: SeededPerson) {
  const mine = { tenant_id: person.tenant };
  return {
    mine,
    hire: { ...mine, job_candidate_id: person.application, period: 1 },
    canary: (what: string): string => canaryOf(person, what),
    async insert(table: Parameters<typeof kysely.insertInto>[0], row: object): Promise<void> {
      await kysely
        .insertInto(table)
        .values(row as never)
        .onConflict((c) => c.doNothing())
        .execute();
    },
  };
}

async function seedHire(store: Store, person: SeededPerson): Promise<void> {
  const { tenant, candidate, application, enrolment, employee } = person;
  const { insert, canary, hire } = seedOf(store, person);
  await insert('hires', {
    ...hire,
    candidate_id: candidate,
    state: 'done',
    step: 'ended',
    onboarding_candidate_id: enrolment,
    enrolment: 1,
    employee_id: employee,
    connection: HR_SYSTEM,
    opened_at: 1,
    updated_at: 1,
  });
  const named = { company: tenant, candidate_id: candidate, person_id: `p-${tenant}-${candidate}` };
  await insert('persons', { person_id: named.person_id, connection: HR_SYSTEM, version: 1, ...hire, is_abandoned: 0 });
  const value = `${tenant}:${candidate}`;
  await insert('person_keys', { ...named, scope: HR_SYSTEM, kind: 'candidate', value });
  const scope = `${HR_SYSTEM}-${tenant}`;
  await insert('person_keys', {
    ...named,
    ...hire,
    scope: tenant === 'acme' ? HR_SYSTEM : scope,
    kind: 'employee',
    value: employee,
  });
  await insert('intents', {
    ...hire,
    verb: 'enrol:1',
    attempt: 1,
    pinned: json({ email: canary('pinned') }),
    sent_at: 1,
    give_up_at: 1,
    outcome: 'done',
  });
  await insert('plans', {
    ...hire,
    plan_id: canary('plan'),
    mapping_hash: '',
    change: json({ name: canary('change') }),
    planned_at: 1,
  });
  const hold = { tenant_id: tenant, code: 'NO_SHOW', answers: '[]', opened_at: 1, history: '[]' };
  await insert('holds', {
    ...hold,
    ...hire,
    hold_id: canary('hold'),
    message: canary('hold'),
    details: json({ jobCandidateId: application }),
  });
}

async function seedPairs(store: Store, person: SeededPerson): Promise<void> {
  const { candidate, application, employee } = person;
  const { insert, canary, hire, mine } = seedOf(store, person);
  await insert('alarms', {
    ...mine,
    kind: 'activity-failing',
    subject: `employ of ${application}`,
    reason: '',
    message: canary('alarm'),
    since: 1,
    last_seen_at: 1,
    times: 1,
  });
  await insert('employments', {
    ...mine,
    employee_id: employee,
    written_id: canary('number'),
    status: 'hired',
    written_at: 1,
  });
  const pair = { ...mine, stream: 'employees', pair_id: employee };
  await insert('exchange_pairs', {
    ...pair,
    bases: json({ email: canary('base') }),
    identities: '{}',
    sent: '{}',
    echoes: '{}',
    version: 1,
    settles_at: 0,
    updated_at: 1,
  });
  await insert('field_conflicts', {
    ...pair,
    conflict_id: canary('conflict'),
    field: 'email',
    kind: 'held',
    partner_value: json(canary('value')),
    is_sensitive: 1,
    times: 1,
    since: 1,
  });
  await insert('hire_documents', {
    ...hire,
    document: 'resume',
    state: 'delivered',
    attempt: 1,
    sha256: canary('sha'),
  });
  await insert('document_looks', { ...hire, looked_at: 1, again: 0 });
  const step = { destination: 'directory', reference: canary('reference'), state: 'done', updated_at: 1 };
  await insert('hire_steps', { ...hire, ...step, account_id: canary('account') });
  await insert('refusals', { ...hire, code: 'HIRE_REJECTED', message: canary('refusal'), refused_at: 1 });
  const name = { connection: 'hr', place: 'employees.login', name: canary('name'), name_key: canary('name-key') };
  await insert('unique_names', { ...hire, ...name, field: 'login' });
  await insert('seen_people', { ...mine, job_candidate_id: application, candidate_id: candidate, seen: 'hired' });
}

async function seedWrites(store: Store, person: SeededPerson): Promise<void> {
  const { candidate, application, employee } = person;
  const { insert, canary, mine } = seedOf(store, person);
  const write = {
    ...mine,
    run_id: 'r',
    kind: 'create',
    fields: '["email"]',
    sensitive: '[]',
    by: 'hirebridge',
    sent_at: 1,
    outcome: 'done',
  };
  const changes = json({ email: { new: canary('written') } });
  await insert('foreign_writes', {
    ...write,
    batch_id: canary('b1'),
    target: 'employee',
    record_id: application,
    period: 1,
    foreign_id: employee,
    changes,
  });
  await insert('foreign_writes', {
    ...write,
    batch_id: canary('b2'),
    target: 'candidates',
    record_id: candidate,
    changes,
  });
  await insert('foreign_writes', {
    ...write,
    batch_id: canary('b3'),
    target: 'employees:hris',
    record_id: candidate,
    foreign_id: employee,
    changes,
  });
  await insert('foreign_writes', {
    ...write,
    batch_id: canary('b4'),
    target: 'documents',
    record_id: application,
    period: 1,
    foreign_id: employee,
    changes: json({ resume: { new: `sha256:${canary('file')}` } }),
  });
  await insert('purged_writes', {
    ...mine,
    page_id: canary('page'),
    run_id: 'r',
    target: 'candidates',
    mapping_hash: '',
    by: '',
    sent_at: 1,
    purged_at: 1,
    records: json([{ kind: 'create', outcome: 'done', fields: [], ids: [candidate] }]),
  });
}

async function seedRecords(store: Store, person: SeededPerson): Promise<void> {
  const { tenant, candidate, application, enrolment } = person;
  const { insert, canary, mine } = seedOf(store, person);
  for (const [stream, record_id] of [
    ['candidates', candidate],
    ['applications', application],
    ['onboarding', enrolment],
  ] as const) {
    await insert('hints', { ...mine, stream, record_id, hinted_at: 1 });
    await insert('quarantine', { ...mine, stream, record_key: record_id, page: 1, reason: canary('reason'), since: 1 });
    await insert('stream_missing', { ...mine, stream, record_id, run_id: 'r', since: 1 });
  }
  const part = { ...mine, stream: 'accounts', record_key: `${application}/directory` };
  await insert('quarantine', { ...part, page: 0, reason: canary('part'), since: 1 });
  await insert('saved_plans', {
    ...mine,
    plan_hash: canary('saved'),
    subject: `hire ${application}/1`,
    source: 'records',
    planned_at: 1,
    planned_by: 'ann',
  });
  await insert('saved_plan_records', {
    plan_hash: canary('saved'),
    record_id: application,
    change: json(canary('planned')),
    state: 'planned',
  });
  await insert('audit', { at: store.now, by: 'ann', tenant_id: tenant, act: 'erasure-asked', details: 'somebody' });
  const ids = json({ jobCandidateId: [application], jobId: ['12'] });
  const invited = { ...mine, assessment_id: 'a1', candidate_id: candidate, job_candidate_id: application };
  await insert('invitations', { ...invited, state: 'invited', attempt: 1, in_doubt: 0 });
  const moved = { ...mine, flow: 'flow:7', candidate_id: candidate, job_candidate_id: application, stage_id: '13' };
  await insert('stage_moves', { ...moved, state: 'done', attempt: 1 });
  const taken = { ...mine, job_id: '12', candidate_id: candidate, state: 'done', attempt: 1 };
  await insert('sourced_leads', { ...taken, lead_id: canary('lead'), job_candidate_id: application });
  await insert('resumes', { ...taken, resume_id: canary('resume') });
  const slot = { ...mine, booking_id: canary('booking'), schedule_id: '71', starts_at: '2026-01-01T00:00:00.000Z' };
  await insert('calendar_events', { ...slot, entity_id: application, sequence: 0, changed_at: 1, missed: 0 });
  const event = { ...mine, event_id: canary('event'), type: 'hire.done', at: 1, tries: 0, due_at: 1 };
  await insert('events_out', { ...event, job_candidate_id: application, period: 1, facts: json(canary('facts')) });
  await insert('inbox', {
    ...mine,
    body_hash: canary('delivery'),
    event: 'candidate.hired',
    ids,
    body: json({ name: canary('body') }),
    state: 'relayed',
    received_at: 1,
    failures: 0,
    due_at: 1,
  });
}

async function seedPolicy(store: Store, person: SeededPerson): Promise<void> {
  const { insert, mine, canary } = seedOf(store, person);
  const kept = { candidate_id: person.candidate, cause: 'gone', state: 'kept', since: 1, due_at: 1 };
  await insert('privacy_cases', { ...mine, ...kept });
  const consent = { ...mine, job_candidate_id: person.application, candidate_id: person.candidate };
  await insert('consents', { ...consent, state: 'given', shown: json(canary('consent')) });
}

/** Rows that hold this person beside somebody else; `OTHER` alone is what is left of each. */
export async function seedShared(store: Store, { tenant, candidate, application }: SeededPerson): Promise<void> {
  const { kysely } = store;
  const mine = { tenant_id: tenant };
  const two = json({ candidateId: [candidate, OTHER] });
  await kysely
    .insertInto('inbox')
    .values({
      ...mine,
      body_hash: 'two',
      event: 'candidate.applied',
      ids: two,
      body: two,
      state: 'waiting',
      received_at: 1,
      failures: 0,
      due_at: 1,
    })
    .execute();
  const known = json({
    version: 'v',
    shapes: [[]],
    records: [
      ['print', candidate, 'h', 0],
      ['other', OTHER, 'h', 0],
    ],
  });
  await kysely
    .insertInto('stream_pages')
    .values({ ...mine, stream: 'candidates', page: 0, ids: json([candidate, OTHER]), known })
    .execute();
  await kysely
    .insertInto('holds')
    .values({
      ...mine,
      hold_id: 'all',
      code: 'HIRES_NOT_RESTORED',
      message: `It does not know job candidates ${application}, ${OTHER}, and the rest.`,
      answers: '[]',
      details: json({ jobCandidateIds: [application, OTHER] }),
      opened_at: 1,
    })
    .execute();
  await kysely
    .insertInto('audit')
    .values({ at: 1, by: 'ann', tenant_id: tenant, act: 'went-live', details: `started: ${application} ${OTHER}` })
    .execute();
}

export const OTHER = '4711';

function json(value: unknown): string {
  return JSON.stringify(value);
}
