import { type ConnectorError, isConnectorError, rejected } from '../../src/errors.ts';
import type { ListEntry } from '../../src/hris/port.ts';
import { definitionOf } from '../../src/mapping/custom-fields.ts';
import {
  type Excess,
  goingIn,
  judgeOptions,
  type OptionPlan,
  optionsAfter,
  planOptions,
} from '../../src/plan/plan-options.ts';
import {
  bearersOf,
  type FieldDefinition,
  noteInUse,
  noteOptionLabels,
  type OptionsKey,
  readInUse,
  readOptionLabels,
  settleLeaving,
} from '../../src/store/fields.ts';
import { concludeWrites, type FieldChange, type NewWrite, readOpenWrites } from '../../src/store/foreign-writes.ts';
import { batchesOf } from '../../src/store/open-store.ts';
import { erasedAmong } from '../../src/store/person-marks.ts';
import {
  allowedCodes,
  forgetAllowed,
  forgetHeld,
  heldCodes,
  isOfPart,
  readStreamState,
  type StreamState,
} from '../../src/store/streams.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import type { Connection } from '../connections.ts';
import {
  assertOurs,
  createFailures,
  noted,
  notedValues,
  type PushContext,
  SUPERSEDED,
  tell,
  type Verdict,
} from '../push/push-context.ts';
import { stopAt } from '../streams/reading.ts';
import { type Asking, holdersOf, lookWhoHolds, NO_USES, type Place, readPlaces } from './who-holds.ts';

type OptionSet = NonNullable<Tenant['options']>[number];

/**
 * Makes the options of each select field equal to a list of the HR system. An option that any record holds is never
 * removed. If an entry was renamed, its option is renamed too, and so are the values that hold it. An option goes only
 * after its entry was missing twice. Requests without an answer are checked before anything is sent again; options are
 * sent as a whole, so repeating a request is harmless. All fields go through each step together, because one reading
 * tells who holds which option of any field. A refused or held field stops no other field. A field that waits for a
 * person is skipped, so that they decide about exactly what they were told.
 */
export async function pushOptions(run: PushContext): Promise<void> {
  const { deps, connection, key, beat } = run;
  const sets = connection.tenant.options ?? [];
  const state = await readStreamState(deps.store, key);
  const unset = heldCodes(state).filter((lift) => isOfPart(lift) && !sets.some((set) => isOf(lift, set)));
  if (unset.length > 0) await forgetHeld(deps.store, key, unset);
  const allowed = allowedCodes(state);
  const waiting = sets.filter((set) => heldCodes(state).some((lift) => isOf(lift, set)));
  const refused = new Map<OptionSet, ConnectorError>();
  const of = async <T>(set: OptionSet, step: () => Promise<T>): Promise<T[]> => {
    try {
      await assertOurs(run);
      return [await step()];
    } catch (error) {
      if (!isConnectorError(error) || error.code === SUPERSEDED) throw error;
      if (error.action !== 'reject' && error.action !== 'retry') throw error;
      const { code } = error;
      deps.log.error({ ...key, field: set.customField, code, reason: error.withoutWords() }, 'field left as it is');
      refused.set(set, error);
      return [];
    }
  };
  /** Runs a step for each field and returns the fields that did not refuse it. */
  const each = async (all: readonly Sides[], step: (one: Sides) => Promise<unknown>): Promise<Sides[]> => {
    const through: Sides[] = [];
    for (const one of all) {
      if ((await of(one.set, () => step(one))).length > 0) through.push(one);
      beat();
    }
    return through;
  };

  const sides: Sides[] = [];
  for (const set of sets.filter((one) => !waiting.includes(one)))
    sides.push(...(await of(set, () => beginSet(run, set))));
  await lookWhoHolds(run, sides);
  const known = await each(sides, (one) => bringBack(run, one));
  const stops = known.flatMap((one) => excessesOf(one, allowed));
  const going = known.filter(({ set }) => stops.every((stop) => stop.set !== set));
  await each(known, (one) => noteLabels(run, one, going.includes(one)));
  // An empty list removes nothing: the field keeps its options.
  let equal = await each(going.filter(isFilled), (one) => addOptions(run, one));
  // The second round asks candidates that no list shows, and only once no listed record holds the old option.
  for (let [round, moving] = [0, equal]; round < 2 && moving.length > 0; round += 1) {
    const moved = new Set<Sides>();
    const through = await each(moving, async (one) => (await moveValues(run, one)) && moved.add(one));
    equal = equal.filter((one) => !moving.includes(one) || through.includes(one));
    moving = through.filter((one) => moved.has(one));
    await lookWhoHolds(run, moving);
  }
  equal = await each(equal, async (one) => {
    one.leaving = await putOptions(run, one, one.plan);
  });
  const looked = equal.filter(({ leaving }) => leaving.length > 0);
  await lookWhoHolds(run, looked);
  equal = await each(equal, (one) => endSet(run, one));
  const unseen = [...refused.keys(), ...waiting];
  const seen = allowed.filter((lift) => !unseen.some((set) => isOf(lift, set)));
  await forgetAllowed(deps.store, key, seen);
  await hold(run, stops);
  for (const error of refused.values()) throw error;
  assertNoneHeld(await readStreamState(deps.store, key), sets);
  for (const side of equal) tellOf(run, side);
  for (const { field, options } of going.filter((one) => !isFilled(one)))
    for (const option of options) tell(run, idOf(field, option), 'skipped');
}

/** One field and its list as this run found them, the differences, and what became of them. */
interface Sides extends Asking {
  set: OptionSet;
  fieldKey: OptionsKey;
  options: readonly string[];
  entries: readonly ListEntry[];
  /** What earlier runs stored about each label. */
  known: Parameters<typeof planOptions>[2];
  plan: OptionPlan;
  /** Labels that should have gone but are still there, or were added but are not there. */
  left: ReadonlySet<string>;
}

const isFilled = ({ entries }: Sides): boolean => entries.length > 0;

/** Returns the plan of the next run. Only reads; asks who holds an option only if one should be removed. */
export async function findOptions(
  context: Pick<PushContext, 'deps' | 'connection' | 'key' | 'runId'>,
  set: OptionSet,
): Promise<Sides> {
  const side = await readSides({ ...context, full: false }, set);
  await lookWhoHolds({ ...context, beat: () => undefined }, [side]);
  return side;
}

async function readSides(
  { deps, connection, key, runId, full }: Pick<PushContext, 'deps' | 'connection' | 'key' | 'runId' | 'full'>,
  set: OptionSet,
): Promise<Sides> {
  const fieldKey = { tenantId: key.tenantId, fieldId: set.customField };
  const field = await readField(connection, set.customField);
  const entries = await readEntries(connection, set.list);
  const rows = await readOptionLabels(deps.store, fieldKey);
  const wasMissed = (run: string | null): boolean => run !== null && run !== runId;
  const known = new Map(
    [...rows].map(([label, row]) => [label, { entryId: row.entry_id, missed: wasMissed(row.missed_run) }]),
  );
  const options = field.options ?? [];
  const plan = planOptions(options, entries, known);
  const isSameList = [...bearersOf(entries)].every(([label, id]) => known.get(label)?.entryId === id);
  const resting = full || !isSameList ? [] : await readInUse(deps.store, fieldKey);
  const asked = [...goingIn(plan), ...plan.passedOn];
  return {
    set,
    fieldKey,
    field,
    options,
    entries,
    known,
    plan,
    asked: asked.filter((label) => !resting.includes(label)),
    resting: asked.filter((label) => resting.includes(label)),
    leaving: [...rows.values()].filter(({ leaving }) => leaving === 1).map(({ label }) => label),
    uses: NO_USES,
    left: new Set(),
  };
}

/** Reads both sides and settles changes that an earlier run left open. */
async function beginSet(run: PushContext, set: OptionSet): Promise<Sides> {
  const side = await readSides(run, set);
  await concludeOptions(run, side);
  await concludeValues(run, side);
  return side;
}

type Stop = Excess & { set: OptionSet };

/** The lift names code and field, so that a permission for one field does not count for another. */
function liftOf(code: string, { customField }: OptionSet): string {
  return `${code}:${encodeURIComponent(customField)}`;
}

function isOf(lift: string, set: OptionSet): boolean {
  return lift.endsWith(liftOf('', set));
}

function excessesOf({ set, field, options, entries, plan, uses }: Sides, allowed: readonly string[]): Stop[] {
  const moved = holdersOf(plan, uses).length;
  return judgeOptions(plan, { options, entries, inUse: uses.labels, moved })
    .filter(({ code }) => !allowed.includes(liftOf(code, set)))
    .map((excess) => ({ ...excess, set, message: `Custom field "${field.label}" (${field.id}): ${excess.message}` }));
}

/** @throws ConnectorError with the first limit's code */
async function hold({ deps, key }: PushContext, stops: readonly Stop[]): Promise<void> {
  const [first] = stops;
  if (first === undefined) return;
  const lifts = stops.map(({ code, set }) => liftOf(code, set)).join(' ');
  const message = stops.map((stop) => stop.message).join(' ');
  const count = stops.reduce((sum, stop) => sum + stop.count, 0);
  const state = await readStreamState(deps.store, key);
  await stopAt({ deps, key, state }, { code: first.code, message, lifts }, count);
}

/** Every pass says so until a person lets the field go on. @throws ConnectorError with the first limit's code */
function assertNoneHeld(state: StreamState | undefined, sets: readonly OptionSet[]): void {
  const held = heldCodes(state).find((lift) => sets.some((set) => isOf(lift, set)));
  if (held === undefined) return;
  const [code = held] = held.split(':');
  throw rejected(code, state?.held_message ?? '');
}

/**
 * Marks missing entries as missed even if a person is asked, so that they decide about these and not about later ones.
 */
async function noteLabels({ deps, runId }: PushContext, side: Sides, isGoing: boolean): Promise<void> {
  if (!isFilled(side)) return;
  const { entries, plan, fieldKey } = side;
  const noted = { entries: isGoing ? entries : [], missed: plan.waiting, leaving: [] };
  await noteOptionLabels(deps.store, fieldKey, runId, noted);
}

function idOf(field: FieldDefinition, option: string): string {
  return `${field.id} ${option}`;
}

/** One verdict per option. An option that stays because it is in use is not a record that was left out. */
function tellOf(run: PushContext, { field, options, plan, left }: Sides): void {
  const say = (option: string, kind: Verdict['kind']): void => tell(run, idOf(field, option), kind);
  const renamed = new Set(plan.rename.map(({ to }) => to));
  const added = plan.add.filter((option) => !renamed.has(option));
  const going = goingIn(plan);
  for (const option of options) if (!going.includes(option)) say(option, 'unchanged');
  for (const option of plan.waiting) say(option, 'skipped');
  for (const option of added) say(option, left.has(option) ? 'skipped' : 'created');
  for (const option of going) say(option, left.has(option) ? 'skipped' : 'updated');
}

// The two sides.

/** @throws ConnectorError OPTIONS_FIELD_UNUSABLE, CUSTOM_FIELD_NOT_FOUND */
async function readField({ partner }: Connection, customFieldId: string): Promise<FieldDefinition> {
  const { data } = await partner.customFields.get({ params: { customFieldId } });
  const field = definitionOf(data);
  if (field.type === 'select' || field.type === 'multi-select') return field;
  throw rejected(
    'OPTIONS_FIELD_UNUSABLE',
    `Custom field "${field.label}" (${field.id}) is of type ${field.type}, which has no options. ` +
      'Name a field of type select or multi-select under options, and apply the file.',
  );
}

const READ_MS = 60_000;

/**
 * Entries with a trimmed label; an entry without a label is no option. Their ids name HR system and list, because the
 * same id means another entry elsewhere. @throws ConnectorError OPTIONS_UNCONFIGURED
 */
async function readEntries({ hris, tenant }: Connection, list: string): Promise<ListEntry[]> {
  if (hris.lists === undefined)
    throw rejected(
      'OPTIONS_UNCONFIGURED',
      `An HR system of kind ${tenant.hris.kind} provides no lists as configured, so the options of ` +
        `${tenant.tenant} cannot follow them. Name them in hris.lists, or remove the stream.`,
    );
  const entries = await hris.lists.read(list, AbortSignal.timeout(READ_MS));
  const idOf = (id: string): string => JSON.stringify([tenant.hris.connection, list, id]);
  return entries.map(({ id, label }) => ({ id: idOf(id), label: label.trim() })).filter(({ label }) => label !== '');
}

// Values.

/** Records read and written together. An edit between reading and writing is overwritten, so the number is small. */
const AT_ONCE = 20;

/**
 * Renames values after their entry was renamed: the new option exists already, and the old one goes once no record
 * holds it. Each record is read again just before the write, so that a choice made in the meantime stands. A refused
 * value stays, and so does its option. The value of an erased person stays too, because a write would store their id
 * again. Returns true if something may have changed.
 */
async function moveValues(run: PushContext, { field, plan, uses }: Sides): Promise<boolean> {
  const { deps, connection, key, beat } = run;
  const renamed = new Map(plan.rename.map(({ from, to }) => [from, to]));
  const holders = holdersOf(plan, uses);
  const people = field.entity === 'candidate' ? holders.map((id) => ({ kind: 'candidate', id }) as const) : [];
  const erased = await erasedAmong(deps.store, key.tenantId, people);
  const ids = holders.filter((id) => !erased.has(id));
  const failures = createFailures();
  for (const some of batchesOf(ids, AT_ONCE)) {
    const places = (await Promise.all(some.map((id) => readPlaces(connection, field, id)))).flat();
    const moves = places.flatMap(({ input, held }) =>
      held?.some((label) => renamed.has(label)) === true
        ? [{ input, held, after: [...new Set(held.map((label) => renamed.get(label) ?? label))] }]
        : [],
    );
    const records = [...Map.groupBy(moves, ({ input }) => String(input.entityId)).values()];
    await failures.sendApart(
      records,
      (own) => sendValues(run, field, own),
      () => undefined,
    );
    beat();
  }
  failures.end();
  return ids.length > 0;
}

type Move = Place & { held: string[]; after: string[] };

/** Stores one row per record, even if the record holds the field in several places. */
async function sendValues(run: PushContext, field: FieldDefinition, records: readonly Move[][]): Promise<void> {
  await assertOurs(run);
  const writes = records.map((moves) => {
    const changes = moves.map(({ input, held, after }) => [
      placeKey(input),
      { old: valueOf(field, held), new: valueOf(field, after) },
    ]);
    return valueWrite(field, String(moves[0]?.input.entityId), Object.fromEntries(changes) as NewWrite['changes']);
  });
  const body = records.flat().map(({ input, after }) => ({ ...input, value: valueOf(field, after) }));
  await notedValues(run, writes, body);
}

function valueOf({ type }: FieldDefinition, held: string[]): string | string[] {
  return type === 'multi-select' ? held : (held[0] ?? '');
}

function placeKey({ customFieldId, parentEntityType, parentEntityId }: Place['input']): string {
  return [customFieldId, parentEntityType, parentEntityId].filter((one) => one !== undefined).join(' ');
}

function valueWrite({ entity }: FieldDefinition, id: string, changes: NewWrite['changes']): NewWrite {
  const target = entity === 'job' ? 'job' : 'candidate-value';
  return { target, recordId: id, foreignId: id, kind: 'update', changes, sensitive: [] };
}

/** Reads the records to find out whether values that were sent without an answer arrived. */
async function concludeValues({ deps, connection, key, beat }: PushContext, { field }: Sides): Promise<void> {
  const isOurs = (name: string): boolean => name === field.id || name.startsWith(`${field.id} `);
  const open = await readOpenWrites(deps.store, key.tenantId, valueWrite(field, '', {}).target);
  for (const [batchId, rows] of Map.groupBy(open, ({ batch_id: id }) => id)) {
    const all = rows.map(({ record_id: id, changes }) => ({ id, changes: parseChanges(changes) }));
    if (!all.every(({ changes }) => changes.length > 0 && changes.every(([name]) => isOurs(name)))) continue;
    const absent: string[] = [];
    for (const { id, changes } of all) {
      const places = await readPlaces(connection, field, id);
      const shown = new Map(places.map(({ input, held }) => [placeKey(input), valueOf(field, held ?? [])]));
      if (!changes.every(([name, change]) => isSame(shown.get(name), change.new))) absent.push(id);
      beat();
    }
    await concludeWrites(deps.store, batchId, absent);
  }
}

function parseChanges(changes: string): [string, FieldChange][] {
  return Object.entries(JSON.parse(changes) as Record<string, FieldChange>);
}

// Options.

/** Adds options that the list has and the field lacks, including new names, which renamed values need. */
async function addOptions(run: PushContext, side: Sides): Promise<void> {
  const { plan, uses } = side;
  if (holdersOf(plan, uses).length === 0) return;
  const add = [...plan.add, ...plan.rename.map(({ to }) => to)];
  await putOptions(run, side, { rename: [], remove: [], add });
}

/**
 * Starts from the field as it is now, because somebody may have given it an option in the meantime. Returns the labels
 * that were removed.
 */
async function putOptions(
  run: PushContext,
  { set, fieldKey, uses }: Sides,
  plan: Pick<OptionPlan, 'add' | 'rename' | 'remove'>,
): Promise<string[]> {
  const { deps, connection, runId } = run;
  const going = goingIn(plan);
  const before = (await readField(connection, set.customField)).options ?? [];
  const wanted = optionsAfter(before, plan, uses.labels);
  if (isSame(before, wanted)) return [];
  const leaving = going.filter((label) => before.includes(label) && !wanted.includes(label));
  await assertOurs(run);
  await noteOptionLabels(deps.store, fieldKey, runId, { entries: [], missed: [], leaving });
  await sendOptions(run, set.customField, before, wanted);
  return leaving;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

const OPTIONS_TARGET = 'options';

async function sendOptions(
  run: PushContext,
  fieldId: string,
  old: readonly string[],
  options: string[],
): Promise<void> {
  const write = { target: OPTIONS_TARGET, recordId: fieldId, foreignId: fieldId, kind: 'update' } as const;
  await noted(run, [{ ...write, changes: { options: { old, new: options } }, sensitive: [] }], () =>
    run.connection.partner.customFields.update({ params: { customFieldId: fieldId }, body: { options } }),
  );
}

/** Reads the field to find out whether options that were sent without an answer arrived, in any order. */
async function concludeOptions({ deps, key }: PushContext, { field, options }: Sides): Promise<void> {
  const open = await readOpenWrites(deps.store, key.tenantId, OPTIONS_TARGET);
  for (const { batch_id: batchId, record_id: id, changes } of open.filter((row) => row.record_id === field.id)) {
    const sent = parseChanges(changes).flatMap(([, change]) => change.new as string[]);
    const isThere = isSame(sent.toSorted(), options.toSorted());
    await concludeWrites(deps.store, batchId, isThere ? [] : [id]);
  }
}

/**
 * Checks options that were removed, or may have been, in this run or in one that crashed: somebody may have chosen one
 * at that moment. Such an option is added again and the plan is made anew.
 */
async function bringBack(run: PushContext, side: Sides): Promise<void> {
  if (side.leaving.length === 0) return;
  const { leaving, uses } = side;
  const options = await comeBack(run, side, side.options);
  const back = leaving.filter((label) => uses.labels.has(label) && !side.options.includes(label));
  side.leaving = [];
  if (back.length === 0) return;
  Object.assign(side, {
    options,
    plan: planOptions(options, side.entries, side.known),
    asked: [...side.asked, ...back],
  });
}

/** Adds removed options again that a record holds by now. Returns the field's options. */
async function comeBack(run: PushContext, side: Sides, options: readonly string[]): Promise<readonly string[]> {
  const { field, fieldKey, leaving, uses } = side;
  const gone = leaving.filter((label) => !options.includes(label));
  const chosen = gone.filter((label) => uses.labels.has(label));
  if (chosen.length > 0) await sendOptions(run, field.id, options, [...options, ...chosen]);
  const kept = leaving.filter((label) => options.includes(label) || chosen.includes(label));
  await settleLeaving(run.deps.store, fieldKey, { gone: gone.filter((label) => !chosen.includes(label)), kept });
  return [...options, ...chosen];
}

/** Reads the field at the end: a successful answer has been wrong before. */
async function endSet(run: PushContext, side: Sides): Promise<void> {
  const { connection, deps } = run;
  const { plan, fieldKey, asked, set } = side;
  const read = async () => (await readField(connection, set.customField)).options ?? [];
  const shown = side.leaving.length > 0 ? await comeBack(run, side, await read()) : await read();
  const going = goingIn(plan);
  const unseen = plan.add.filter((label) => !shown.includes(label));
  const left = [...unseen, ...going.filter((label) => shown.includes(label))];
  side.left = new Set(left);
  const inUse = left.filter((label) => asked.includes(label) && side.uses.labels.has(label));
  await noteInUse(deps.store, fieldKey, inUse);
}
