import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Connection } from '../../activities/connections.ts';
import { createJobsList, noMapping, type Reading, readSides } from '../../activities/exchange/read-sides.ts';
import { decodedRecords, readDefinitions } from '../../activities/fields/custom-fields.ts';
import { type ConnectorError, rejected } from '../errors.ts';
import type { EmployeeFields } from '../hire/hire.ts';
import { decodeCustomFields } from '../mapping/custom-fields.ts';
import { evaluateBack, evaluateMapping } from '../mapping/evaluate.ts';
import { type Mapping, shortVersion } from '../mapping/load-mapping.ts';
import type { MappingSources } from '../mapping/source-fields.ts';
import { contract } from '../partner/contract/index.ts';
import { applyDefinitions } from '../store/applied-tenants.ts';
import { hiresInState } from '../store/hires.ts';
import { readJobs } from '../store/jobs.ts';
import { type LinkedPair, pairPages } from '../store/linked-pairs.ts';
import type { Store } from '../store/open-store.ts';
import type { RecordPage } from '../streams/read-page.ts';
import { withKnownTables } from '../streams/stream.ts';
import {
  type ExchangeName,
  entityOf,
  exchangeNames,
  isExchange,
  landedNames,
  type PullName,
  pullStreams,
  type StreamName,
} from '../streams/streams.ts';
import { loadExchangeMapping, loadStreamMapping, loadTenantMapping } from '../tenants/open-hris.ts';
import { planDefinition } from '../tenants/plan-application.ts';
import type { Tenant } from '../tenants/schema.ts';
import { assertChecked } from './check-applications.ts';
import { type OpenTenant, patiently, readPages, streamEnds } from './open-tenant.ts';
import { readHireSources } from './plan-hire.ts';
import { assertPulledStream } from './streams.ts';
import { readAppliedTenant } from './tenants.ts';
import { MASK } from './writes.ts';

/** The employee's mapping, a landing stream's, or a two-way stream's. */
type MappingName = 'employee' | PullName | ExchangeName;

export interface MappingDiff extends MappingDifference {
  subject: MappingName;
  /** Mapping versions. */
  from: string;
  to: string;
}

/** Ids in one call (section 8). */
const MOST_IDS = 100;

/** A stream's mapping, or the employee's if none is named. @throws ConnectorError STREAM_UNKNOWN, STREAM_NOT_PLANNED */
export function mappingNamed(stream: string | undefined): MappingName {
  if (stream === undefined) return 'employee';
  if (isExchange(stream)) return stream;
  assertPulledStream(stream);
  return stream;
}

/**
 * Shows which records a new mapping file would change, and how, before it is live. Uses stored jobs and reads other
 * records again at bulk priority. Writes nothing.
 * @throws ConnectorError MAPPING_INVALID
 */
export function diffMapping(open: OpenTenant, subject: MappingName, file: string): Promise<MappingDiff> {
  return diffWith(open, subject, { ...withMapping(open.tenant, subject, resolve(file)), files: {} });
}

/** The same for a changed text of the tenant's own file, before it is saved. @throws as above */
export function diffEdited(
  open: OpenTenant,
  { subject, path, text }: { subject: MappingName; path: string; text: string },
): Promise<MappingDiff> {
  return diffWith(open, subject, { ...open.tenant, files: { ...open.tenant.files, [path]: text } });
}

async function diffWith(open: OpenTenant, subject: MappingName, then: Tenant): Promise<MappingDiff> {
  const { connection } = open;
  const before = mappingInForce(connection, subject);
  const after = await withKnownTables(open.store, open.tenant.tenant, await loadNew(then, subject));
  const difference = await compareMappings(before, after, recordsOf(open, subject, [before, after]));
  return { subject, from: shortVersion(before.hash), to: shortVersion(after.hash), ...difference };
}

function mappingInForce(connection: Connection, subject: MappingName): Mapping {
  if (subject === 'employee') return connection.mapping;
  if (!isExchange(subject)) return streamEnds(connection, subject).mapping;
  const mapping = connection.exchanges[subject];
  if (mapping === undefined) throw noMapping(subject);
  return mapping;
}

/** Masks the sensitive values of a difference. */
export function maskDiff(diff: MappingDiff): MappingDiff {
  const masked = (value: unknown): unknown => (value === null ? null : MASK);
  return {
    ...diff,
    fields: diff.fields.map((field) =>
      field.sensitive
        ? { ...field, samples: field.samples.map((one) => ({ ...one, old: masked(one.old), new: masked(one.new) })) }
        : field,
    ),
  };
}

function withMapping(tenant: Tenant, subject: MappingName, file: string): Tenant {
  if (subject === 'employee') return { ...tenant, mapping: file };
  const stream = { ...tenant.streams[subject], mapping: file };
  return { ...tenant, streams: { ...tenant.streams, [subject]: stream } };
}

/** Loads the mapping from its texts, or from disk if it has none: the file is not applied yet. */
async function loadNew(then: Tenant, subject: MappingName): Promise<Mapping> {
  if (subject === 'employee') return loadTenantMapping(then);
  const loaded = isExchange(subject)
    ? await loadExchangeMapping(then, subject)
    : await loadStreamMapping(then, subject);
  if (loaded === undefined) throw new Error(`the mapping of ${subject} disappeared while it was read`);
  return loaded;
}

async function* recordsOf(
  open: OpenTenant,
  subject: MappingName,
  mappings: readonly Mapping[],
): AsyncGenerator<SourceRecord> {
  if (subject === 'employee') {
    yield* hireRecords(open, mappings);
    return;
  }
  if (isExchange(subject)) {
    yield* exchangeRecords(open, subject);
    return;
  }
  const { name } = pullStreams[subject].record;
  for await (const items of recordsShown(open, subject)) {
    const shown = items.map((item) => ({ [name]: item }));
    const decoded = await patiently(() => decodedRecords(open.connection, mappings, shown));
    for (const [index, sources] of decoded.entries()) yield { id: String(items[index]?.['id']), sources };
  }
}

async function* recordsShown(open: OpenTenant, subject: PullName): AsyncGenerator<RecordPage['items']> {
  const stored = subject === 'jobs' ? await readJobs(open.store, open.tenant.tenant) : [];
  if (stored.length > 0) yield stored.map(({ record }) => record);
  else for await (const { items } of readPages(open, streamEnds(open.connection, subject))) yield items;
}

async function* hireRecords(
  { store, tenant, connection }: OpenTenant,
  mappings: readonly Mapping[],
): AsyncGenerator<SourceRecord> {
  const { tenant: tenantId } = tenant;
  const readsOnboarding = mappings.some(({ fields }) =>
    fields.some(({ from }) => from.some(({ source }) => source === 'onboarding')),
  );
  const rows = await hiresInState(store, tenantId, 'open', 'done');
  const hires = new Map(rows.map((row) => [row.job_candidate_id, row]));
  const ids = [...hires.keys()];
  for (let from = 0; from < ids.length; from += MOST_IDS) {
    const body = { jobCandidateIds: ids.slice(from, from + MOST_IDS) };
    const { items } = await patiently(() =>
      connection.partner.readAll(contract.jobCandidates.bulkFetch, { body }, { priority: 'bulk' }),
    );
    // In parallel, so that they share reads of their jobs.
    yield* await Promise.all(
      items.map(async (item) => {
        const enrolled = hires.get(item.id)?.onboarding_candidate_id ?? null;
        const onboardingCandidateId = readsOnboarding ? enrolled : null;
        const { sources } = await readHireSources(store, connection, onboardingCandidateId, item, mappings);
        return { id: item.id, sources };
      }),
    );
  }
}

/** The linked pairs of a two-way stream with the current values of both sides; skips pairs that lack a side. */
async function* exchangeRecords(open: OpenTenant, stream: StreamName): AsyncGenerator<SourceRecord> {
  const { store, tenant, connection } = open;
  const entity = entityOf(stream);
  const scope = { tenantId: tenant.tenant, stream, entity, connection: tenant.hris.connection };
  const jobs = createJobsList(store, connection);
  let reading: Reading | undefined;
  for await (const pairs of pairPages(store, scope, MOST_IDS)) {
    reading ??= { connection, entity, jobs, defined: (await patiently(() => readDefinitions(connection))).fields };
    yield* await readPairs(open, reading, pairs);
  }
}

async function readPairs(
  { store }: OpenTenant,
  reading: Reading,
  pairs: readonly LinkedPair[],
): Promise<SourceRecord[]> {
  const { partner, hris } = await patiently(() => readSides(store, reading, pairs));
  const records: SourceRecord[] = [];
  for (const [index, { partnerId }] of pairs.entries()) {
    const shown = partner[index]?.sources;
    const held = hris[index];
    if (shown === undefined || held === undefined || 'failed' in held) continue;
    const { fields } = held;
    records.push({ id: partnerId, sources: decodeCustomFields(shown, reading.defined), held: fields });
  }
  return records;
}

interface FieldDifference {
  field: string;
  /** Its values are masked for display. */
  sensitive: boolean;
  /** Records whose value changes. */
  count: number;
  /** Records that would no longer get a valid value: a hire would wait, a landed record would be left out. */
  broken: number;
  /** The first few; their values are personal data. */
  samples: { record: string; old: unknown; new: unknown }[];
}

interface MappingDifference {
  compared: number;
  /** Records in which at least one field differs. */
  changed: number;
  fields: FieldDifference[];
}

const MOST_SAMPLES = 3;

/** Evaluates every record once with each mapping. Pure; records may arrive one by one. */
export async function compareMappings(
  before: Mapping,
  after: Mapping,
  records: Iterable<SourceRecord> | AsyncIterable<SourceRecord>,
): Promise<MappingDifference> {
  const found = new Map<string, FieldDifference>();
  const sensitive = new Set([...sensitiveNames(before), ...sensitiveNames(after)]);
  const counts = { compared: 0, changed: 0 };
  for await (const { id, ...record } of records) {
    counts.compared += 1;
    const differing = compareRecord(evaluate(before, record), evaluate(after, record));
    if (differing.length > 0) counts.changed += 1;
    for (const one of differing) count(found, { ...one, record: id, sensitive: sensitive.has(one.field) });
  }
  return { ...counts, fields: [...found.values()].toSorted((a, b) => b.count - a.count) };
}

/** A record to map. */
export interface SourceRecord {
  id: string;
  sources: MappingSources;
  /** The HR system's values, if values also go back to the partner. */
  held?: EmployeeFields;
}

interface Differing {
  field: string;
  old: unknown;
  new: unknown;
  broken: boolean;
}

type Evaluated = ReturnType<typeof evaluateMapping>;

/** Evaluates both directions if the record has the HR system's values. */
function evaluate(mapping: Mapping, { sources, held }: Omit<SourceRecord, 'id'>): Evaluated {
  const there = evaluateMapping(mapping, sources);
  if (held === undefined) return there;
  const back = evaluateBack(mapping, held);
  const values = back.values.map(({ field, path, value }) => [backName(field, path.text), value] as const);
  const places = new Map(mapping.back.map(({ target, from }) => [target, from[0]?.text ?? '']));
  const problems = back.problems.map((one) => ({ ...one, field: backName(one.field, places.get(one.field) ?? '') }));
  return { fields: { ...there.fields, ...Object.fromEntries(values) }, problems: [...there.problems, ...problems] };
}

/** Names a value on its way to the partner, apart from the same field on its way to the HR system. */
function backName(field: string, place: string): string {
  return `${field} -> ${place}`;
}

function sensitiveNames({ fields, back }: Mapping): string[] {
  const there = fields.filter((field) => field.sensitive).map(({ target }) => target);
  const here = back.filter((field) => field.sensitive);
  return [...there, ...here.map(({ target, from }) => backName(target, from[0]?.text ?? ''))];
}

function compareRecord(old: Evaluated, now: Evaluated): Differing[] {
  const names = new Set([...Object.keys(old.fields), ...Object.keys(now.fields)]);
  const failed = new Set(old.problems.map(({ field }) => field));
  const broken = now.problems.filter(({ field }) => !failed.has(field));
  const differing: Differing[] = broken.map(({ field, code }) => ({
    field,
    old: old.fields[field] ?? null,
    new: `[${code}]`,
    broken: true,
  }));
  for (const field of names) {
    const [one, other] = [old.fields[field] ?? null, now.fields[field] ?? null];
    if (isSame(one, other) || broken.some((problem) => problem.field === field)) continue;
    differing.push({ field, old: one, new: other, broken: false });
  }
  return differing;
}

/** Most values are text, which costs nothing to compare. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || (Array.isArray(one) && JSON.stringify(one) === JSON.stringify(other));
}

function count(
  found: Map<string, FieldDifference>,
  { field, record, sensitive, broken, ...values }: Differing & { record: string; sensitive: boolean },
): void {
  const known = found.get(field) ?? { field, sensitive, count: 0, broken: 0, samples: [] };
  found.set(field, known);
  known.count += 1;
  if (broken) known.broken += 1;
  if (known.samples.length < MOST_SAMPLES) known.samples.push({ record, ...values });
}

/** A tenant's mapping file as applied. */
export interface OwnMapping {
  subject: MappingName;
  path: string;
  text: string;
}

/** The tenant's own mapping files; mappings left to the defaults have none. */
export async function listOwnMappings(store: Store, tenantId: string): Promise<OwnMapping[]> {
  return mappingsOf(await readAppliedTenant(store, tenantId));
}

function mappingsOf(tenant: Tenant): OwnMapping[] {
  const subjects = new Set<MappingName>(['employee', ...landedNames, ...exchangeNames.filter(isExchange)]);
  return [...subjects].flatMap((subject) => {
    const path = subject === 'employee' ? tenant.mapping : tenant.streams[subject].mapping;
    const text = path === undefined ? undefined : tenant.files[path];
    return path === undefined || text === undefined ? [] : [{ subject, path, text }];
  });
}

/** @throws ConnectorError STREAM_UNKNOWN, MAPPING_DEFAULT if the tenant has no such file of its own */
export async function readOwnMapping(store: Store, tenantId: string, subject: string): Promise<OwnMapping> {
  const name = subject === 'employee' ? subject : mappingNamed(subject);
  const own = (await listOwnMappings(store, tenantId)).find((one) => one.subject === name);
  if (own !== undefined) return own;
  throw rejected(
    'MAPPING_DEFAULT',
    `${tenantId} maps ${name} by the defaults, so there is no file to change. Write one, name it in the ` +
      'tenant file, and run: hirebridge tenant apply',
  );
}

/**
 * Applies a mapping with a new text, with the checks of `tenant apply`. Also updates the file itself if it is here and
 * still as applied; a changed file is left alone, and the next `tenant apply` shows the difference. Returns whether the
 * file has the new text.
 * @throws ConnectorError TENANT_FILE_INVALID, CHECK_FAILED, OVERTAKEN
 */
export async function applyEdit(
  store: Store,
  {
    tenantId,
    subject,
    before,
    text,
    by,
  }: { tenantId: string; subject: string; before: string; text: string; by: string },
): Promise<'written' | 'differs' | 'absent'> {
  const own = await readOwnMapping(store, tenantId, subject);
  if (own.text !== before) throw overtaken(tenantId);
  const { file, files } = await readAppliedTenant(store, tenantId);
  const planned = await planDefinition(store, { file, files: { ...files, [own.path]: text } });
  await assertChecked(store, [planned]);
  if (!(await applyDefinitions(store, [planned], by))) throw overtaken(tenantId);
  return bringAlong(own, text);
}

function overtaken(tenantId: string): ConnectorError {
  return rejected(
    'OVERTAKEN',
    `Somebody else applied ${tenantId} meanwhile, so nothing was done. Look at its files as they are now.`,
  );
}

async function bringAlong({ path, text: before }: OwnMapping, after: string) {
  const there = await readFile(path, 'utf8').catch(() => undefined);
  if (there === undefined) return 'absent';
  if (there !== before) return 'differs';
  const beside = `${path}.${randomUUID().slice(0, 8)}.tmp`;
  await writeFile(beside, after, { flag: 'wx' });
  await rename(beside, path);
  return 'written';
}
