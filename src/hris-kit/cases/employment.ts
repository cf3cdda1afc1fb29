import { createHash } from 'node:crypto';
import type { EmployeeFields } from '../../hire/hire.ts';
import type { Amendment, EmployeeFile, HrisConnection } from '../../hris/port.ts';
import {
  create,
  emailOf,
  employ,
  eventually,
  expectFit,
  type HrisCase,
  type HrisUnderTest,
  keptOf,
  keyOf,
  offers,
  overWire,
  power,
  refusal,
  shown,
  signal,
  write,
} from '../hris-under-test.ts';

/** Changes of employees after they were created. */
export const employment: readonly HrisCase[] = [
  { name: 'changed since: over page borders and among equal times', needs: ['changes', 'people'], run: tellsChanges },
  { name: 'changed since: an edit during the reading is not lost', needs: ['changes', 'people'], run: tellsEdits },
  { name: 'rehire: a former employee is found, and active again', needs: ['terminate', 'rehire'], run: rehires },
  { name: 'amend: over what was read, twice as well as once', needs: ['amend'], run: amends },
  { name: "amend: somebody else's edit is not overwritten", needs: ['amend'], run: amendsNoEdit },
  {
    name: 'amend: its answer is lost, and a repeat changes nothing more',
    needs: ['amend', 'wire'],
    run: losesAmendment,
  },
  { name: 'a file is delivered once, though its upload fails', needs: ['files', 'stored', 'wire'], run: deliversOnce },
];

/** Only for definitions with records below an employee. */
export const below: readonly HrisCase[] = [
  { name: 'a record below: a change is made once, though its answer is lost', needs: ['wire'], run: losesBelow },
];

async function losesBelow(hris: HrisUnderTest): Promise<void> {
  const { edit, count } = power(hris, 'below');
  const { employees, capabilities } = hris.second;
  await overWire(hris, async ({ adapter, strike }) => {
    const ref = await employ(hris, 'below');
    const isShown = async (id: string, fields: EmployeeFields) =>
      eventually(() => employees.read(id, signal), { fields }, shown(hris), 'the employee');
    /** Writes, loses the answer of a record below, and repeats: only the lost write may have made one. */
    const repeats = async (id: () => Promise<string>, fields: EmployeeFields, first: () => Promise<unknown>) => {
      const struck = strike('answer-lost', 'below');
      expectFit((await refusal(first())).action, /^(retry|unknown)$/, 'the action');
      await struck;
      const of = await id();
      const made = await count(of);
      for (const _twice of [1, 2]) await adapter.employees.update(of, fields, write);
      await isShown(of, fields);
      expectFit(await count(of), made, 'the number of records below the employee');
    };
    await repeats(
      async () => ref.id,
      edit,
      () => adapter.employees.update(ref.id, edit, write),
    );
    const key = keyOf(hris, 'below-made');
    if (capabilities.createsInParts !== true || key === undefined) return;
    const find = async (): Promise<string> => {
      await eventually(() => employees.find(key, signal), { kind: 'one' }, shown(hris), 'who is found');
      const found = await employees.find(key, signal);
      return found.kind === 'one' ? found.ref.id : '';
    };
    await repeats(find, hris.profile.employee('below-made'), () => create(hris, 'below-made', { on: adapter }));
  });
}

/** Reads one pass; alternates between two connections, as after a restart of ours. */
async function drain({ adapter, second }: HrisUnderTest, from: string | undefined, onFirstPage = async () => {}) {
  const seen: string[] = [];
  const connections: HrisConnection[] = [adapter, second];
  let cursor = from;
  for (let pages = 1; ; pages += 1) {
    const page = await connections[pages % 2]?.changes?.since(cursor, signal);
    if (page === undefined) throw new Error('this HRIS tells no changes');
    seen.push(...page.employees.map(({ ref }) => ref.id));
    cursor = page.next;
    if (pages === 1) await onFirstPage();
    if (!page.more) return { seen, next: cursor };
  }
}

/** Repeats passes until all of these employees came: reads may lag, and nobody may be missed. */
async function drainAll(hris: HrisUnderTest, from: string, ids: readonly string[]): Promise<string> {
  const missing = new Set(ids);
  let next = from;
  const readOn = async () => {
    const pass = await drain(hris, next);
    next = pass.next;
    for (const id of pass.seen) missing.delete(id);
    return missing.size;
  };
  const patient = { interval: 50, timeout: shown(hris).timeout + 30_000 };
  await eventually(readOn, 0, patient, 'the number of changes that were not told');
  return next;
}

async function tellsChanges(hris: HrisUnderTest): Promise<void> {
  const people = power(hris, 'people');
  const { next } = await drain(hris, undefined);
  const ids = await people.add(people.many ?? 230);
  const added = await drainAll(hris, next, ids);
  await people.touch(ids);
  await drainAll(hris, added, ids);
  await tellsNews(hris, ids);
}

/** For a kind with `news`: names nobody at first, and each edited employee in one of the next looks. */
async function tellsNews(hris: HrisUnderTest, ids: readonly string[]): Promise<void> {
  const { changes } = hris.adapter;
  if (changes?.news === undefined) return;
  const first = await changes.news(undefined, signal);
  expectFit(first.ids, [], 'who is told of before anybody was edited');
  await power(hris, 'people').touch(ids);
  const missing = new Set(ids);
  let { next } = first;
  const look = async () => {
    const news = await changes.news?.(next, signal);
    next = news?.next ?? next;
    for (const id of news?.ids ?? []) missing.delete(id);
    return missing.size;
  };
  await eventually(look, 0, { interval: 50, timeout: 30_000 }, 'the number of edited people that were not told');
}

async function tellsEdits(hris: HrisUnderTest): Promise<void> {
  const people = power(hris, 'people');
  const ids = await people.add(people.many ?? 230);
  const { next } = await drain(hris, undefined, () => people.touch(ids));
  await drainAll(hris, next, ids);
}

async function rehires(hris: HrisUnderTest): Promise<void> {
  const { employees } = hris.adapter;
  const ref = await employ(hris, 'rehired');
  const before = await hris.count();
  const isFormer = async () => (await employees.read(ref.id, signal))?.former;
  for (const _twice of [1, 2]) await employees.terminate?.(ref.id, '2026-02-20', write);
  await eventually(isFormer, true, shown(hris), 'that they are former');
  if (offers(hris, 'emails')) {
    const find = () => employees.find({ by: 'email', value: emailOf(hris, 'rehired') }, signal);
    await eventually(find, { kind: 'one', ref, by: 'email' }, shown(hris), 'who is found');
  }
  const { startDate } = hris.profile.employee('rehired');
  // Some systems have no first day.
  const fields = hris.profile.employee('rehired', startDate === undefined ? {} : { startDate: '2026-03-01' });
  for (const _twice of [1, 2]) await employees.rehire?.(ref.id, fields, write);
  await eventually(isFormer, false, shown(hris), 'that they are former');
  const expected = { ref, fields, ...keptOf(hris, 'rehired') };
  expectFit(await employees.read(ref.id, signal), expected, 'the employee');
  expectFit(await hris.count(), before, 'the number of employees');
}

/** The profile's edit as an amendment of an employee who has their original values. */
function amendmentOf({ profile }: HrisUnderTest, tag: string): Amendment {
  const made = profile.employee(tag);
  const over = Object.fromEntries(Object.keys(profile.edit).map((name) => [name, made[name] ?? null]));
  return { fields: profile.edit, over, from: '2026-03-01' };
}

async function amends(hris: HrisUnderTest): Promise<void> {
  const { employees } = hris.adapter;
  const ref = await employ(hris, 'amended');
  const amendment = amendmentOf(hris, 'amended');
  const expected = hris.profile.employee('amended', hris.profile.edit);
  for (const _twice of [1, 2]) {
    await employees.amend?.(ref.id, amendment, write);
    await eventually(() => employees.read(ref.id, signal), { ref, fields: expected }, shown(hris), 'the employee');
  }
}

async function amendsNoEdit(hris: HrisUnderTest): Promise<void> {
  const { adapter, profile } = hris;
  const ref = await employ(hris, 'promoted');
  const { fields, over, from } = amendmentOf(hris, 'promoted');
  const edit = Object.fromEntries(Object.keys(fields).map((name) => [name, 'Elsewhere']));
  await adapter.employees.update(ref.id, edit, write);
  const named = { [profile.nameField]: 'Renamed' };
  const made = { [profile.nameField]: profile.employee('promoted')[profile.nameField] ?? null };
  await eventually(() => adapter.employees.read(ref.id, signal), { fields: edit }, shown(hris), 'the employee');
  const late = { fields: { ...named, ...fields }, over: { ...made, ...over }, from };
  const refused = await refusal(Promise.resolve(adapter.employees.amend?.(ref.id, late, write)));
  expectFit(refused, { code: 'STALE', action: 'retry' }, 'the refusal');
  const expected = profile.employee('promoted', edit);
  expectFit(await adapter.employees.read(ref.id, signal), { ref, fields: expected }, 'the employee');
}

async function losesAmendment(hris: HrisUnderTest): Promise<void> {
  await overWire(hris, async ({ adapter, strike }) => {
    const ref = await employ(hris, 'unheard');
    const amendment = amendmentOf(hris, 'unheard');
    const struck = strike('answer-lost', 'amendment');
    const refused = await refusal(Promise.resolve(adapter.employees.amend?.(ref.id, amendment, write)));
    expectFit(refused.action, /^(retry|unknown)$/, 'the action');
    await struck;
    const expected = hris.profile.employee('unheard', hris.profile.edit);
    const { employees } = hris.second;
    await eventually(() => employees.read(ref.id, signal), { fields: expected }, shown(hris), 'the employee');
    await adapter.employees.amend?.(ref.id, amendment, write);
    expectFit(await employees.read(ref.id, signal), { ref, fields: expected }, 'the employee');
  });
}

/** Every byte below `end`, in more than one packet. */
function bytesUpTo(end: number): Buffer {
  return Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 31 + (at >> 8)) % end));
}

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

async function deliversOnce(hris: HrisUnderTest): Promise<void> {
  const ref = await employ(hris, 'filed');
  await overWire(hris, async ({ adapter, strike }) => {
    for (const kind of ['cut', 'answer-lost'] as const) {
      const bytes = bytesUpTo(hris.profile.textOnly === true ? 128 : 256);
      const named = { name: `cv ${kind} ü.pdf`, document: `cv:${kind}` };
      const file: EmployeeFile = { ...named, mediaType: 'application/pdf', bytes };
      const struck = strike(kind, 'file');
      const refused = await refusal(Promise.resolve(adapter.files?.deliver(ref.id, file, write)));
      expectFit(refused.action, /^(retry|unknown)$/, 'the action');
      await struck;
      const again = await adapter.files?.deliver(ref.id, file, write);
      expectFit(again, kind === 'cut' ? 'delivered' : 'there', `what a repeat says after ${kind}`);
      expectFit(await adapter.files?.deliver(ref.id, file, write), 'there', 'what a third delivery says');
      const other = { ...file, bytes: Buffer.from('other bytes') };
      const held = await Promise.all([file, other].map(async (one) => adapter.files?.holds?.(ref.id, one, signal)));
      if (adapter.files?.holds) expectFit(held, [true, false], 'whether it holds the file, and one of other bytes');
      const stored = await power(hris, 'stored')(ref.id, file.name);
      expectFit(stored.map(hashOf), [hashOf(bytes)], 'the hashes of what is stored');
    }
  });
}
