import { type Kysely, sql } from 'kysely';

/** Every table of the first release. Never edited once released; a change is a new migration. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('installation')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('tenants_version', 'bigint', (c) => c.notNull())
    .addColumn('frozen_at', 'bigint')
    .addColumn('frozen_by', 'text')
    .execute();
  await createTenants(db);
  await createAudit(db);
  await createInbox(db);
  await createHires(db);
  await createIntents(db);
  await createIdentity(db);
  await createPlans(db);
  await createHolds(db);
  await createAlarms(db);
  await db.schema
    .createTable('jobs')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('job_id', 'text', (c) => c.notNull())
    .addColumn('record', 'text', (c) => c.notNull())
    .addColumn('listed_totals', 'text')
    .addColumn('seen_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('jobs_key', ['tenant_id', 'job_id'])
    .execute();
  await createStreams(db);
  await createRateLimits(db);
  await createEvidence(db);
}

async function createTenants(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('tenants')
    .addColumn('tenant_id', 'text', (c) => c.primaryKey())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('paused_code', 'text')
    .addColumn('paused_message', 'text')
    .addColumn('paused_at', 'bigint')
    .addColumn('paused_key', 'text')
    .addColumn('verified_key', 'text')
    .addColumn('company_confirmed_at', 'bigint')
    .addColumn('company_confirmed_by', 'text')
    .addColumn('company_confirmed_key', 'text')
    .addColumn('baseline_started_at', 'bigint')
    .addColumn('baseline_done_at', 'bigint')
    .addColumn('reconciled_at', 'bigint')
    .addColumn('fully_reconciled_at', 'bigint')
    .addColumn('credit_gate', 'text')
    .addColumn('canary_at', 'bigint')
    .addColumn('stage_filter', 'text')
    .addColumn('stage_filter_at', 'bigint')
    .addColumn('version', 'bigint')
    .addColumn('file', 'text')
    .addColumn('files', 'text')
    .addColumn('receives', 'text')
    .addColumn('applied_at', 'bigint')
    .addColumn('applied_by', 'text')
    .addColumn('frozen_at', 'bigint')
    .addColumn('frozen_by', 'text')
    .addColumn('removed_at', 'bigint')
    .addColumn('ended_at', 'bigint')
    .execute();
  await db.schema.createIndex('tenants_version').on('tenants').column('version').execute();
}

async function createAudit(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('audit')
    .addColumn('at', 'bigint', (c) => c.notNull())
    .addColumn('by', 'text', (c) => c.notNull())
    .addColumn('tenant_id', 'text')
    .addColumn('act', 'text', (c) => c.notNull())
    .addColumn('details', 'text')
    .execute();
  await db.schema.createIndex('audit_tenant').on('audit').columns(['tenant_id', 'at']).execute();
}

async function createInbox(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('inbox')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('body_hash', 'text', (c) => c.notNull())
    .addColumn('event', 'text', (c) => c.notNull())
    .addColumn('ids', 'text', (c) => c.notNull())
    .addColumn('body', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('received_at', 'bigint', (c) => c.notNull())
    .addColumn('failures', 'integer', (c) => c.notNull())
    .addColumn('due_at', 'bigint', (c) => c.notNull())
    .addColumn('last_error', 'text')
    .addColumn('done_at', 'bigint')
    .addPrimaryKeyConstraint('inbox_key', ['tenant_id', 'body_hash'])
    .execute();
  await db.schema
    .createIndex('inbox_bodies')
    .on('inbox')
    .columns(['received_at'])
    .where(sql<boolean>`body <> ''`)
    .execute();
  await db.schema.createIndex('inbox_due').on('inbox').columns(['tenant_id', 'state', 'due_at']).execute();
  await db.schema
    .createTable('webhook_refusals')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('reason', 'text', (c) => c.notNull())
    .addColumn('count', 'bigint', (c) => c.notNull())
    .addColumn('last_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('webhook_refusals_key', ['tenant_id', 'reason'])
    .execute();
  await db.schema
    .createTable('hints')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('stream', 'text', (c) => c.notNull())
    .addColumn('record_id', 'text', (c) => c.notNull())
    .addColumn('hinted_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('hints_key', ['tenant_id', 'stream', 'record_id'])
    .execute();
}

async function createHires(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('hires')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('job_candidate_id', 'text', (c) => c.notNull())
    .addColumn('period', 'integer', (c) => c.notNull())
    .addColumn('candidate_id', 'text')
    .addColumn('job_id', 'text')
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('step', 'text', (c) => c.notNull())
    .addColumn('onboarding_candidate_id', 'text')
    .addColumn('onboarding_reference', 'text')
    .addColumn('enrolment', 'integer', (c) => c.notNull())
    .addColumn('onboarding_status', 'text')
    .addColumn('onboarding_read_at', 'bigint')
    .addColumn('employee_id', 'text')
    .addColumn('employee_number', 'text')
    .addColumn('opened_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .addColumn('ended_at', 'bigint')
    .addPrimaryKeyConstraint('hires_key', ['tenant_id', 'job_candidate_id', 'period'])
    .execute();
  await db.schema.createIndex('hires_by_candidate').on('hires').columns(['tenant_id', 'candidate_id']).execute();
  await db.schema.createIndex('hires_by_job').on('hires').columns(['tenant_id', 'job_id', 'state']).execute();
  await db.schema.createIndex('hires_by_state').on('hires').columns(['tenant_id', 'state']).execute();
  await db.schema
    .createIndex('hires_by_enrolment')
    .on('hires')
    .columns(['tenant_id', 'onboarding_candidate_id'])
    .execute();
}

async function createIntents(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('intents')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('verb', 'text', (c) => c.notNull())
    .addColumn('job_candidate_id', 'text', (c) => c.notNull())
    .addColumn('period', 'integer', (c) => c.notNull())
    .addColumn('attempt', 'integer', (c) => c.notNull())
    .addColumn('pinned', 'text', (c) => c.notNull())
    .addColumn('sent_at', 'bigint', (c) => c.notNull())
    .addColumn('give_up_at', 'bigint', (c) => c.notNull())
    .addColumn('outcome', 'text', (c) => c.notNull())
    .addColumn('result', 'text')
    .addColumn('decided_at', 'bigint')
    .addPrimaryKeyConstraint('intents_key', ['tenant_id', 'verb', 'job_candidate_id', 'period', 'attempt'])
    .execute();
  await db.schema
    .createIndex('intents_by_hire')
    .on('intents')
    .columns(['tenant_id', 'job_candidate_id', 'period'])
    .execute();
  await db.schema
    .createIndex('intents_kept')
    .on('intents')
    .columns(['tenant_id'])
    .where(sql<boolean>`pinned <> '{}'`)
    .execute();
}

async function createIdentity(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('claims')
    .addColumn('connection', 'text', (c) => c.notNull())
    .addColumn('partner_company', 'text', (c) => c.notNull())
    .addColumn('candidate_id', 'text', (c) => c.notNull())
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('job_candidate_id', 'text', (c) => c.notNull())
    .addColumn('period', 'integer', (c) => c.notNull())
    .addColumn('claimed_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('claims_key', ['connection', 'partner_company', 'candidate_id'])
    .execute();
  await db.schema
    .createTable('links')
    .addColumn('connection', 'text', (c) => c.notNull())
    .addColumn('employee_id', 'text', (c) => c.notNull())
    .addColumn('employee_number', 'text')
    .addColumn('partner_company', 'text', (c) => c.notNull())
    .addColumn('candidate_id', 'text', (c) => c.notNull())
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('job_candidate_id', 'text', (c) => c.notNull())
    .addColumn('period', 'integer', (c) => c.notNull())
    .addColumn('linked_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('links_key', ['connection', 'employee_id'])
    .execute();
  await db.schema
    .createIndex('links_by_person')
    .on('links')
    .columns(['connection', 'partner_company', 'candidate_id'])
    .execute();
}

async function createPlans(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('plans')
    .addColumn('plan_id', 'text', (c) => c.primaryKey())
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('job_candidate_id', 'text', (c) => c.notNull())
    .addColumn('period', 'integer', (c) => c.notNull())
    .addColumn('mapping_hash', 'text', (c) => c.notNull())
    .addColumn('change', 'text', (c) => c.notNull())
    .addColumn('planned_at', 'bigint', (c) => c.notNull())
    .addColumn('applied_at', 'bigint')
    .execute();
  await db.schema
    .createIndex('plans_by_hire')
    .on('plans')
    .columns(['tenant_id', 'job_candidate_id', 'period'])
    .execute();
  await db.schema
    .createIndex('plans_kept')
    .on('plans')
    .columns(['tenant_id'])
    .where(sql<boolean>`change <> '{}'`)
    .execute();
}

async function createHolds(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('holds')
    .addColumn('hold_id', 'text', (c) => c.primaryKey())
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('job_candidate_id', 'text')
    .addColumn('period', 'integer')
    .addColumn('code', 'text', (c) => c.notNull())
    .addColumn('message', 'text', (c) => c.notNull())
    .addColumn('answers', 'text', (c) => c.notNull())
    .addColumn('details', 'text', (c) => c.notNull())
    .addColumn('opened_at', 'bigint', (c) => c.notNull())
    .addColumn('answer', 'text')
    .addColumn('answer_arguments', 'text')
    .addColumn('answered_at', 'bigint')
    .addColumn('answered_by', 'text')
    .addColumn('closed_at', 'bigint')
    .addColumn('notified_at', 'bigint')
    .execute();
  await db.schema
    .createIndex('holds_of_hire')
    .on('holds')
    .columns(['tenant_id', 'job_candidate_id', 'period'])
    .execute();
  await db.schema.createIndex('holds_open').on('holds').columns(['tenant_id', 'closed_at']).execute();
  await db.schema
    .createIndex('holds_to_notify')
    .on('holds')
    .columns(['tenant_id', 'opened_at'])
    .where(sql<boolean>`notified_at is null and closed_at is null`)
    .execute();
  await db.schema
    .createIndex('holds_once_open')
    .unique()
    .on('holds')
    .expression(sql`tenant_id, coalesce(job_candidate_id, ''), coalesce(period, 0), code`)
    .where(sql<boolean>`closed_at is null`)
    .execute();
}

async function createAlarms(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('alarms')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('subject', 'text', (c) => c.notNull())
    .addColumn('reason', 'text', (c) => c.notNull())
    .addColumn('message', 'text', (c) => c.notNull())
    .addColumn('since', 'bigint', (c) => c.notNull())
    .addColumn('last_seen_at', 'bigint', (c) => c.notNull())
    .addColumn('times', 'integer', (c) => c.notNull())
    .addColumn('raised_at', 'bigint')
    .addPrimaryKeyConstraint('alarms_key', ['tenant_id', 'kind', 'subject'])
    .execute();
}

async function createStreams(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('streams')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('stream', 'text', (c) => c.notNull())
    .addColumn('run_id', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('is_full', 'integer', (c) => c.notNull())
    .addColumn('page', 'integer', (c) => c.notNull())
    .addColumn('seen', 'integer', (c) => c.notNull())
    .addColumn('total', 'integer')
    .addColumn('unchanged', 'integer', (c) => c.notNull())
    .addColumn('created', 'integer', (c) => c.notNull())
    .addColumn('updated', 'integer', (c) => c.notNull())
    .addColumn('quarantined', 'integer', (c) => c.notNull())
    .addColumn('refused_code', 'text')
    .addColumn('refused_message', 'text')
    .addColumn('started_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .addColumn('ended_at', 'bigint')
    .addPrimaryKeyConstraint('streams_key', ['tenant_id', 'stream'])
    .execute();
  await db.schema
    .createTable('quarantine')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('stream', 'text', (c) => c.notNull())
    .addColumn('record_key', 'text', (c) => c.notNull())
    .addColumn('page', 'integer', (c) => c.notNull())
    .addColumn('reason', 'text', (c) => c.notNull())
    .addColumn('since', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('quarantine_key', ['tenant_id', 'stream', 'record_key'])
    .execute();
}

async function createRateLimits(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('rate_limits')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('upstream', 'text', (c) => c.notNull())
    .addColumn('version', 'bigint', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('paused_until', 'bigint')
    .addPrimaryKeyConstraint('rate_limits_key', ['tenant_id', 'upstream'])
    .execute();
}

async function createEvidence(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('evidence')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('assumption', 'text', (c) => c.notNull())
    .addColumn('verdict', 'text', (c) => c.notNull())
    .addColumn('first_seen_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('evidence_key', ['tenant_id', 'assumption', 'verdict'])
    .execute();
}
