import { ConnectorError } from '../../errors.ts';
import { clockOf, nextChangeCursor, readChangeCursor } from '../change-cursor.ts';
import type { ChangedEmployees, EmployeeRecord } from '../port.ts';
import { type Defined, readEmployee, recordsIn } from './employees.ts';
import type { HttpDefinition } from './load-definition.ts';
import { idOf, toEmployee } from './record.ts';
import { asText } from './template.ts';

/** Where each is read by itself, each costs a call. */
const READ_PAGE = 50;
/** Where the list has them whole, a page costs the list again. */
const LISTED_PAGE = 200;

interface Change {
  id: string;
  at: string;
  gone: boolean;
  raw: unknown;
}

/** One page of the employees that changed, in the order of their stamps, and of their ids among equal ones. */
export async function changedEmployees(
  defined: Defined,
  plan: NonNullable<HttpDefinition['changing']>,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ChangedEmployees> {
  const { overlap, beginning, reread } = plan;
  const before = readChangeCursor(cursor);
  const { changes, clock } = await readChanges(defined, plan, before.settled ?? beginning, signal);
  const since = before.settled;
  const waiting = changes
    .filter(({ at }) => since === undefined || at > since)
    .toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))
    .filter((change) => placeOf(change) > (before.pass?.after ?? ''));
  const size = reread ? READ_PAGE : LISTED_PAGE;
  const page = waiting.slice(0, size);
  const read = await Promise.all(
    page.map(async ({ id, gone, raw }): Promise<EmployeeRecord | undefined> => {
      if (gone) return undefined;
      return reread ? readEmployee(defined, id, signal) : toEmployee(defined.definition, raw);
    }),
  );
  const more = waiting.length > size;
  const last = page.at(-1);
  return {
    employees: read.filter((record) => record !== undefined),
    gone: page.filter((_change, at) => read[at] === undefined).map(({ id }) => id),
    next: nextChangeCursor(before, {
      after: more && last !== undefined ? placeOf(last) : undefined,
      latest: last?.at ?? '',
      clock,
      overlapMs: overlap,
    }),
    more,
  };
}

async function readChanges(
  { definition, line }: Defined,
  plan: NonNullable<HttpDefinition['changing']>,
  since: string,
  signal: AbortSignal,
): Promise<{ changes: Change[]; clock: number }> {
  const changes: Change[] = [];
  let clock: number | undefined;
  const call = { plan, values: { since }, signal, priority: 'bulk', idempotent: true } as const;
  let isWhole = false;
  for await (const { items, answer, isLast } of line.pages(call, (given) => recordsIn(given, plan))) {
    isWhole = isLast;
    clock ??= clockOf(answer.headers['date'] as string | undefined);
    for (const raw of items) {
      const [id, at, gone] = [idOf(await definition.record.id(raw)), await plan.stamp(raw), await plan.gone?.(raw)];
      if (id !== undefined) changes.push({ id, at: asText(at ?? ''), gone: gone === true, raw });
    }
  }
  if (!isWhole)
    throw new ConnectorError({
      code: 'HRIS_UNREADABLE_ANSWER',
      action: 'reject',
      message:
        `${plan.what} gave the same page again, or more pages than are read: some who changed would be left out. ` +
        'Check "changes.paging" of the definition.',
    });
  return { changes, clock: clock ?? Date.now() };
}

function placeOf({ at, id }: Change): string {
  return `${at} ${id.padStart(40, '0')}`;
}
