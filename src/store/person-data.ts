import { type RawBuilder, sql } from 'kysely';
import type { Receives } from './applied-tenants.ts';
import { noteRedacted } from './audit.ts';
import { hintOfRecord } from './hints.ts';
import { locked, type Store } from './open-store.ts';
import { handOverRecorded, recordedBy } from './people.ts';
import { type PersonIds, sizeOf } from './person-marks.ts';
import type { Tables } from './schema.ts';
import { openedQuestion, sealedSet } from './sealed-values.ts';
import {
  allIds,
  employeeIds,
  keepAct,
  keepBody,
  keepHold,
  keepOthers,
  keepPage,
  keepPurged,
  keepTally,
  namedInActs,
} from './shared-rows.ts';
import { siblingsOf } from './tenant-states.ts';

// Where a person's data is in the store: one table for finding, exporting and erasing, so that all of it is erased.

export interface Subject extends PersonIds {
  tenantId: string;
  /** Prefixes of its candidates in `person_keys`: the tenant's name, or the partner's company. */
  companies: string[];
}

type Row = Record<string, unknown>;

interface PersonPlace {
  table: keyof Tables;
  /** Rows that may be theirs. */
  where: (of: Subject) => RawBuilder<boolean>;
  /**
   * For rows that others share: what stays of one, with the columns that change; `gone` if nothing of anybody else is
   * in it, undefined if it is not theirs after all. Absent if each row is theirs alone.
   */
  keep?: (row: Row, of: Subject) => Row | 'gone' | undefined;
  /** Columns that identify a row, if some are kept. */
  key?: readonly string[];
}

const none = sql<boolean>`1 = 0`;
function isIn(column: string, ids: readonly string[]): RawBuilder<boolean> {
  return ids.length === 0 ? none : sql<boolean>`${sql.ref(column)} in (${sql.join(ids)})`;
}

function either(...some: RawBuilder<boolean>[]): RawBuilder<boolean> {
  return sql<boolean>`(${sql.join(some, sql` or `)})`;
}

/** A text that contains one of these ids in this form. */
function fits(column: string, ids: readonly string[], pattern: (id: string) => string): RawBuilder<boolean> {
  if (ids.length === 0) return none;
  return either(
    ...ids.map((id) => sql<boolean>`${sql.ref(column)} like ${pattern(id.replaceAll(/[!%_]/g, '!$&'))} escape '!'`),
  );
}

/** JSON that names one of these ids as a text. */
const names = (column: string, ids: readonly string[]) => fits(column, ids, (id) => `%"${id}"%`);

const ofTenant = ({ tenantId }: Subject): RawBuilder<boolean> => sql<boolean>`tenant_id = ${tenantId}`;
const ofCandidates = (of: Subject): RawBuilder<boolean> => within(of, isIn('candidate_id', of.candidates));

/** Questions of other tenants that name a hire of this one (a-z, 0-9, -). */
export function asksOthers(tenantId: string): RawBuilder<boolean> {
  return sql<boolean>`tenant_id <> ${tenantId} and details like ${`%"tenantId":"${tenantId}"%`}`;
}

function within(of: Subject, where: RawBuilder<boolean>): RawBuilder<boolean> {
  return sql<boolean>`${ofTenant(of)} and ${where}`;
}

/** Streams whose records have ids of their own, and name a person. */
export const NAMED = ['interviews', 'screenings', 'bookings'];
const OF_APPLICATIONS = 'applications consents accounts invitations starts absent unshown'.split(' ');

/** The kind of a person's ids that the records of a stream, or hints of a name, use. */
export const STREAM_IDS: Readonly<Record<string, (of: Subject) => string[]>> = {
  candidates: (of) => of.candidates,
  onboarding: (of) => of.enrolments,
  documents: (of) => [...of.jobCandidates, ...of.enrolments],
  ...Object.fromEntries(OF_APPLICATIONS.map((stream) => [stream, ({ jobCandidates }: Subject) => jobCandidates])),
  ...Object.fromEntries(NAMED.map((stream) => [stream, ({ records }: Subject) => records?.[stream] ?? []])),
  employees: (of) => [...of.candidates, ...employeeIds(of)],
  amendments: (of) => [...of.candidates, ...employeeIds(of)],
  employment: employeeIds,
  leads: ({ leads = [] }) => leads,
  sourcing: ({ leads = [] }) => leads,
  results: (of) => [...of.jobCandidates, ...['interviews', 'screenings'].flatMap((one) => of.records?.[one] ?? [])],
  resumes: ({ records }) => records?.['resumes'] ?? [],
  calendar: ({ records }) => records?.['bookings'] ?? [],
  'candidate-value': (of) => of.candidates, // No stream: what options change of candidates, hired or not.
};

function ofStream(of: Subject, column: string, streams = Object.keys(STREAM_IDS)): RawBuilder<boolean> {
  const byIds = Map.groupBy(streams, (stream) => JSON.stringify(STREAM_IDS[stream]?.(of) ?? []));
  const each = [...byIds].map(([json, some]) => {
    const ids = JSON.parse(json) as string[];
    // A record may be a part of one: `5012/resume`.
    const parts = fits(column, ids, (id) => `${id}/%`);
    const own = isIn(column, [...ids, ...ids.map(hintOfRecord)]);
    return sql<boolean>`(stream in (${sql.join(some)}) and ${either(own, parts)})`;
  });
  return within(of, either(...each));
}

const LANDED = [...'candidates applications consents onboarding'.split(' '), ...NAMED, 'leads', 'candidate-value'];
const PAIRED = ['employees', 'amendments'];
const BY_HIRE = ['intents', 'plans', 'hire_documents', 'document_looks', 'hire_steps', 'unique_names'] as const;
const BY_APPLICATION = ['invitations', 'stage_moves', 'seen_people', 'sourced_leads', 'consents'] as const;

const ofHire = (of: Subject) => within(of, isIn('job_candidate_id', of.jobCandidates));

function ofApplication(of: Subject): RawBuilder<boolean> {
  return within(of, either(isIn('job_candidate_id', of.jobCandidates), isIn('candidate_id', of.candidates)));
}

/** What is written for an application, or for its hire. */
const OF_APPLICATION = 'employee enrolment external-status custom-fields documents invitation stage'.split(' ');

function written(of: Subject): RawBuilder<boolean> {
  const ofTargets = (targets: readonly string[], ids: readonly string[]) =>
    sql<boolean>`(target in (${sql.join(targets)}) and ${isIn('record_id', ids)})`;
  return within(
    of,
    either(
      ofTargets(OF_APPLICATION, of.jobCandidates),
      sql<boolean>`(target like 'account:%' and ${isIn('record_id', of.jobCandidates)})`,
      ofTargets(['lead'], of.leads ?? []),
      ofTargets(['resume'], of.records?.['resumes'] ?? []),
      ...LANDED.map((stream) => ofTargets([stream], STREAM_IDS[stream]?.(of) ?? [])),
      exchanged(of),
    ),
  );
}

/** By their application, or by the candidate if a file linked them: the application may have somebody else's number. */
function exchanged(of: Subject): RawBuilder<boolean> {
  const others = sql`select value from person_keys where ${ofTenant(of)} and kind = 'employee'`;
  const isTheirs = (ids: readonly string[]) => sql<boolean>`(foreign_id is null or ${isIn('foreign_id', ids)})`;
  const isTo = (side: string) => sql<boolean>`target in (${sql.join(PAIRED.map((stream) => `${stream}:${side}`))})`;
  return sql<boolean>`(${isIn('record_id', [...of.jobCandidates, ...of.candidates])} and (
    (${isTo('partner')} and ${isTheirs(of.candidates)})
    or (${isTo('hris')} and (${isTheirs(employeeIds(of))} or foreign_id not in (${others})))))`;
}

const PLACES: readonly PersonPlace[] = [
  {
    table: 'inbox',
    where: (of) => within(of, names('ids', allIds(of))),
    key: ['tenant_id', 'body_hash'],
    keep: keepOthers,
  },
  { table: 'hints', where: (of) => ofStream(of, 'record_id') },
  ...([...BY_HIRE, 'refusals'] as const).map((table) => ({ table, where: ofHire })),
  ...BY_APPLICATION.map((table) => ({ table, where: ofApplication })),
  {
    table: 'holds',
    where: (of) =>
      either(
        within(
          of,
          either(
            isIn('job_candidate_id', of.jobCandidates),
            ...['details', 'answer_arguments'].map((column) => names(column, allIds(of))),
          ),
        ),
        sql<boolean>`(${asksOthers(of.tenantId)} and ${names('details', of.jobCandidates)})`,
      ),
    key: ['hold_id'],
    keep: keepHold,
  },
  {
    table: 'alarms',
    where: (of) =>
      within(
        of,
        sql<boolean>`kind = 'activity-failing' and ${fits('subject', of.jobCandidates, (id) => `% of ${id}`)}`,
      ),
  },
  { table: 'privacy_cases', where: ofCandidates },
  { table: 'calendar_events', where: (of) => within(of, isIn('entity_id', of.jobCandidates)) },
  { table: 'employments', where: (of) => within(of, isIn('employee_id', employeeIds(of))) },
  { table: 'exchange_pairs', where: (of) => pairs(of) },
  { table: 'field_conflicts', where: (of) => pairs(of) },
  {
    table: 'exchange_tallies',
    where: (of) => within(of, sql<boolean>`stream in (${sql.join(PAIRED)}) and ${names('tally', employeeIds(of))}`),
    key: ['tenant_id', 'stream', 'written_at', 'tally'],
    keep: keepTally,
  },
  { table: 'foreign_writes', where: written },
  { table: 'resumes', where: ofCandidates },
  {
    table: 'purged_writes',
    where: (of) =>
      within(
        of,
        either(
          ...LANDED.map(
            (stream) => sql<boolean>`(target = ${stream} and ${names('records', STREAM_IDS[stream]?.(of) ?? [])})`,
          ),
        ),
      ),
    key: ['page_id'],
    keep: ({ target, records }, of) => keepPurged(String(records), STREAM_IDS[String(target)]?.(of) ?? []),
  },
  { table: 'quarantine', where: (of) => ofStream(of, 'record_key') },
  { table: 'stream_missing', where: (of) => ofStream(of, 'record_id', LANDED) },
  {
    table: 'stream_pages',
    where: (of) => within(of, either(...LANDED.map((stream) => pagesOf(stream, STREAM_IDS[stream]?.(of) ?? [])))),
    key: ['tenant_id', 'stream', 'page'],
    keep: ({ stream, ids, known }, of) => keepPage(String(ids), known, STREAM_IDS[String(stream)]?.(of) ?? []),
  },
  {
    table: 'saved_plan_records',
    where: (of) => sql<boolean>`plan_hash in (select plan_hash from saved_plans where ${plansOf(of)})
      or ${either(...LANDED.map((stream) => plannedFor(of, stream)))}`,
  },
  { table: 'saved_plans', where: plansOf },
  {
    table: 'audit',
    where: (of) =>
      within(
        of,
        sql<boolean>`act in (${sql.join(NAMING_ACTS)}) and ${fits('details', namedInActs(of), (id) => `%${id}%`)}`,
      ),
    key: ['at', 'by', 'tenant_id', 'act', 'details'],
    keep: keepAct,
  },
  { table: 'person_keys', where: (of) => keysOf(of) },
  {
    table: 'persons',
    // This runs after their keys were deleted: a person without a key is found by their hire.
    where: (of) =>
      either(
        sql<boolean>`person_id in (select person_id from person_keys where ${keysOf(of)})`,
        sql<boolean>`${ofHire(of)} and person_id not in (select person_id from person_keys)`,
      ),
    key: ['person_id'],
    keep: () => undefined,
  },
  { table: 'hires', where: ofApplication },
  // After the rows whose triggers write it.
  { table: 'events_out', where: ofHire },
];

/** Bodies of unknown webhooks that name somebody else by known names, and mention one of their ids. */
const MENTIONS: PersonPlace = {
  table: 'inbox',
  where: (of) => within(of, sql<boolean>`body <> '' and ${fits('body', allIds(of), (id) => `%${id}%`)}`),
  key: ['tenant_id', 'body_hash'],
  keep: keepBody,
};

/** Empties the tenant's bodies of unknown webhooks whose ids name nobody: nothing tells whom they are about. */
export async function clearNameless({ kysely }: Pick<Store, 'kysely'>, tenantId: string): Promise<void> {
  await sql`update inbox set body = '' where tenant_id = ${tenantId} and body <> ''
    and ids not like '%andidateId"%'`.execute(kysely);
}

function pagesOf(stream: string, ids: readonly string[]): RawBuilder<boolean> {
  return sql<boolean>`(stream = ${stream} and ${either(names('ids', ids), names('known', ids))})`;
}

/** Acts whose details name people by their ids. */
export const NAMING_ACTS = [
  'hold-answered',
  'hire-started',
  'revealed',
  'went-live',
  'plan-applied',
  'linked',
  'sync-asked',
  'events-replayed',
  'records-retried',
];

function pairs(of: Subject): RawBuilder<boolean> {
  return within(of, sql<boolean>`stream in (${sql.join(PAIRED)}) and ${isIn('pair_id', employeeIds(of))}`);
}

function plannedFor(of: Subject, stream: string): RawBuilder<boolean> {
  const ids = STREAM_IDS[stream]?.(of) ?? [];
  if (ids.length === 0) return none;
  return sql<boolean>`(${isIn('record_id', ids)} and plan_hash in (
    select plan_hash from saved_plans where ${ofTenant(of)} and subject = ${stream}))`;
}

function plansOf(of: Subject): RawBuilder<boolean> {
  const ofHires = fits('subject', of.jobCandidates, (id) => `hire ${id}/%`);
  return within(of, ofHires);
}

/**
 * Their names, unless another tenant has the person, too: then that tenant keeps them, and only the data of this
 * tenant's hires is erased.
 */
function keysOf(of: Subject): RawBuilder<boolean> {
  const { tenantId, companies } = of;
  const byEmployee = of.employees.map(
    ({ connection, id }) =>
      sql<boolean>`(mine.kind = 'employee' and mine.scope = ${connection} and mine.value = ${id})`,
  );
  const mine = either(
    sql<boolean>`(${isIn('mine.company', companies)} and ${isIn('mine.candidate_id', of.candidates)})`,
    sql<boolean>`(mine.tenant_id = ${tenantId} and ${isIn('mine.job_candidate_id', of.jobCandidates)})`,
    ...byEmployee,
  );
  const people = sql`select mine.person_id from person_keys as mine where ${mine}`;
  const shared = sql`
    select other.person_id from person_keys as other where other.tenant_id <> ${tenantId}
    union all select owned.person_id from persons as owned where owned.tenant_id <> ${tenantId}
      or (owned.recorded is not null and not ${recordedBy(tenantId, 'owned')})`;
  return sql<boolean>`person_id in (${people}) and
    (person_id not in (${shared}) or (tenant_id = ${tenantId} and ${isIn('job_candidate_id', of.jobCandidates)}))`;
}

/** Rows of one table that hold data of the person. Only `rows` are shown: those that no other person shares. */
export interface FoundRows {
  place: string;
  count: number;
  rows: Row[];
  all: Row[];
}

/** Where the person's data is; tables without any are left out. */
export async function findPersonRows({ kysely }: Pick<Store, 'kysely'>, of: Subject): Promise<FoundRows[]> {
  const found: FoundRows[] = [];
  for (const { table, where, keep } of PLACES) {
    const { rows } = await sql<Row>`select * from ${sql.table(table)} where ${where(of)}`.execute(kysely);
    const judged = rows.map((row) => ({ row, stays: keep === undefined ? ('gone' as const) : keep(row, of) }));
    const theirs = table === 'persons' ? judged : judged.filter(({ stays }) => stays !== undefined);
    const alone = theirs.filter(({ stays }) => stays === 'gone' || table === 'persons').map(({ row }) => row);
    const all = theirs.map(({ row }) => row);
    if (all.length > 0) found.push({ place: table, count: all.length, rows: alone, all });
  }
  return found;
}

/**
 * Takes the person out of every table at once. Repeating it is harmless. `assertMayGo` runs last, when no legal hold
 * can be put any more before this is committed; if it throws, nothing is erased.
 */
export async function erasePersonRows(
  store: Store,
  of: Subject,
  assertMayGo: (open: Store) => Promise<void> = async () => undefined,
): Promise<void> {
  const siblings = await siblingsOf(store, of.tenantId);
  await store.kysely.transaction().execute(async (kysely) => {
    const owned = sql<{ person_id: string }>`select person_id from person_keys where ${keysOf(of)}`;
    await handOverRecorded(kysely, of.tenantId, { people: owned, siblings });
    const people = (await owned.execute(kysely)).rows.map((row) => row.person_id);
    // Of people whom another tenant keeps, who read them before does not write back what is deleted here.
    await sql`update persons set version = version + 1 where ${isIn('person_id', people)}`.execute(kysely);
    for (const place of PLACES) if (place.table !== 'persons') await erasePlace({ ...store, kysely }, place, of);
    await erasePlace({ ...store, kysely }, MENTIONS, of);
    await clearNameless({ kysely }, of.tenantId);
    await endPersons({ kysely }, of, people);
    // Nobody would ever settle a batch without its last row.
    await sql`delete from open_batches where ${ofTenant(of)} and batch_id not in
      (select batch_id from foreign_writes where ${ofTenant(of)})`.execute(kysely);
    await noteRedacted({ ...store, kysely }, of.tenantId);
    // A legal hold is an act of the tenant, and takes its turn after the head of the audit chain.
    const head = kysely.selectFrom('audit_heads').select('seq').where('chain', '=', of.tenantId);
    await locked({ ...store, kysely }, head).execute();
    await assertMayGo({ ...store, kysely });
  });
}

async function erasePlace(
  { kysely, sealing }: Pick<Store, 'kysely' | 'sealing'>,
  { table, where, keep, key = [] }: PersonPlace,
  of: Subject,
): Promise<void> {
  if (keep === undefined) return void (await sql`delete from ${sql.table(table)} where ${where(of)}`.execute(kysely));
  const { rows } = await sql<Row>`select * from ${sql.table(table)} where ${where(of)}`.execute(kysely);
  for (const row of rows) {
    const stays = keep(table === 'holds' ? await openedQuestion({ sealing }, row) : row, of);
    if (stays === undefined) continue;
    const isRow = sql.join(
      key.map((column) => sql`${sql.ref(column)} = ${row[column]}`),
      sql` and `,
    );
    const changed = stays === 'gone' ? sql`` : await sealedSet({ sealing }, table, row['tenant_id'], stays);
    if (stays === 'gone') await sql`delete from ${sql.table(table)} where ${isRow}`.execute(kysely);
    else await sql`update ${sql.table(table)} set ${changed} where ${isRow}`.execute(kysely);
  }
}

/** Deletes people without a key; for people that another tenant has too, only this hire's ownership ends. */
async function endPersons({ kysely }: Pick<Store, 'kysely'>, of: Subject, people: readonly string[]): Promise<void> {
  await sql`delete from persons where ${isIn('person_id', people)}
    and person_id not in (select person_id from person_keys)`.execute(kysely);
  await sql`update persons set tenant_id = null, job_candidate_id = null, period = null, version = version + 1
    where ${ofHire(of)}`.execute(kysely);
}

/** Everything known about the person whose records these are, starting from one id. */
export async function completeIds(store: Pick<Store, 'kysely'>, tenantId: string, known: PersonIds): Promise<Subject> {
  const subject: Subject = { tenantId, companies: await companiesOf(store, tenantId), ...known };
  const more = await addKnown(store, subject);
  return sizeOf(more) === sizeOf(subject) ? more : completeIds(store, tenantId, more);
}

async function companiesOf({ kysely }: Pick<Store, 'kysely'>, tenantId: string): Promise<string[]> {
  const own = kysely.selectFrom('tenants').select('receives').where('tenant_id', '=', tenantId);
  const row = await own.executeTakeFirst();
  const { company } = JSON.parse(row?.receives ?? '{}') as Pick<Receives, 'company'>;
  return company === undefined ? [tenantId] : [tenantId, company];
}

async function addKnown({ kysely }: Pick<Store, 'kysely'>, of: Subject): Promise<Subject> {
  const hires = await sql<Row>`select * from hires where ${within(
    of,
    either(
      isIn('job_candidate_id', of.jobCandidates),
      isIn('candidate_id', of.candidates),
      isIn('onboarding_candidate_id', of.enrolments),
      ...of.employees.map(({ connection, id }) => sql<boolean>`(employee_id = ${id} and connection = ${connection})`),
    ),
  )}`.execute(kysely);
  const keys = await sql<Row>`select * from person_keys where ${isIn('company', of.companies)} and kind <> 'creating'
    and ${either(
      isIn('candidate_id', of.candidates),
      sql<boolean>`(${ofTenant(of)} and ${isIn('job_candidate_id', of.jobCandidates)})`,
      ...of.employees.map(
        ({ connection, id }) => sql<boolean>`(kind = 'employee' and scope = ${connection} and value = ${id})`,
      ),
    )}`.execute(kysely);
  const own = keys.rows;
  const applied = [...hires.rows];
  for (const table of BY_APPLICATION) {
    const { rows } = await sql<Row>`select * from ${sql.table(table)} where ${ofApplication(of)}`.execute(kysely);
    applied.push(...rows);
  }
  const leads = unique(of.leads ?? [], applied, [], 'lead_id');
  const files = await sql<Row>`select resume_id from resumes where ${ofCandidates(of)}`.execute(kysely);
  const resumes = unique(of.records?.['resumes'] ?? [], files.rows, [], 'resume_id');
  const ours = own.filter((row) => row['tenant_id'] === of.tenantId);
  // Employees of a sister tenant are left out, in every HR system, even if a row of this tenant names them.
  const others = own.filter((row) => row['kind'] === 'employee' && !ours.includes(row));
  const taken = new Set(others.map(({ scope, value }) => `${String(scope)}/${String(value)}`));
  const named = own.filter((row) => !others.includes(row));
  const employees = [
    ...of.employees.filter(({ connection, id }) => !taken.has(`${connection}/${id}`)),
    ...hires.rows.flatMap((row) => pairOf(row['connection'], row['employee_id'])),
    ...ours.filter(({ kind }) => kind === 'employee').flatMap((row) => pairOf(row['scope'], row['value'], row['how'])),
  ];
  return {
    ...of,
    candidates: unique(of.candidates, applied, named, 'candidate_id'),
    jobCandidates: unique(of.jobCandidates, applied, ours, 'job_candidate_id'),
    enrolments: unique(of.enrolments, hires.rows, [], 'onboarding_candidate_id'),
    employees: [...new Map(employees.map((one) => [`${one.connection}/${one.id}`, one])).values()],
    ...(leads.length === 0 ? {} : { leads }),
    ...(resumes.length === 0 ? {} : { records: { ...of.records, resumes } }),
  };
}

function pairOf(connection: unknown, id: unknown, how?: unknown): PersonIds['employees'] {
  return typeof connection === 'string' && typeof id === 'string' ? [{ connection, id, made: how === 'made' }] : [];
}

function unique(ids: readonly string[], some: readonly Row[], others: readonly Row[], column: string): string[] {
  const more = [...some, ...others].map((row) => row[column]).filter((id) => typeof id === 'string');
  return [...new Set([...ids, ...more])].filter((id) => id !== '');
}
