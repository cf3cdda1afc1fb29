import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { dayOf } from '../../src/day-of.ts';
import { ConnectorError } from '../../src/errors.ts';
import { fieldsToWrite, type Heard, hearEchoes, type PairPlan, planPair } from '../../src/exchange/plan-pair.ts';
import {
  amendedFrom,
  amendsOnly,
  customFieldOf,
  EMPTY_FORM,
  exchangedFields,
  hiredForms,
  seeFields,
} from '../../src/exchange/see-fields.ts';
import type { Side } from '../../src/hire/hire.ts';
import { readsSource } from '../../src/mapping/compile-rule.ts';
import { decodeCustomFields } from '../../src/mapping/custom-fields.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import type { SourcePath } from '../../src/mapping/source-fields.ts';
import { type PairState, readPairStates, UNKNOWN_PAIR } from '../../src/store/exchange-pairs.ts';
import { openConflicts } from '../../src/store/field-conflicts.ts';
import type { FieldDefinition } from '../../src/store/fields.ts';
import { readJobs } from '../../src/store/jobs.ts';
import { findPairs, type LinkedPair } from '../../src/store/linked-pairs.ts';
import { latestPlan } from '../../src/store/plans.ts';
import { changeQuarantine, readQuarantine } from '../../src/store/quarantine.ts';
import type { FieldConflictRow } from '../../src/store/stream-tables.ts';
import { timezoneOf } from '../../src/tenants/schema.ts';
import { definitionsInUse } from '../fields/custom-fields.ts';
import { isOfAnother, isStranger, personIn } from '../hire/read-employee.ts';
import { employeeReference } from '../hire/with-hire.ts';
import { type Elapsed, startClock } from '../hire/write-once.ts';
import {
  type ExchangeContext,
  employeeOfPair,
  type FetchedRecord,
  type HeldRecord,
  readSides,
  scopeOf,
  type UnreadRecord,
  withExpected,
} from './read-sides.ts';

/** One pair as both sides were just read, and the plan made from it. */
export interface ReadPair {
  pair: LinkedPair;
  state: PairState;
  open: readonly FieldConflictRow[];
  /** When the reading began, by the database's clock, and the time since. */
  readAt: number;
  sinceRead: Elapsed;
  found:
    | {
        plan: PairPlan;
        bases: Record<string, string>;
        /** Our own earlier writes that the reading showed. */
        heard: Pick<Heard, 'echoes' | 'bounces' | 'late'>;
        /** Which field each mapping field is on both sides; set if this must be saved. */
        identities?: Readonly<Record<string, string>>;
        /** Mapping fields that stood for another field when the pair was last judged. */
        renewed: ReadonlySet<string>;
        /** Effective date of the employee's new values. */
        from: string;
      }
    | { missing: Side }
    | { unreadable: string; isBrief?: boolean }
    | { settles: true };
}

/**
 * Reads both sides of some pairs. Reads their stored state afterwards, so that it never misses a write that ended after
 * the reading began.
 */
export async function readPairs(context: ExchangeContext, pairs: readonly LinkedPair[]): Promise<ReadPair[]> {
  // The partner refuses a call without ids.
  if (pairs.length === 0) return [];
  for (let times = 1; ; times += 1) {
    const read = await readOnce(context, pairs);
    if (!read.some(hasNews)) return read;
    const { key, deps, connection, mapping, uses, defined } = context;
    if (uses.length === 0) return read;
    // A field that was deleted, renamed or created again while the records were read reads as empty. Throws `throttle`
    // while a field is not the one it was.
    context.defined = await definitionsInUse(deps, connection, uses);
    const [before, now] = [defined, context.defined].map((some) => fieldIdentities(mapping, some));
    if (isDeepStrictEqual(before, now)) return read;
    if (times === MOST_READINGS)
      throw new ConnectorError({
        code: 'FIELDS_MOVE',
        action: 'throttle',
        message:
          `The hiring platform's custom fields changed while ${key.stream} of ${key.tenantId} was read, ` +
          `${MOST_READINGS} times in a row. Nothing of these pairs was written; they are read again later.`,
        retryAfterMs: deps.limits.pausedMs,
      });
    context.jobs.forget();
  }
}

const MOST_READINGS = 3;

/** Whether the plan writes something or records a new agreement. */
function hasNews({ state, found }: ReadPair): boolean {
  if (!('plan' in found)) return false;
  const { toHris, toPartner, agreed } = found.plan;
  return toHris.length + toPartner.length > 0 || Object.entries(agreed).some(([of, form]) => state.bases[of] !== form);
}

async function readOnce(context: ExchangeContext, pairs: readonly LinkedPair[]): Promise<ReadPair[]> {
  const { deps, key } = context;
  const sinceRead = startClock();
  const { readAt, partner: shown, hris } = await readSides(deps.store, context, pairs);
  const ids = pairs.map(({ pairId }) => pairId);
  const states = await readPairStates(deps.store, key, ids);
  const basesOf = (index: number) => {
    const { settles_at, bases } = states.get(ids[index] ?? '') ?? UNKNOWN_PAIR;
    return readAt <= settles_at ? {} : bases;
  };
  const partner = await withExpected(context, shown, basesOf);
  const open = Map.groupBy(await openConflicts(deps.store, key, ids), (row) => row.pair_id);
  const jobs = await readJobRecords(context, partner);
  const { mapping, defined } = context;
  const identities = fieldIdentities(mapping, defined);
  const earlier = fieldIdentities(mapping, defined, context.connection.tenant.hris.connection);
  const read: ReadPair[] = [];
  for (const [index, pair] of pairs.entries()) {
    const known = {
      pair,
      state: states.get(pair.pairId) ?? UNKNOWN_PAIR,
      open: open.get(pair.pairId) ?? [],
      readAt,
      sinceRead,
    };
    const held = hris[index];
    const isAnother = await isAnotherNow(context, known, held);
    const both = { jobs, identities, earlier, fetched: partner[index] ?? {}, held, isAnother };
    const found =
      readAt <= known.state.settles_at
        ? { settles: true as const }
        : judge(context, known, both, await readHired(context, known));
    read.push({ ...known, found });
  }
  return read;
}

type Known = Pick<ReadPair, 'pair' | 'state' | 'open' | 'readAt'>;

/** One pair as both sides showed it. */
interface Shown {
  jobs: JobRecords;
  identities: FieldIdentities;
  /** The same as an earlier version stored them. */
  earlier: FieldIdentities;
  fetched: FetchedRecord;
  held: HeldRecord | UnreadRecord | undefined;
  isAnother: boolean;
}

function judge(
  { deps, connection, mapping, defined, full, hasSameRules }: ExchangeContext,
  { pair, state, open, readAt }: Known,
  { jobs, identities: now, earlier, fetched, held, isAnother }: Shown,
  hired: Record<string, string>,
): ReadPair['found'] {
  if (fetched.unreadable !== undefined) return { unreadable: fetched.unreadable };
  if (fetched.sources === undefined) return { missing: 'partner' };
  if (held === undefined) return { missing: 'hris' };
  if ('failed' in held) return { unreadable: held.failed, isBrief: held.isBrief };
  const job = fetched.jobId === undefined ? undefined : jobs.get(fetched.jobId);
  const sources = decodeCustomFields({ ...fetched.sources, ...(job && { job }) }, defined);
  // A job that is no longer listed shows no values, which must not read as emptied.
  const isWithoutJob = job === undefined && readsSource(mapping.fields, 'job');
  const isOver = amendsOnly(mapping) && (held.former === true || isWithoutJob);
  const ofAnother = exchangedFields(mapping).map(({ target }) => [target, 'RECORD_OF_ANOTHER']);
  const record = isAnother ? { fields: {}, unreadable: Object.fromEntries(ofAnother) } : held;
  const seen = isOver ? [] : seeFields(mapping, { pairId: pair.pairId, sources, record, defined });
  const reference = isAnother ? employeeReference(connection.tenant, pair.partnerId) : held.reference;
  // The record's identity: the person of the reference that it stores. Another reference never replaces a known one.
  const met = state.identities[RECORD] ?? (reference === undefined ? undefined : hashOf(personIn(reference)));
  const ids = { ...now, ...(met !== undefined && { [RECORD]: met }) };
  const { renewed, identities, ...known } = knownOf(state, ids, earlier);
  // A person asked to try again, so the earlier refusal is forgotten.
  const isToBeTried = ({ kind, partner_form: partner, hris_form: hris }: FieldConflictRow): boolean =>
    kind === 'quarantined' && partner === null && hris === null;
  const again = (of: string): boolean => full || open.some((row) => row.field === of && isToBeTried(row));
  const { readLagMs, shownWithinMs = readLagMs } = connection.hris.capabilities;
  const settlesMs = deps.limits.giveUpMs + deps.limits.partnerLagMs;
  const shownWithin = { hris: settlesMs + shownWithinMs, partner: settlesMs + deps.limits.partnerLagMs };
  const heard = hearEchoes(seen, known, { again, readAt, shownWithin });
  // A field that was created again began empty: whatever it holds, somebody typed since, and a person is asked.
  const emptied = amendsOnly(mapping) && hasSameRules ? [...renewed].map((field) => [field, EMPTY_FORM]) : [];
  const bases = { ...hired, ...heard.bases, ...Object.fromEntries(emptied) };
  const still = open.filter(({ kind, field }) => (!full || kind === 'held') && !renewed.has(field));
  const plan = planPair(heard.seen, { bases, open: still, defined });
  return {
    ...(identities && { identities }),
    renewed,
    bases,
    heard,
    plan,
    from: amendedFrom(dayOf(readAt, timezoneOf(connection.tenant)), held.fields, fieldsToWrite(plan.toHris)),
  };
}

/** Jobs as last listed, by id. */
type JobRecords = ReadonlyMap<string, Record<string, unknown>>;

/** Reads from the store the jobs that people were hired for; none if the mapping reads no job. */
async function readJobRecords(
  { deps, key, mapping }: ExchangeContext,
  people: readonly FetchedRecord[],
): Promise<JobRecords> {
  const ids = new Set(people.flatMap(({ jobId }) => (jobId === undefined ? [] : [jobId])));
  if (!readsSource(mapping.fields, 'job') || ids.size === 0) return new Map();
  const jobs = await readJobs(deps.store, key.tenantId, [...ids]);
  return new Map(jobs.map(({ jobId, record }) => [jobId, record]));
}

/** Values the employee was created with, while the plan is kept and the pair was never judged since. */
async function readHired(
  { deps, key, mapping }: ExchangeContext,
  { pair, state }: { pair: LinkedPair; state: PairState },
): Promise<Record<string, string>> {
  // A pair is also stored where one side did not show it.
  const isJudged = Object.keys({ ...state.bases, ...state.identities }).length > 0;
  if (!amendsOnly(mapping) || isJudged || pair.hire === undefined) return {};
  const plan = await latestPlan(deps.store, { tenantId: key.tenantId, ...pair.hire });
  return plan === undefined || plan.change === 'purged' ? {} : hiredForms(mapping, pair.pairId, plan.change);
}

/** Identity of the two fields behind each mapping field, by target. */
type FieldIdentities = Readonly<Record<string, string>>;

/**
 * Identifies each mapping field on both sides: the partner's definition by id and type, and the HR system's column. If
 * a label belongs to another definition now, or a rule names another field, it is a new field, and earlier agreements
 * say nothing about it. The connection is no part of it, because an HR system that got another name keeps its fields,
 * and another HR system leaves no pair. Earlier versions counted it: with `connection`, returns their identities.
 */
function fieldIdentities(
  mapping: Pick<Mapping, 'fields' | 'back'>,
  defined: readonly FieldDefinition[],
  connection?: string,
): FieldIdentities {
  const partnerField = (path: SourcePath): (string | undefined)[] => {
    if (!('customField' in path)) return [path.source, path.field, path.key];
    const definition = customFieldOf(path, defined);
    return [path.source, 'customFields', definition?.id, definition?.type];
  };
  const identities = exchangedFields(mapping).map(({ target, from, def }) => {
    const named = connection === undefined ? [] : [connection];
    const field = [from.map(partnerField), ...named, def.place ?? def.key, def.type];
    return [target, hashOf(JSON.stringify(field))];
  });
  return Object.fromEntries(identities);
}

/** Where the identities of a pair keep the reference of the HR system's record; no field has this name. */
const RECORD = '@record';

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 10);
}

/**
 * Whether the record behind this id is another one than the pair was first judged by, or, at the first meeting, than
 * the one that hirebridge made.
 */
async function isAnotherNow(
  { deps: { store }, connection }: ExchangeContext,
  { pair, state }: Known,
  held: HeldRecord | UnreadRecord | undefined,
): Promise<boolean> {
  if (held === undefined || 'failed' in held) return false;
  const met = state.identities[RECORD];
  if (met !== undefined)
    return isStranger(connection.hris.capabilities, held.reference, (person) => hashOf(person) === met);
  // A pair that was met by an earlier version may never have had a reference.
  const isFirst = state.version === 0 || held.reference !== undefined;
  return isFirst && pair.isMade === true && isOfAnother({ store, connection }, employeeOfPair(pair), held);
}

/** Returns the stored state without fields that were replaced by others. */
function knownOf(
  { bases, sent, echoes, identities }: Pick<PairState, 'bases' | 'sent' | 'echoes' | 'identities'>,
  now: FieldIdentities,
  earlier: FieldIdentities,
) {
  const isOther = (field: string): boolean => ![undefined, now[field], earlier[field]].includes(identities[field]);
  const renewed = new Set(Object.keys(now).filter(isOther));
  const isKept = ([field]: [string, unknown]): boolean => !renewed.has(field);
  return {
    bases: Object.fromEntries(Object.entries(bases).filter(isKept)),
    sent: Object.fromEntries(Object.entries(sent).filter(isKept)),
    echoes: Object.fromEntries(Object.entries(echoes).filter(isKept)),
    renewed,
    /** Identities to save; absent if they are stored already. */
    ...(Object.keys(now).some((field) => identities[field] !== now[field])
      ? { identities: { ...identities, ...now } }
      : {}),
  };
}

/** Names pairs that cannot be read, with the reason, and takes those off the list that can be read again. */
export async function noteUnread(
  { deps, key, runId }: ExchangeContext,
  read: readonly Pick<ReadPair, 'pair' | 'found'>[],
): Promise<void> {
  const known = new Map((await readQuarantine(deps.store, key)).map((row) => [row.record_key, row.reason]));
  const news = read.flatMap(({ pair, found }) =>
    'unreadable' in found && known.get(pair.pairId) !== found.unreadable
      ? [{ key: pair.pairId, reason: found.unreadable }]
      : [],
  );
  const over = read.flatMap(({ pair, found }) =>
    'unreadable' in found || !known.has(pair.pairId) ? [] : [pair.pairId],
  );
  if (news.length + over.length > 0) await changeQuarantine(deps.store, key, runId, { page: 0, over, news });
}

/** Takes pairs off the list that are not linked any more: no run reads them again. */
export async function forgetUnlinked(context: ExchangeContext): Promise<void> {
  const { deps, key, runId } = context;
  const ids = (await readQuarantine(deps.store, key)).map((row) => row.record_key);
  const linked = new Set((await findPairs(deps.store, scopeOf(context), ids)).map(({ pairId }) => pairId));
  const over = ids.filter((id) => !linked.has(id));
  if (over.length > 0) await changeQuarantine(deps.store, key, runId, { page: 0, over, news: [] });
}
