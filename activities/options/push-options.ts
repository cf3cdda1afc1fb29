import { ConnectorError, isConnectorError } from '../../src/errors.ts';
import type { ListEntry } from '../../src/hris/port.ts';
import { definitionOf } from '../../src/mapping/definition-of.ts';
import type { CustomFieldValueInput } from '../../src/partner/contract/custom-field-values.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { stageTypes } from '../../src/partner/contract/pipelines.ts';
import { decodeValue } from '../../src/partner/custom-field-forms.ts';
import { judgeOptions, type OptionPlan, optionsAfter, planOptions } from '../../src/plan/plan-options.ts';
import type { FieldDefinition } from '../../src/store/fields.ts';
import { BY_ITSELF, type NewWrite, recordWrites, settleWrites } from '../../src/store/foreign-writes.ts';
import { noteOptionLabels, type OptionsKey, readOptionLabels, settleLeaving } from '../../src/store/option-labels.ts';
import { touchRun } from '../../src/store/push-runs.ts';
import { allowedCodes, forgetAllowed, readStreamState, type StreamState } from '../../src/store/stream-states.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import type { Connection } from '../connections.ts';
import type { PushContext, Verdict } from '../push/push-context.ts';
import { stopAt } from '../streams/reading.ts';

type OptionSet = NonNullable<Tenant['options']>[number];

/**
 * Makes the options of each select field that the tenant names those of a list of the HR system. An option that any
 * record holds is never taken away; one whose entry is called otherwise now is renamed, and so are the values that hold
 * it. An entry that is missed is missed twice before its option goes. What a request without an answer came to is read
 * before anything is sent again: the options are sent whole, so the same again is harmless.
 */
export async function pushOptions(context: PushContext, beat: () => void): Promise<Verdict[]> {
  const { deps, connection, key, runId } = context;
  const state = await readStreamState(deps.store, key);
  const verdicts: Verdict[] = [];
  for (const set of connection.tenant.options ?? []) {
    if (!(await touchRun(deps.store, key, runId))) return verdicts;
    verdicts.push(...(await equalize({ ...context, beat, state, fieldKey: keyOf(context, set) }, set)));
    beat();
  }
  await forgetAllowed(deps.store, key);
  return verdicts;
}

/** What a run would do to one field, as both sides are now. */
export interface OptionsFound {
  field: FieldDefinition;
  options: readonly string[];
  entries: readonly ListEntry[];
  plan: OptionPlan;
  /** Of those that are to go or to be renamed, the ones that a record holds; all where nobody can tell. */
  uses: Uses;
}

/** Both sides of one set, and what differs. Reads alone; whether an option is in use is asked where one should go. */
export async function findOptions(
  { deps, connection, key, runId }: Pick<PushContext, 'deps' | 'connection' | 'key' | 'runId'>,
  set: OptionSet,
  { isAllowed = false, beat = () => undefined }: { isAllowed?: boolean; beat?: () => void } = {},
): Promise<OptionsFound> {
  const field = await readField(connection, set.customField);
  const entries = await readEntries(connection, set.list);
  const rows = await readOptionLabels(deps.store, keyOf({ key }, set));
  const known = new Map(
    [...rows].map(([label, row]) => {
      const missed = row.missed_run !== null && row.missed_run !== runId;
      return [label, { entryId: row.entry_id, missed }];
    }),
  );
  const options = field.options ?? [];
  const planned = planOptions(options, entries, known);
  // A person who lets many of them go has looked a second time.
  const plan = isAllowed ? { ...planned, remove: [...planned.remove, ...planned.waiting], waiting: [] } : planned;
  const asked = [...plan.remove, ...plan.rename.map(({ from }) => from), ...plan.passedOn];
  return { field, options, entries, plan, uses: await readUses(connection, field, asked, beat) };
}

interface SetRun extends PushContext {
  beat: () => void;
  state: StreamState | undefined;
  fieldKey: OptionsKey;
}

function keyOf({ key }: Pick<PushContext, 'key'>, { customField }: OptionSet): OptionsKey {
  return { tenantId: key.tenantId, fieldId: customField };
}

async function equalize(run: SetRun, set: OptionSet): Promise<Verdict[]> {
  const { deps, key, runId, fieldKey, state, beat } = run;
  await settleGone(run, set);
  const isAllowed = allowedCodes(state).includes('MASS_DELETE');
  const found = await findOptions(run, set, { isAllowed, beat });
  const { field, options, entries, plan } = found;
  const excess = judgeOptions(plan, { options, entries, inUse: found.uses.labels });
  if (excess !== undefined) {
    const message = `Custom field "${field.label}" (${field.id}): ${excess.message}`;
    await stopAt({ deps, key, state }, { code: excess.code, message }, excess.count);
  }
  // None can be left: the field keeps what it has.
  if (entries.length === 0) return options.map((option) => ({ id: idOf(field, option), kind: 'skipped' }));
  await noteOptionLabels(deps.store, fieldKey, runId, { entries, missed: plan.waiting, leaving: [] });
  const moved = await moveValues(run, set, found);
  // Candidates whom no list shows are asked only when the others hold it no more.
  const uses = moved === found.uses ? moved : await moveValues(run, set, { ...found, uses: moved });
  const left = await putOptions(run, set, { plan, inUse: uses.labels });
  return verdictsOf(found, left);
}

function idOf(field: FieldDefinition, option: string): string {
  return `${field.id} ${option}`;
}

/** One for each option. One that stays because it is in use is no record that was left out. */
function verdictsOf({ field, options, plan }: OptionsFound, left: ReadonlySet<string>): Verdict[] {
  const verdict = (option: string, kind: Verdict['kind']): Verdict => ({ id: idOf(field, option), kind });
  const renamed = new Set(plan.rename.map(({ to }) => to));
  const added = plan.add.filter((option) => !renamed.has(option));
  const going = [...plan.remove, ...plan.rename.map(({ from }) => from)];
  return [
    ...options
      .filter((option) => !going.includes(option) && !plan.waiting.includes(option))
      .map((option) => verdict(option, 'unchanged')),
    ...plan.waiting.map((option) => verdict(option, 'skipped')),
    ...added.map((option) => verdict(option, left.has(option) ? 'skipped' : 'created')),
    ...going.map((option) => verdict(option, left.has(option) ? 'skipped' : 'updated')),
  ];
}

// The two sides.

/** @throws ConnectorError OPTIONS_FIELD_UNUSABLE, CUSTOM_FIELD_NOT_FOUND */
async function readField({ partner }: Connection, customFieldId: string): Promise<FieldDefinition> {
  const { data } = await partner.customFields.get({ params: { customFieldId } });
  const field = definitionOf(data);
  if (field.type === 'select' || field.type === 'multi-select') return field;
  throw new ConnectorError({
    code: 'OPTIONS_FIELD_UNUSABLE',
    action: 'reject',
    message:
      `Custom field "${field.label}" (${field.id}) is of type ${field.type}, which has no options. ` +
      'Name a field of type select or multi-select under options, and apply the file.',
  });
}

const READ_MS = 60_000;

/** Labels as a person reads them; an entry without one is no option. @throws ConnectorError OPTIONS_UNCONFIGURED */
async function readEntries({ hris, tenant }: Connection, list: string): Promise<ListEntry[]> {
  if (hris.lists === undefined)
    throw new ConnectorError({
      code: 'OPTIONS_UNCONFIGURED',
      action: 'reject',
      message:
        `An HR system of kind ${tenant.hris.kind} tells no lists as it is set, so the options of ${tenant.tenant} ` +
        'cannot be made equal. Name them in hris.lists, or remove the stream.',
    });
  const entries = await hris.lists.read(list, AbortSignal.timeout(READ_MS));
  return entries.map(({ id, label }) => ({ id, label: label.trim() })).filter(({ label }) => label !== '');
}

// What is in use.

interface Uses {
  /** Of those asked about, the ones that a record holds; all of them where nobody can tell. */
  labels: ReadonlySet<string>;
  /** Values that hold one of them, as far as they can be written. */
  values: { input: Omit<CustomFieldValueInput, 'value'>; held: readonly string[]; isList: boolean }[];
  /** Why the labels stay. */
  why: string;
}

/** So many candidates are asked one by one, because no list shows what hangs on a part of their profile. */
const MOST_ASKED = 200;
const IN_USE = 'in use, so it stays';

async function readUses(
  connection: Connection,
  field: FieldDefinition,
  going: readonly string[],
  beat: () => void,
): Promise<Uses> {
  const uses = { labels: new Set<string>(), values: [] as Uses['values'], why: IN_USE };
  if (going.length === 0) return uses;
  const seen = new Set<string>();
  const note: Note = (at, stored) => {
    const held = [decodeValue(field.type, stored)].flat().map(String);
    const asked = held.filter((label) => going.includes(label));
    const place = JSON.stringify([at.entityId, at.parentEntityType ?? '', at.parentEntityId ?? '']);
    if (asked.length === 0 || seen.has(place)) return;
    seen.add(place);
    for (const label of asked) uses.labels.add(label);
    const entityType = field.entity as 'candidate' | 'job';
    const input = { ...at, customFieldId: field.id, entityType };
    uses.values.push({ input, held, isList: field.type === 'multi-select' });
  };
  const look = { connection, field, note, beat };
  const unknown = field.entity === 'job' ? await lookAtJobs(look) : await lookAtCandidates(look, going, uses.labels);
  return unknown === undefined ? uses : { labels: new Set(going), values: [], why: `${unknown}, so it stays` };
}

interface Look {
  connection: Connection;
  field: FieldDefinition;
  note: Note;
  beat: () => void;
}

type Note = (
  input: Pick<CustomFieldValueInput, 'entityId' | 'parentEntityType' | 'parentEntityId'>,
  stored: unknown,
) => void;

const unreadable = (count: number, what: string): string => `${count} ${what} cannot be read and may hold it`;

/** Every job shows every field (section 2.2). Says why nobody can tell. */
async function lookAtJobs({ connection, field, note, beat }: Look): Promise<string | undefined> {
  let unread = 0;
  for await (const page of connection.partner.pages(contract.jobs.list, {})) {
    for (const { id, customFields } of page.items)
      note({ entityId: String(id) }, customFields?.[field.id]?.value ?? '');
    unread += page.unreadable.length;
    beat();
  }
  return unread > 0 ? unreadable(unread, 'jobs') : undefined;
}

/**
 * Applications show what their people hold (section 2.4); what stands in no job, and what hangs on a part of a profile,
 * is asked for one by one, unless the applications have told of every label already.
 */
async function lookAtCandidates(
  { connection, field, note, beat }: Look,
  going: readonly string[],
  found: ReadonlySet<string>,
): Promise<string | undefined> {
  const { partner } = connection;
  for (const stageType of stageTypes)
    for await (const { items } of partner.pages(contract.jobCandidates.listByStageType, { query: { stageType } })) {
      for (const { jobCandidateDetails: one } of items)
        note({ entityId: one.candidateId }, one.customFields?.[field.id]?.value ?? '');
      beat();
    }
  if (going.every((label) => found.has(label))) return undefined;
  const ids: string[] = [];
  for await (const { items, unreadable: unread, total } of partner.pages(contract.candidates.list, {})) {
    if (unread.length > 0) return unreadable(unread.length, 'candidates');
    ids.push(...items.map(({ id }) => String(id)));
    if (Math.max(ids.length, total ?? 0) > MOST_ASKED) return `more than ${MOST_ASKED} candidates may hold it`;
  }
  for (const entityId of new Set(ids)) {
    const query = { entityType: 'candidate', entityId } as const;
    const { items, unreadable: unread } = await partner.readAll(contract.customFieldValues.list, { query });
    if (unread.length > 0) return unreadable(unread.length, 'values');
    for (const { customFieldId, value, parentEntityType, parentEntityId } of items)
      if (customFieldId === field.id) note({ entityId, ...parentOf(parentEntityType, parentEntityId) }, value);
    beat();
  }
  return undefined;
}

function parentOf(parentEntityType?: string | null, parentEntityId?: string | null) {
  return (parentEntityId ?? '') === '' || (parentEntityType ?? '') === ''
    ? {}
    : { parentEntityType: parentEntityType as string, parentEntityId: parentEntityId as string };
}

// Writing.

/**
 * Values follow an entry that is called otherwise now: its new option is there first, and the old one goes only when
 * nothing holds it any more. What is refused stays as it is, and its option with it.
 */
async function moveValues(run: SetRun, set: OptionSet, { field, plan, uses }: OptionsFound): Promise<Uses> {
  const { deps, connection, key, runId, beat } = run;
  const renamed = new Map(plan.rename.map(({ from, to }) => [from, to]));
  const moved = uses.values.filter(({ held }) => held.some((label) => renamed.has(label)));
  if (moved.length === 0) return uses;
  await putOptions(run, set, {
    plan: { ...plan, rename: [], remove: [], add: [...plan.add, ...renamed.values()] },
    inUse: uses.labels,
  });
  const writes = moved.map(({ input, held, isList }) => {
    const after = [...new Set(held.map((label) => renamed.get(label) ?? label))];
    return { input: { ...input, value: isList ? after : (after[0] ?? '') }, held };
  });
  const noted = writes.map(
    ({ input, held }): NewWrite => ({
      target: field.entity === 'job' ? 'job' : 'candidate-value',
      recordId: String(input.entityId),
      foreignId: String(input.entityId),
      kind: 'update',
      changes: { [field.id]: { old: held.length === 1 ? held[0] : held, new: input.value } },
      sensitive: [],
    }),
  );
  if (!(await touchRun(deps.store, key, runId))) return uses;
  const batchId = await recordWrites(deps.store, originOf(run), noted);
  const body = writes.map(({ input }) => input);
  const outcomes = await connection.partner.inChunks(contract.customFieldValues.upsertBulk, { body });
  const failed = outcomes.find((outcome) => !outcome.ok);
  await settleWrites(deps.store, batchId, failed === undefined ? 'done' : 'refused');
  if (failed !== undefined && !failed.ok && !(isConnectorError(failed.error) && failed.error.action === 'reject'))
    throw failed.error;
  return readUses(connection, field, [...plan.remove, ...renamed.keys()], beat);
}

function originOf({ key, runId }: SetRun) {
  return { tenantId: key.tenantId, runId, by: BY_ITSELF, mappingHash: null };
}

/**
 * Brings the field's options, as they are at this moment, to what the plan says, and reads them back. What was chosen
 * for a record while its option left is put back. Returns the labels that the field holds otherwise than planned.
 */
async function putOptions(
  run: SetRun,
  set: OptionSet,
  { plan, inUse }: { plan: OptionPlan; inUse: ReadonlySet<string> },
): Promise<Set<string>> {
  const { deps, connection, key, runId, fieldKey } = run;
  const going = [...plan.remove, ...plan.rename.map(({ from }) => from)];
  const { options: before } = await readField(connection, set.customField);
  const wanted = optionsAfter(before ?? [], plan, inUse);
  if (!isSame(before ?? [], wanted)) {
    const leaving = going.filter((label) => before?.includes(label) === true && !wanted.includes(label));
    if (!(await touchRun(deps.store, key, runId))) return new Set([...plan.add, ...going]);
    await noteOptionLabels(deps.store, fieldKey, runId, { entries: [], missed: [], leaving });
    await sendOptions(run, set.customField, before ?? [], wanted);
    if (leaving.length > 0) await settleGone(run, set);
  }
  const { options: after } = await readField(connection, set.customField);
  const shown = new Set(after ?? []);
  return new Set([...plan.add.filter((label) => !shown.has(label)), ...going.filter((label) => shown.has(label))]);
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

async function sendOptions(run: SetRun, fieldId: string, old: readonly string[], options: string[]): Promise<void> {
  const { deps, connection } = run;
  const write = { target: 'options', recordId: fieldId, foreignId: fieldId, kind: 'update' as const };
  const batchId = await recordWrites(deps.store, originOf(run), [
    { ...write, changes: { options: { old, new: options } }, sensitive: [] },
  ]);
  try {
    await connection.partner.customFields.update({ params: { customFieldId: fieldId }, body: { options } });
  } catch (error) {
    if (isConnectorError(error) && error.action === 'reject') await settleWrites(deps.store, batchId, 'refused');
    throw error;
  }
  await settleWrites(deps.store, batchId, 'done');
}

/**
 * Looks after options that left, or may have, in this run or in one that died: somebody may have chosen one at that
 * moment. Such an option comes back.
 */
async function settleGone(run: SetRun, set: OptionSet): Promise<void> {
  const { deps, connection, fieldKey, beat } = run;
  const rows = await readOptionLabels(deps.store, fieldKey);
  const left = [...rows.values()].filter(({ leaving }) => leaving === 1).map(({ label }) => label);
  if (left.length === 0) return;
  const field = await readField(connection, set.customField);
  const options = field.options ?? [];
  const gone = left.filter((label) => !options.includes(label));
  const { labels } = await readUses(connection, field, gone, beat);
  const chosen = gone.filter((label) => labels.has(label));
  if (chosen.length > 0) await sendOptions(run, field.id, options, [...options, ...chosen]);
  const kept = left.filter((label) => options.includes(label) || chosen.includes(label));
  await settleLeaving(deps.store, fieldKey, { gone: gone.filter((label) => !chosen.includes(label)), kept });
}
