import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import type { EmployeeFile, HrisConnection } from '../../../src/hris/port.ts';
import { employ, type HrisCase, type HrisUnderTest, power, shown } from '../hris-case.ts';
import { refusal, signal, write } from '../profile.ts';

/** What becomes of employees after they were created. */
export const employment: readonly HrisCase[] = [
  { name: 'changed since: over page borders and among equal times', needs: ['changes', 'people'], run: tellsChanges },
  { name: 'changed since: an edit during the reading is not lost', needs: ['changes', 'people'], run: tellsEdits },
  { name: 'rehire: a former employee is found, and active again', needs: ['terminate', 'rehire'], run: rehires },
  { name: 'a file is delivered once, though its upload fails', needs: ['files', 'stored', 'wire'], run: deliversOnce },
];

/** A pass; each page is asked for by another connection, as after a restart of ours. */
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

/** Passes until all of them were told: reads may lag, and nobody may be left out. */
async function drainAll(hris: HrisUnderTest, from: string, ids: readonly string[]): Promise<string> {
  const missing = new Set(ids);
  let next = from;
  const readOn = async () => {
    const pass = await drain(hris, next);
    next = pass.next;
    for (const id of pass.seen) missing.delete(id);
    return missing.size;
  };
  await expect.poll(readOn, { interval: 50, timeout: shown(hris).timeout + 30_000 }).toBe(0);
  return next;
}

async function tellsChanges(hris: HrisUnderTest): Promise<void> {
  const people = power(hris, 'people');
  const { next } = await drain(hris, undefined);
  const ids = await people.add(people.many ?? 230);
  const added = await drainAll(hris, next, ids);
  await people.touch(ids);
  await drainAll(hris, added, ids);
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
  await expect.poll(isFormer, shown(hris)).toBe(true);
  const found = await employees.find({ by: 'email', value: 'rehired@example.org' }, signal);
  expect(found).toEqual({ kind: 'one', ref, by: 'email' });
  const fields = hris.profile.employee('rehired', { startDate: '2026-03-01' });
  for (const _twice of [1, 2]) await employees.rehire?.(ref.id, fields, write);
  await expect.poll(isFormer, shown(hris)).toBe(false);
  expect(await employees.read(ref.id, signal)).toMatchObject({ ref, fields });
  expect(await hris.count()).toBe(before);
}

/** Every byte below `end`, and more than one packet. */
function bytesUpTo(end: number): Buffer {
  return Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 31 + (at >> 8)) % end));
}

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

async function deliversOnce(hris: HrisUnderTest): Promise<void> {
  const ref = await employ(hris, 'filed');
  const { adapter, strike, close } = await power(hris, 'wire')();
  try {
    for (const kind of ['cut', 'answer-lost'] as const) {
      const bytes = bytesUpTo(hris.profile.textOnly === true ? 128 : 256);
      const file: EmployeeFile = { name: `cv ${kind} ü.pdf`, mediaType: 'application/pdf', bytes };
      const struck = strike(kind, 'file');
      const refused = await refusal(Promise.resolve(adapter.files?.deliver(ref.id, file, write)));
      expect(refused.action).toMatch(/^(retry|unknown)$/);
      await struck;
      const again = await adapter.files?.deliver(ref.id, file, write);
      expect(again, kind).toBe(kind === 'cut' ? 'delivered' : 'there');
      expect(await adapter.files?.deliver(ref.id, file, write)).toBe('there');
      const stored = await power(hris, 'stored')(ref.id, file.name);
      expect(stored.map(hashOf)).toEqual([hashOf(bytes)]);
    }
  } finally {
    await close();
  }
}
