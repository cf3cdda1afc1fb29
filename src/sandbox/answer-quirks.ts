import { valueAt } from '../partner/contract/envelopes.ts';
import type { AnyEndpoint } from '../partner/contract/index.ts';
import type { Context } from './context.ts';
import type { Answer } from './operations/operation.ts';
import { createRandom, stableUuid } from './random.ts';

type Json = Record<string, unknown>;
type Query = Record<string, unknown>;
type Play = (query: Query | undefined) => Answer;

/** The answer of an operation, changed by the quirks in force. */
export function quirkyAnswer(ctx: Context, endpoint: AnyEndpoint, query: Query | undefined, play: Play): Answer {
  const { quirks } = ctx.state;
  if (!quirks.any) return play(query);
  const { status, ...answer } = play(query);
  const body = bodyOf(answer);
  if (query !== undefined && quirks.has('moving-lists')) moveRows(ctx, endpoint, query, { body, play });
  if (quirks.has('overstated-total')) raiseTotal(endpoint, body, surplus(ctx, endpoint));
  const changed = changeRecords(body, (record) => changedRecord(ctx, endpoint, record));
  return { ...(status === undefined ? {} : { status }), body: changed };
}

function bodyOf({ json, body }: Answer): Json {
  return JSON.parse(json ?? JSON.stringify(body)) as Json;
}

/** Puts the last rows of the page before in front, as if as many had arrived at the head of the list meanwhile. */
function moveRows(ctx: Context, endpoint: AnyEndpoint, query: Query, { body, play }: { body: Json; play: Play }): void {
  const { itemsAt = '', paging } = endpoint.list ?? {};
  if (paging === undefined || typeof paging.end === 'string' || !('totalAt' in paging.end)) return;
  const page = Number(query[paging.pageParam]);
  const size = Number(query[paging.sizeParam]);
  const { [paging.pageParam]: _page, ...filters } = query;
  const list = JSON.stringify([ctx.company.id, endpoint.id, filters]);
  const rows = ctx.state.quirks.movedRows(list, page === paging.firstPage, size);
  if (rows === 0) return;
  const before = itemsIn(bodyOf(play({ ...query, [paging.pageParam]: page - 1 })), itemsAt);
  const items = itemsIn(body, itemsAt);
  items.splice(0, items.length, ...before.slice(size - rows), ...items.slice(0, size - rows));
  raiseTotal(endpoint, body, rows);
}

function itemsIn(body: Json, itemsAt: string): unknown[] {
  return valueAt(body, itemsAt) as unknown[];
}

/** Between one row and three pages of ten too many, always the same for one list. */
function surplus({ state }: Context, { id }: AnyEndpoint): number {
  return 1 + Math.floor(createRandom(state.seed + id.length)() * 30);
}

function raiseTotal({ list }: AnyEndpoint, body: Json, by: number): void {
  const end = list?.paging?.end;
  if (end === undefined || typeof end === 'string' || !('totalAt' in end)) return;
  const keys = end.totalAt.split('.');
  const last = keys.pop() ?? '';
  const holder = (keys.length === 0 ? body : valueAt(body, keys.join('.'))) as Json;
  const total = Number(holder[last]) + by;
  holder[last] = total;
  if ('totalPages' in holder) holder['totalPages'] = Math.ceil(total / Number(holder['limit']));
}

/** Every object of the answer, from the inside out. */
function changeRecords(value: unknown, change: (record: Json) => Json): unknown {
  if (Array.isArray(value)) return value.map((one) => changeRecords(one, change));
  if (typeof value !== 'object' || value === null) return value;
  return change(
    Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, changeRecords(inner, change)] as const)),
  );
}

function changedRecord({ state }: Context, { id }: AnyEndpoint, record: Json): Json {
  const { createdAt, email, externalStatus } = record;
  const changes: Json = {};
  if (state.quirks.has('seconds-created-at') && typeof createdAt === 'number')
    changes['createdAt'] = Math.floor(createdAt / 1000);
  if (state.quirks.has('blank-emails') && typeof email === 'string' && /^(candidates|jobCandidates)\./.test(id))
    changes['email'] = asTyped(email, state.seed);
  if (state.quirks.has('flat-external-status') && typeof externalStatus === 'object') {
    const { status = null, employeeId = null } = (externalStatus ?? {}) as Json;
    Object.assign(changes, { externalStatus: status, employeeId });
  }
  return { ...record, ...changes };
}

/** An e-mail as somebody may have typed or pasted it: one of four ways, always the same for one address. */
function asTyped(email: string, seed: number): string {
  const [local = '', domain = ''] = email.split('@');
  const shouted = `${local}@${domain.toUpperCase()}`;
  const ways = [` ${shouted}`, `\u200b${email}\u200b`, `${email}\u00a0 `, `\ufeff${shouted} `];
  return ways[Number.parseInt(stableUuid(seed, 'typed', email).slice(0, 8), 16) % ways.length] ?? email;
}
