import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { renderTable } from '../../src/cli/command.ts';
import { commonErrors, valueAt } from '../../src/partner/contract/endpoint.ts';
import { EventEnvelope, eventNames, events } from '../../src/partner/contract/events.ts';
import { type AnyEndpoint, allEndpoints } from '../../src/partner/contract/index.ts';
import { cases } from './cases/cases.ts';
import { happenings } from './cases/events.ts';
import { type Ending, openWorld, type World } from './cases/world.ts';
import { eventually, type Json, type ReceivedWebhook } from './open-sandbox.ts';

/** What was reached over HTTP, from the contract's list of what there is: operation id to success and codes. */
interface Reached {
  success: boolean;
  common: string[];
  own: string[];
  raw: number;
}

const endpoints = allEndpoints();
const delivered = new Set<string>();
const reached = new Map<string, Reached>();
const common = new Set(commonErrors.map((error) => error.code));
let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  console.log(report());
});

function reachedBy(endpoint: AnyEndpoint): Reached {
  const known = reached.get(endpoint.id) ?? { success: false, common: [], own: [], raw: 0 };
  reached.set(endpoint.id, known);
  return known;
}

function caseOf(endpoint: AnyEndpoint) {
  const found = cases.get(endpoint.id);
  if (found === undefined) throw new Error(`no case for ${endpoint.id}`);
  return found;
}

/** Whoever comes first in the order of checks sees nothing of the record, so one request serves all four. */
const BEFORE_ALL = {
  INVALID_API_KEY: 'stranger',
  ACCOUNT_INACTIVE: 'inactive',
  RATE_LIMITED: 'throttled',
  INTERNAL_ERROR: 'failing',
} as const;

describe.each(endpoints)('$id', (endpoint) => {
  test('succeeds, and before that gives the errors of every endpoint', async () => {
    const input = await caseOf(endpoint).success(world);
    for (const error of endpoint.errors.filter(({ code }) => common.has(code))) {
      const ending = await world.send(endpoint, input, BEFORE_ALL[error.code as keyof typeof BEFORE_ALL]);
      expect(told(ending)).toEqual({ status: error.status, code: error.code });
      reachedBy(endpoint).common.push(error.code);
    }
    const ending = await world.send(endpoint, input);
    expect(told(ending)).toEqual({ status: endpoint.status, code: undefined });
    expect(ending.by, 'a success is reached by the typed client').toBe('client');
    checkItems(endpoint, ending);
    reachedBy(endpoint).success = true;
  });

  const own = endpoint.errors.filter(({ code }) => !common.has(code));
  test.each(own)('is refused with $status $code', async (error) => {
    const refuse = caseOf(endpoint).refusals[error.code];
    if (refuse === undefined) throw new Error(`no case for ${endpoint.id} ${error.code}`);
    try {
      const ending = await world.send(endpoint, await refuse(world));
      expect(told(ending)).toEqual({ status: error.status, code: error.code });
      reachedBy(endpoint).own.push(error.code);
      if (ending.by === 'raw request') reachedBy(endpoint).raw += 1;
    } finally {
      await mend();
    }
  });
});

/** A list is only shown by a list with something in it, every item of it readable. */
function checkItems(endpoint: AnyEndpoint, ending: Ending): void {
  if (endpoint.list === undefined) return;
  const items = valueAt(ending.body, endpoint.list.itemsAt) as unknown[];
  expect(items.length).toBeGreaterThan(0);
  for (const item of items) expect(endpoint.list.item.safeParse(item).error).toBeUndefined();
}

function told({ status, code }: Ending): Pick<Ending, 'status' | 'code'> {
  return { status, code };
}

/** What a refusal may have used up or broken. */
async function mend(): Promise<void> {
  await world.control.act('setCredits', { credits: 1_000_000, onboardingCredits: 1_000_000 });
  await world.control.act('setQuestionGenerator', { state: 'works' });
}

describe('an event of section 6 is delivered as its schema says', () => {
  test.each(eventNames)('%s', async (name) => {
    try {
      const expected = await happenings[name](world);
      const { body } = (await eventually(
        () => world.received.find((one) => one.event === name && holds(one.body.data, expected)),
        (found) => found !== undefined,
      )) as ReceivedWebhook;
      expect(EventEnvelope.parse(body)).toMatchObject({ event: name, companyId: String(world.companyId) });
      expect(events[name].safeParse(body.data).error).toBeUndefined();
      delivered.add(name);
    } finally {
      await mend();
    }
  });
});

function holds(data: Json, expected: Record<string, unknown>): boolean {
  return Object.entries(expected).every(([key, value]) => isDeepStrictEqual(data[key], value));
}

test('every endpoint of the contract was reached, with every error it lists', () => {
  const missing = endpoints.flatMap((endpoint) => {
    const seen = reachedBy(endpoint);
    const codes = [...seen.common, ...seen.own];
    const unseen = endpoint.errors.filter(({ code }) => !codes.includes(code));
    return [...(seen.success ? [] : ['success']), ...unseen.map(({ code }) => code)].map(
      (what) => `${endpoint.id} ${what}`,
    );
  });
  expect(missing).toEqual([]);
});

function report(): string {
  const rows = endpoints.map((endpoint) => {
    const seen = reachedBy(endpoint);
    const all = endpoint.errors.length;
    return [
      endpoint.id,
      seen.success ? String(endpoint.status) : 'NO',
      `${String(seen.common.length + seen.own.length)} of ${String(all)}`,
      seen.raw,
      seen.own.join(' '),
    ];
  });
  const successes = [...reached.values()].filter(({ success }) => success).length;
  const errors = [...reached.values()].reduce((sum, { common: c, own }) => sum + c.length + own.length, 0);
  const listed = endpoints.reduce((sum, endpoint) => sum + endpoint.errors.length, 0);
  return [
    renderTable(['operation', 'success', 'errors reached', 'of these raw', 'its own'], rows),
    `${String(successes)} of ${String(endpoints.length)} endpoints with a success by the typed client, ` +
      `${String(errors)} of ${String(listed)} listed errors reached over HTTP`,
    `${String(delivered.size)} of ${String(eventNames.length)} events delivered`,
  ].join('\n');
}
