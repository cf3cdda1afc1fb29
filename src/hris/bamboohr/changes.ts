import { z } from 'zod';
import { clockOf, nextChangeCursor, readChangeCursor } from '../change-cursor.ts';
import { readJson } from '../http-call.ts';
import type { ChangedEmployees } from '../port.ts';
import { readEmployee } from './employees.ts';
import type { Bamboo } from './find.ts';

const Changed = z.looseObject({
  // No employees: an empty list instead of an empty map.
  employees: z.union([
    z.array(z.never()).transform(() => ({})),
    z.record(z.string(), z.looseObject({ action: z.string(), lastChanged: z.iso.datetime({ offset: true }) })),
  ]),
});

const BEGINNING = '1970-01-01T00:00:00.000Z';

/** Each of them costs a call. */
const PAGE = 50;
/** How late a change may appear in the list; published nowhere. */
const OVERLAP_MS = 60_000;

interface Change {
  id: string;
  gone: boolean;
  at: string;
}

/** One page of the employees that changed. The list has ids and times; each employee is then read by itself. */
export async function changedEmployees(
  bamboo: Bamboo,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ChangedEmployees> {
  const before = readChangeCursor(cursor);
  const { changes, clock } = await readChanges(bamboo, before.settled, signal);
  const waiting = changes.filter((change) => placeOf(change) > (before.pass?.after ?? ''));
  const page = waiting.slice(0, PAGE);
  const read = await Promise.all(
    page.map(async ({ id, gone }) => (gone ? undefined : readEmployee(bamboo, id, signal))),
  );
  const more = waiting.length > PAGE;
  const last = page.at(-1);
  const after = more && last !== undefined ? placeOf(last) : undefined;
  return {
    employees: read.filter((record) => record !== undefined),
    gone: page.filter((_change, at) => read[at] === undefined).map(({ id }) => id),
    next: nextChangeCursor(before, { after, latest: last?.at ?? '', clock, overlapMs: OVERLAP_MS }),
    more,
  };
}

/** In the order of time, and of ids among equal times. */
function placeOf({ at, id }: Change): string {
  return `${at} ${id.padStart(15, '0')}`;
}

async function readChanges({ api }: Bamboo, settled: string | undefined, signal: AbortSignal) {
  // Whether a change at this very second is told is published nowhere, so a second more is asked for.
  const since = settled === undefined ? BEGINNING : new Date(Date.parse(settled) - 1_000).toISOString();
  const query = new URLSearchParams({ since, type: 'all' });
  const what = 'GET employees/changed';
  const answer = await api.send({
    what,
    method: 'GET',
    path: `/api/v1/employees/changed?${query.toString()}`,
    signal,
    priority: 'bulk',
  });
  const { employees } = Changed.parse(readJson(answer, { what, idempotent: true }));
  const changes = Object.entries(employees)
    .map(([id, { action, lastChanged }]) => ({
      id,
      gone: action === 'Deleted',
      at: new Date(lastChanged).toISOString(),
    }))
    .filter(({ at }) => settled === undefined || at > settled)
    .toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
  return { changes, clock: clockOf(answer.headers.date) };
}
