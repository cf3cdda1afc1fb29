import { SEALED } from './data-keys.ts';

/**
 * Kinds of personal data that a column can hold. identity: names and birth dates. contact: how to reach the person.
 * content: statements about the person: fields of a record, pay, an answer. secret: opens something. pseudonym: an id
 * of the person at the partner, in the HR system or of ours, or a hash of their values.
 */
type DataClass = 'identity' | 'contact' | 'content' | 'secret' | 'pseudonym';

/** A table, file or log that can hold personal data. */
interface Place {
  /** By column or part: the personal data it can hold. */
  people: Readonly<Record<string, readonly DataClass[]>>;
  why: string;
  kept: string;
}

/** A table of the store; `others` lists its columns without personal data, separated by blanks. */
type TablePlace = (Place & { others: string }) | { others: string };

const IDS = ['pseudonym'] as const;
const RECORD = ['identity', 'contact', 'content'] as const;
const OPERATOR = ['identity'] as const;

const UNTIL_RETENTION = 'values until `policies.retention.plans` after the hire ended; ids for good';

const AFTER_REMOVAL = '`policies.retention.plans` after the tenant was removed';

/** Every table of the store with all its columns. `test/store/data-map.test.ts` compares this with both databases. */
export const STORE_PLACES: Readonly<Record<string, TablePlace>> = {
  alarms: {
    people: { subject: IDS, message: IDS },
    why: 'Lasting failures, with the ids that they concern.',
    kept: 'until the trouble is over; a day at most after it was last seen',
    others: 'tenant_id kind reason since last_seen_at times raised_at notified_at notified_reason',
  },
  answers: { others: 'tenant_id side answered_at' },
  audit: {
    people: { by: OPERATOR, actor: OPERATOR, details: IDS, subject: IDS },
    why: 'Acts and looks of operators; a keyed hash names the record that each was about.',
    kept: 'for good; an erasure removes ids from the details',
    others: 'at tenant_id act chain seq salt details_hash sealed prev hash',
  },
  audit_heads: { others: 'chain seq hash noted' },
  calendar_events: {
    people: { booking_id: IDS, entity_id: IDS },
    why: 'Booked slots, as calendar addresses show them.',
    kept: '90 days after the slot',
    others:
      'tenant_id schedule_id title timezone entity_type starts_at ends_at attendance sequence changed_at missed ' +
      'cancelled_at',
  },
  calendar_feeds: {
    people: { made_by: OPERATOR, token_hash: ['secret'] },
    why: 'Addresses that calendars read, as hashes of their secrets.',
    kept: 'for good; a revoked address stops working',
    others: 'feed_id tenant_id schedules made_at revoked_at',
  },
  change_cursors: { others: 'tenant_id connection cursor began_at' },
  consents: {
    people: { job_candidate_id: IDS, candidate_id: IDS, state: ['content'], shown: ['content'] },
    why: 'Whether the consent of an application is valid, so that nothing lands without it.',
    kept: 'until the person is erased; a good one until its application is gone',
    others: 'tenant_id',
  },
  data_keys: {
    people: { wrapped: ['secret'] },
    why:
      "Keys that encrypt a tenant's values, themselves encrypted by a key of `HIREBRIDGE_KEYS`. A store in SQLite " +
      'has them in `keys.db` beside it.',
    kept: 'until the tenant is erased, which makes its values unreadable in backups as well',
    others: 'key_id tenant_id nth master_key made_at swept_at',
  },
  document_looks: {
    people: { job_candidate_id: IDS },
    why: 'When the documents of a hire were last listed.',
    kept: 'for good',
    others: 'tenant_id period looked_at again',
  },
  employments: {
    people: { employee_id: IDS, written_id: IDS, status: ['content'] },
    why: 'The values of an employee last sent to the partner, so that none is sent twice.',
    kept: 'for good',
    others: 'tenant_id written_at',
  },
  events_out: {
    people: { job_candidate_id: IDS, facts: IDS },
    why: 'Events about hires, for a tenant with `events`, until they are accepted; ids and codes.',
    kept: '30 days after it was accepted',
    others: 'event_no event_id tenant_id period type at tries due_at taken_at last_error',
  },
  erasures: {
    people: { subject: IDS, by: OPERATOR, receipt: IDS },
    why: 'People to erase; afterwards the receipt, with keyed hashes.',
    kept: 'ids until it is done; the receipt for good',
    others: 'erasure_id tenant_id employee reason asked_at quiet_at found done_at',
  },
  evidence: { others: 'tenant_id assumption verdict first_seen_at' },
  exchange_pairs: {
    people: { pair_id: IDS, bases: RECORD, sent: RECORD, echoes: RECORD },
    why: 'The values both sides last agreed on, to tell an edit from an old value.',
    kept: `while the pair is linked; ${AFTER_REMOVAL}`,
    others: 'tenant_id stream identities version settles_at missing_side missing_run gone_at updated_at',
  },
  exchange_tallies: {
    people: { tally: IDS },
    why: 'Change limits count the writes of the last hour.',
    kept: 'an hour',
    others: 'tenant_id stream written_at',
  },
  field_changes: { others: 'tenant_id side entity field_id at before after' },
  field_conflicts: {
    people: { pair_id: IDS, partner_form: RECORD, hris_form: RECORD, partner_value: RECORD, hris_value: RECORD },
    why: 'A person compares the two values and decides.',
    kept: 'values until `policies.retention.plans` after it was closed; the row for good',
    others: 'conflict_id tenant_id stream field kind code is_sensitive kept times since closed_at',
  },
  field_matches: { others: 'tenant_id path definition matched_at' },
  fields: { others: 'tenant_id side entity field_id definition first_seen_at gone_at' },
  foreign_writes: {
    people: {
      record_id: IDS,
      foreign_id: IDS,
      changes: RECORD,
      row_hash: IDS,
      by: OPERATOR,
    },
    why: 'Every write with its old and new value, so that changes can be shown and put back.',
    kept:
      'values until `policies.retention.plans` after the write; ids of hires without an employee ' +
      '`policies.retention.writes`, those of employees for good',
    others:
      'batch_id tenant_id run_id target period verb attempt kind fields sensitive mapping_hash sent_at outcome ' +
      'verified_at purged_at',
  },
  freezes: {
    people: { frozen_by: OPERATOR },
    why: 'Who stopped all writes.',
    kept: 'until they go on',
    others: 'tenant_id frozen_at',
  },
  hints: {
    people: { record_id: IDS },
    why: 'A record to read again.',
    kept: 'until it was read',
    others: 'tenant_id stream hinted_at gone',
  },
  hire_counts: { others: 'tenant_id state count' },
  hire_steps: {
    people: { job_candidate_id: IDS, reference: IDS, plan: IDS, account_id: IDS, reason: ['content'] },
    why: "A hire's account in a further destination, so that nobody gets two.",
    kept: 'for good',
    others: 'tenant_id period destination state run_id code hold_id updated_at done_at',
  },
  hire_documents: {
    people: { job_candidate_id: IDS, document: IDS, sha256: IDS, reason: ['content'] },
    why: "A hire's delivered documents; never a document or its name.",
    kept: 'for good',
    others: 'tenant_id period state attempt sent_at give_up_at run_id read_back_at',
  },
  hires: {
    people: {
      job_candidate_id: IDS,
      candidate_id: IDS,
      onboarding_candidate_id: IDS,
      onboarding_reference: IDS,
      employee_id: IDS,
      employee_number: IDS,
      onboarding_status: ['content'],
      observed: IDS,
      passed_over: IDS,
    },
    why: 'Who was hired, so that nobody is hired twice.',
    kept: 'for good',
    others: 'tenant_id period job_id state step enrolment onboarding_read_at connection opened_at updated_at ended_at',
  },
  holds: {
    people: {
      job_candidate_id: IDS,
      message: ['pseudonym', 'content'],
      details: IDS,
      answer_arguments: IDS,
      history: ['pseudonym', 'identity'],
      answered_by: OPERATOR,
    },
    why:
      "A question to a person, its subject and its answer. The message may repeat the HR system's answer to a write, " +
      'without the values that were sent; a value that the HR system wrote in another form, such as a date, stays.',
    kept: 'for good',
    others: 'hold_id tenant_id period code answers opened_at answer answered_at closed_at notified_at former_hris',
  },
  inbox: {
    people: { ids: IDS, body: RECORD, body_hash: IDS, last_error: IDS },
    why: 'Received webhooks, so that none is lost and none counts twice.',
    kept: 'the body of an event of unknown name or form 7 days or until an erasure, of others never; the row 90 days',
    others: 'tenant_id event state received_at failures due_at done_at',
  },
  installation: {
    people: { frozen_by: OPERATOR },
    why: 'Who stopped all writes.',
    kept: 'until they go on',
    others: 'id created_at tenants_version frozen_at',
  },
  intents: {
    people: { job_candidate_id: IDS, pinned: RECORD, result: IDS },
    why: 'A write that must not happen twice is about to be made.',
    kept: UNTIL_RETENTION,
    others: 'tenant_id verb period attempt sent_at give_up_at outcome decided_at',
  },
  jobs: {
    people: { record: ['identity', 'contact'] },
    why: "The partner's jobs as listed; a record may name its recruiters.",
    kept: `while the tenant is applied; ${AFTER_REMOVAL}`,
    others: 'tenant_id job_id listed_totals seen_at',
  },
  leases: { others: 'name holder leased_until' },
  lookup_rows: {
    people: { record_id: IDS, fields: RECORD },
    why: "Tables that mappings look values up in; `users` are people of the partner's workspace.",
    kept: `while the partner lists them; ${AFTER_REMOVAL}`,
    others: 'tenant_id stream row_hash',
  },
  mapping_versions: { others: 'tenant_id subject mapping_hash file files first_used_at' },
  open_batches: { others: 'batch_id tenant_id' },
  person_keys: {
    people: { value: IDS, candidate_id: IDS, job_candidate_id: IDS, employee_number: IDS },
    why: 'Names of a person in one HR system; a hash while their employee is being created.',
    kept: 'for good; a hash only while the employee is being created',
    others: 'scope kind person_id company tenant_id period how holder at',
  },
  person_mark_keys: {
    people: { mark_key: ['secret'] },
    why: 'The key that ids are hashed with.',
    kept: 'for good',
    others: 'made_at',
  },
  person_marks: {
    people: { digest: IDS, by: OPERATOR },
    why: 'Keyed hashes of the ids of people who were erased, so that they do not come back, or must not be erased.',
    kept: 'for good; a legal hold until it is released',
    others: 'tenant_id mark at about',
  },
  persons: {
    people: { person_id: IDS, job_candidate_id: IDS, recorded: IDS },
    why: "A person's identity in one HR system, so that two hires never create two employees.",
    kept: 'for good',
    others: 'connection version tenant_id period is_abandoned',
  },
  plans: {
    people: { job_candidate_id: IDS, change: RECORD },
    why: "A hire's next write.",
    kept: UNTIL_RETENTION,
    others: 'plan_id tenant_id period mapping_hash planned_at applied_at',
  },
  privacy_cases: {
    people: { candidate_id: IDS, decided_by: OPERATOR },
    why: 'People to whom `policies.privacy` applies, until it is done; or the decision to keep them.',
    kept: 'until they are erased or back; for good, if they are kept',
    others: 'tenant_id cause state why since due_at',
  },
  processes: { others: 'process_id role version host started_at seen_at ended_at trouble' },
  purged_writes: {
    people: { records: IDS, by: OPERATOR },
    why: 'Times of landed records, without values.',
    kept: '`policies.retention.writes` after the write',
    others: 'page_id tenant_id run_id target mapping_hash sent_at purged_at',
  },
  quarantine: {
    people: { record_key: IDS, reason: ['content'] },
    why: 'Records that could not be read or written, and why.',
    kept: 'until the record is read again and fits, or is gone',
    others: 'tenant_id stream page since',
  },
  rate_limits: { others: 'tenant_id upstream version state paused_until' },
  reconciles: {
    people: { plan: IDS, position: IDS },
    why: 'The position of a running reconcile.',
    kept: 'until it is over',
    others: 'tenant_id kind counts holder started_at updated_at',
  },
  invitations: {
    people: { candidate_id: IDS, job_candidate_id: IDS },
    why: 'People whom a rule invited to an assessment or assigned to a flow, so that nobody is invited twice.',
    kept: 'for good',
    others: 'tenant_id assessment_id state attempt in_doubt batch_id write_id code sent_at give_up_at decided_at',
  },
  stage_moves: {
    people: { candidate_id: IDS, job_candidate_id: IDS },
    why: 'People whom a rule moved to the next stage after an assessment flow, so that nobody is moved twice.',
    kept: 'for good',
    others: 'tenant_id flow stage_id state attempt write_id code sent_at give_up_at decided_at',
  },
  resumes: {
    people: { resume_id: IDS, candidate_id: IDS, url: ['content'], token: ['secret'], content: ['content'] },
    why: 'Files of the customer that became candidates, so that none is read twice; the file itself while it is read.',
    kept: 'address and file until it was read; the row for good',
    others: 'tenant_id job_id connection state attempt batch_id write_id code sent_at give_up_at decided_at',
  },
  sourced_leads: {
    people: { lead_id: IDS, candidate_id: IDS, job_candidate_id: IDS },
    why: 'Leads whom a rule made candidates of a job, so that nobody becomes one twice.',
    kept: 'for good',
    others: 'tenant_id job_id state attempt write_id code sent_at give_up_at decided_at',
  },
  unique_names: {
    people: { job_candidate_id: IDS, name: ['identity', 'contact'], name_key: ['identity', 'contact'] },
    why: 'User names and work e-mails by rule, so that a hire keeps its own and nobody gets it twice.',
    kept: '`policies.retention.plans` after the hire ended',
    others: 'connection place tenant_id period field',
  },
  option_labels: { others: 'tenant_id field_id label entry_id missed_run leaving in_use_at' },
  refusals: {
    people: { job_candidate_id: IDS, message: ['content'] },
    why: "An HR system's reason for refusing a hire, which the question shows and Temporal does not.",
    kept: 'until the question is opened, or `policies.retention.plans` if none is',
    others: 'tenant_id period code refused_at',
  },
  requisitions: { others: 'tenant_id requisition_id state attempt job_id hold_id sent_at give_up_at run_id' },
  saved_plan_records: {
    people: { record_id: IDS, change: RECORD },
    why: 'The writes of a plan that a person may apply.',
    kept: '`policies.retention.plans`',
    others: 'plan_hash state',
  },
  saved_plans: {
    people: { subject: IDS, planned_by: OPERATOR },
    why: 'A plan that a person may apply.',
    kept: '`policies.retention.plans`',
    others: 'plan_hash tenant_id source mapping_hash planned_at',
  },
  seen_people: {
    people: { job_candidate_id: IDS, candidate_id: IDS, trace: IDS },
    why: 'People whom a running reconcile has seen.',
    kept: 'until it is over',
    others: 'tenant_id job_id seen stage',
  },
  stream_missing: {
    people: { record_id: IDS },
    why: 'A landed record that the partner did not show.',
    kept: 'until it is shown again, or while its row is gone',
    others: 'tenant_id stream run_id since believed_at',
  },
  stream_pages: {
    people: { ids: IDS, known: IDS },
    why: 'Ids on a page, and a fingerprint of each record, so that unchanged records are not written again.',
    kept: 'until the page is read again',
    others: 'tenant_id stream page',
  },
  stream_passes: {
    others: 'tenant_id stream began_at ended_at listed landed created updated quarantined',
  },
  stream_states: {
    people: { paused_by: OPERATOR, allowed_by: OPERATOR },
    why: 'Who paused a stream or lifted a change limit.',
    kept: 'until it goes on',
    others:
      'tenant_id stream paused_at held_code held_message held_at allowed_code whole_at listed landed mapping_hash ' +
      'unshown',
  },
  streams: {
    people: { cursor: IDS },
    why: "The position of a stream's latest run.",
    kept: 'until the next run',
    others:
      'tenant_id stream run_id state is_full page seen total unchanged created updated quarantined refused_code ' +
      'refused_message started_at updated_at ended_at skipped held mode segment seen_before tally',
  },
  tenants: {
    people: { company_confirmed_by: OPERATOR, applied_by: OPERATOR, frozen_by: OPERATOR, paused_message: OPERATOR },
    why: 'Who applied, confirmed, paused or froze a tenant. Its files hold references to secrets, never a secret.',
    kept: 'for good',
    others:
      'tenant_id state paused_code paused_at paused_key verified_key company_confirmed_at company_confirmed_key ' +
      'baseline_started_at baseline_done_at reconciled_at fully_reconciled_at credit_gate canary_at stage_filter ' +
      'stage_filter_at version file files receives applied_at frozen_at removed_at ended_at notify_until digested_on',
  },
  webhook_refusals: { others: 'tenant_id reason count last_at' },
  kysely_migration: { others: 'name timestamp' },
  kysely_migration_lock: { others: 'id is_locked' },
  kysely_widening: { others: 'name timestamp' },
  kysely_widening_lock: { others: 'id is_locked' },
};

/** Places outside the store that can hold personal data. */
export const OTHER_PLACES: Readonly<Record<string, Place>> = {
  "landing tables in the customer's HR database, or in the landing database beside it": {
    people: {
      'a row of `candidates`, `applications`, `onboarding`, `interviews`, `screenings`, `bookings` or `leads`': RECORD,
      'a row of `consents`': ['pseudonym', 'content'],
      'a row of `jobs`': IDS,
      'a column that takes all of a record (`candidate.*`)': RECORD,
    },
    why: 'The tenant runs a stream that lands these records there.',
    kept: 'while the partner shows the record; then as `streams.*.deletion` says',
  },
  'the account in a further destination (`destinations`)': {
    people: { 'what its mapping writes': RECORD, 'our reference to the candidate': IDS },
    why: "The hire. It is the customer's record.",
    kept: 'as the customer decides',
  },
  "the employee in the customer's HR system": {
    people: { 'the whole record': RECORD },
    why: "The hire. It is the customer's record.",
    kept: 'as the customer decides',
  },
  "Temporal's histories": {
    people: { 'workflow ids and payloads': IDS },
    why: 'The order of the work: ids and verdicts, no value of a record. Encrypted if `HIREBRIDGE_KEYS` is set.',
    kept: "the namespace's retention",
  },
  logs: {
    people: { 'ids of records, at every level': IDS },
    why: 'The course of the work. No value of a record, no secret.',
    kept: 'as the people who keep them decide',
  },
  'traces and metrics': {
    people: { 'tenant and job candidate of a span': IDS },
    why: 'Only if `OTEL_*` asks for traces.',
    kept: 'as the collector decides',
  },
  '`erasures.jsonl`, `audit.heads.jsonl` and `signing.key` in the data directory': {
    people: { 'keyed hashes of ids': IDS, 'the key of receipts and of heads of the audit trail': ['secret'] },
    why: 'A restored backup learns who was erased since; receipts and heads are signed.',
    kept: 'until the files are deleted',
  },
  'backups of the store': {
    people: { 'all of the store, as it was': RECORD },
    why: 'The store can be put back.',
    kept: 'until the file is deleted',
  },
  'secrets, in files or the environment': {
    people: { 'keys of partner and HR system': ['secret'] },
    why: 'Tenant files refer to them; the store never holds one.',
    kept: 'as the people who keep them decide',
  },
  'files handed over by SFTP': {
    people: { 'a row an employee': RECORD },
    why: 'HR systems of kind `sftp` receive files.',
    kept: "as the customer's server decides",
  },
  'the folder for files of an HR system of kind `sql` (`hris.files.folder`)': {
    people: { 'documents of employees': RECORD, 'employee ids, which are names of folders': IDS },
    why: 'Documents go there, because a table has no place for them. They belong to the HR system, like its rows.',
    kept: 'as the customer decides',
  },
};

/** The whole map as Markdown, for docs/privacy.md. */
export function renderDataMap(): string {
  const tables = Object.entries(STORE_PLACES).map(([name, place]) => [`\`${name}\``, place] as const);
  const without = tables.flatMap(([name, place]) => ('people' in place ? [] : [name]));
  return [
    '### Tables of the store',
    '',
    'If `HIREBRIDGE_KEYS` is set, data marked encrypted here is encrypted; everything else is in clear text.',
    '',
    ...tables.flatMap(([name, place]) => ('people' in place ? [renderPlace(name, place)] : [])),
    '',
    `No personal data is in ${without.join(', ')}.`,
    '',
    '### Outside the store',
    '',
    ...Object.entries(OTHER_PLACES).map(([name, place]) => renderPlace(name, place)),
  ].join('\n');
}

function renderPlace(name: string, { people, why, kept }: Place): string {
  const encrypted: readonly string[] = SEALED[name.replaceAll('`', '') as keyof typeof SEALED] ?? [];
  const byClass = Map.groupBy(Object.entries(people), ([column, classes]) =>
    [...classes, ...(encrypted.includes(column) ? ['encrypted'] : [])].join(', '),
  );
  const parts = [...byClass].map(
    ([classes, columns]) => `${columns.map(([column]) => column).join(', ')} (${classes})`,
  );
  return `- **${name}**: ${parts.join('; ')}. ${why} Kept: ${kept}.`;
}
