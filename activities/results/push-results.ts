import { rejected } from '../../src/errors.ts';
import { encodeValue } from '../../src/mapping/custom-fields.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { JobCandidate } from '../../src/partner/contract/job-candidates.ts';
import { missingTargets, type TargetValue } from '../../src/plan/plan-write-back.ts';
import type { FieldDefinition } from '../../src/store/fields.ts';
import type { NewWrite } from '../../src/store/foreign-writes.ts';
import { clearHints, recordHinted } from '../../src/store/hints.ts';
import { readInvitationsOf } from '../../src/store/invitations.ts';
import { batchesOf } from '../../src/store/open-store.ts';
import { forgetAllowed } from '../../src/store/streams.ts';
import { WHOLE_LIST } from '../../src/streams/stream.ts';
import { refusedRecords } from '../../src/streams/without-erased.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { namedField, readDefinitions } from '../fields/custom-fields.ts';
import { isInScope } from '../hire/read-sources.ts';
import { candidateOfReference, ifShown, shownId } from '../invitations/ask-partner.ts';
import { fetchJobCandidates } from '../presence/fetch-job-candidates.ts';
import {
  assertFew,
  assertOurs,
  createFailures,
  type Failures,
  notedValues,
  type PushContext,
  tell,
} from '../push/push-context.ts';
import { readShownHints } from '../streams/reading.ts';

/**
 * Writes results of interviews and assessment flows to custom fields of the candidate, by the tenant's rules. Values
 * that the partner shows already are not written, so a second pass writes nothing; a missing score empties nothing. No
 * call reads a result by id (section 4.6), so a webhook makes this read the whole list of its assessment.
 */
export async function pushResults(context: PushContext): Promise<boolean> {
  const { deps, connection, key, beat } = context;
  const rules = connection.tenant.results;
  if (rules === undefined)
    throw rejected(
      'RESULTS_UNCONFIGURED',
      `No result can reach a candidate for ${key.tenantId}: the tenant file has no section results. ` +
        'Add "results: [{ assessment: ID, take: score, customField: ID }]" and apply it.',
    );
  const hints = await readShownHints(context);
  // An event may name an interview but no assessment.
  const isOfAny = (id: string): boolean => id === WHOLE_LIST || recordHinted(id) !== undefined;
  const isWhole = !context.hinted || hints.some(({ recordId }) => isOfAny(recordId));
  const named = new Set(hints.map(({ recordId }) => recordId));
  const looked = isWhole ? rules : rules.filter(({ assessment }) => named.has(assessment ?? ''));
  const failures = createFailures();
  const results = await readResults(context, looked, failures);
  beat();
  const people = await readPeople(context, results);
  beat();
  // A rule that names the wrong field would replace that field's values.
  const isReplaced = ({ old }: Person['missing'][number]): boolean => old !== undefined && old !== '';
  const replaced = people.filter(({ missing }) => missing.some(isReplaced)).length;
  const message =
    `Results of ${replaced} people would replace another value in a custom field, more than ${MOST_REPLACED}. ` +
    'None was written.';
  await assertFew(context, { fresh: replaced, most: MOST_REPLACED, code: 'MASS_RESULTS', message });
  const due = people.filter(({ missing }) => missing.length > 0);
  for (const some of batchesOf(due, AT_ONCE)) {
    await failures.sendApart(
      some,
      (own) => write(context, own),
      ({ jobCandidateId }, { code }) =>
        tell(context, jobCandidateId, 'quarantined', `the hiring platform refused its results: ${code}`),
    );
    beat();
  }
  failures.end();
  await clearHints(deps.store, key.tenantId, key.stream, hints);
  if (isWhole) await forgetAllowed(deps.store, key);
  return isWhole;
}

/** Records per request. */
const AT_ONCE = 100;
/** A person is asked if a run would replace more values than this that somebody else may have written. */
const MOST_REPLACED = 20;

type Rule = NonNullable<Tenant['results']>[number];

// Results of interviews and flows.

interface Result {
  jobCandidateId: string;
  customFieldId: string;
  value: string | number;
  /** If a person has several results, the latest counts, by its id where no time is shown. */
  at: string;
  id: string;
}

async function readResults(context: PushContext, rules: readonly Rule[], failures: Failures): Promise<Result[]> {
  const results: Result[] = [];
  for (const [of, some] of Map.groupBy(rules, ({ assessment, flow }) => assessment ?? Number(flow))) {
    const { partner } = context.connection;
    const read = await failures.tryOne(() =>
      ifShown<Listed>(
        typeof of === 'number'
          ? partner.readAll(contract.assessmentFlows.listCandidates, { params: { id: of } }, BULK)
          : partner.readAll(contract.assessments.listCandidates, { params: { assessmentId: of } }, BULK),
      ),
    );
    if ('failed' in read) continue;
    if (read.done === undefined) {
      const [what, id] = typeof of === 'number' ? ['flow', `flow ${of}`] : ['assessment', `assessment ${of}`];
      const reason = `the hiring platform shows no such ${what}; correct results in the tenant file`;
      tell(context, id, 'quarantined', reason);
      continue;
    }
    const { items, unreadable } = read.done;
    for (const { id, index, reason } of unreadable)
      tell(context, id ?? `entry ${index + 1} of ${of}`, 'quarantined', reason);
    const applications = await applicationsOf(context, of, items);
    for (const [n, item] of items.entries())
      for (const { take, customField } of some) {
        const value = item[take];
        const jobCandidateId = applications[n];
        if ((typeof value !== 'string' && typeof value !== 'number') || value === '') continue;
        const at = shownId(item['scoredAt'] ?? item['endedAt']) ?? '';
        const id = shownId(item['submissionId'] ?? item['flowCandidateId']) ?? '';
        if (jobCandidateId === undefined) tell(context, id, 'skipped', NAMELESS);
        else results.push({ jobCandidateId, customFieldId: customField, value, at, id });
      }
  }
  return results;
}

const NAMELESS = 'the hiring platform names no application for it, and none of our invitations led to it';

interface Listed {
  items: readonly Record<string, unknown>[];
  unreadable: readonly { id?: string; index: number; reason: string }[];
}

const BULK = { priority: 'bulk' } as const;

/** The application of each entry: named by the entry itself, or by the invitation whose reference it carries. */
async function applicationsOf(
  { deps, key }: PushContext,
  of: string | number,
  items: readonly Record<string, unknown>[],
): Promise<(string | undefined)[]> {
  const candidates = items.map(({ externalRef }) => candidateOfReference(externalRef));
  const ours = candidates.filter((id) => id !== undefined);
  const rows = await readInvitationsOf(deps.store, key.tenantId, String(of), ours);
  return items.map((item, n) => shownId(item['jobCandidateId']) ?? rows.get(candidates[n] ?? '')?.job_candidate_id);
}

// The partner's values for these people.

interface Person {
  candidateId: string;
  jobCandidateId: string;
  /** Values that the partner does not show yet. */
  missing: { value: TargetValue; old: unknown }[];
}

/** Reads each person once, no matter how many applications and interviews they have. */
async function readPeople(context: PushContext, results: readonly Result[]): Promise<Person[]> {
  const { deps, connection } = context;
  const { fields } = await readDefinitions(connection);
  const byApplication = Map.groupBy(results, ({ jobCandidateId }) => jobCandidateId);
  const found = new Map<string, { record: JobCandidate; results: Result[] }>();
  for (const ids of batchesOf([...byApplication.keys()], AT_ONCE)) {
    const fetched = await fetchJobCandidates(connection, ids, 'bulk');
    const records = fetched.flatMap(({ jobCandidate }) => jobCandidate ?? []);
    const refused = await refusedRecords(deps.store, connection.tenant, 'applications', records);
    for (const [n, { jobCandidate: record, unreadable }] of fetched.entries()) {
      const id = ids[n] ?? '';
      if (unreadable !== undefined) tell(context, id, 'quarantined', unreadable);
      if (record === undefined || refused.has(id) || !(await isInScope(deps.store, connection, String(record.jobId))))
        continue;
      const candidateId = String(record.candidateId);
      const own = byApplication.get(id) ?? [];
      found.set(candidateId, { record, results: [...(found.get(candidateId)?.results ?? []), ...own] });
    }
  }
  return [...found].map(([candidateId, { record, results: own }]) => {
    const { wanted, wrong } = latestOf(own, fields);
    const shown = new Map(Object.entries(record.customFields ?? {}).map(([id, { value }]) => [id, value as unknown]));
    const missing = missingTargets(wanted, shown);
    const jobCandidateId = String(record.id);
    const kind = missing.length > 0 ? 'updated' : 'unchanged';
    tell(context, jobCandidateId, wrong === undefined ? kind : 'quarantined', wrong);
    return {
      candidateId,
      jobCandidateId,
      missing: wanted
        .filter(({ customFieldId }) => missing.includes(customFieldId))
        .map((value) => ({ value, old: shown.get(value.customFieldId) })),
    };
  });
}

const byAge = new Intl.Collator('en', { numeric: true }).compare;

/**
 * The latest result for each field, encoded for the field. `wrong` describes values that do not fit, without the value.
 */
function latestOf(results: readonly Result[], fields: readonly FieldDefinition[]) {
  const wanted: TargetValue[] = [];
  let wrong: string | undefined;
  for (const [customFieldId, own] of Map.groupBy(results, (one) => one.customFieldId)) {
    const [latest] = own.toSorted((one, other) => byAge(other.at, one.at) || byAge(other.id, one.id));
    const field = namedField(fields, { entity: 'candidate', id: customFieldId, section: 'results' });
    const encoded = encodeValue(field, latest?.value ?? '');
    if ('wrong' in encoded) wrong = `custom field "${field.label}" (${customFieldId}) ${encoded.wrong}`;
    else wanted.push({ customFieldId, value: encoded.sent });
  }
  return { wanted, wrong };
}

// Writing results.

async function write(context: PushContext, people: readonly Person[]): Promise<void> {
  await assertOurs(context);
  const { deps, connection } = context;
  const named = people.map(({ candidateId, jobCandidateId }) => ({ id: jobCandidateId, candidateId }));
  const refused = await refusedRecords(deps.store, connection.tenant, 'applications', named);
  const left = people.filter(({ jobCandidateId }) => !refused.has(jobCandidateId));
  if (left.length === 0) return;
  const body = left.flatMap(({ candidateId, missing }) =>
    missing.map(({ value }) => ({ ...value, entityType: 'candidate' as const, entityId: candidateId })),
  );
  await notedValues(context, left.map(writeOf), body);
}

function writeOf({ candidateId, jobCandidateId, missing }: Person): NewWrite {
  const changes = Object.fromEntries(
    missing.map(({ value, old }) => [value.customFieldId, { ...(old === undefined ? {} : { old }), new: value.value }]),
  );
  const target = 'custom-fields';
  return { target, recordId: jobCandidateId, foreignId: candidateId, kind: 'update', changes, sensitive: [] };
}
