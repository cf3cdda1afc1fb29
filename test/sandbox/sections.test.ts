import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AnyEndpoint, allEndpoints } from '../../src/partner/contract/index.ts';
import type { LimitFact } from '../contract/facts/limit-fact.ts';
import { codeFacts } from '../contract/facts.ts';
import { cases } from './cases/cases.ts';
import type { Loose } from './cases/loose.ts';
import { section3 } from './cases/section-3.ts';
import { type Condition, section7 } from './cases/section-7.ts';
import { section8 } from './cases/section-8.ts';
import { stateLists } from './cases/state-lists.ts';
import { openWorld, type World } from './cases/world.ts';
import type { Json } from './open-sandbox.ts';

/** Every row of the tables of sections 3, 7 and 8, named and acted out over HTTP against a sandbox process. */
const endpoints = allEndpoints();
const spec = process.env['HIREBRIDGE_SPEC'];
let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

function endpointOf(matches: (endpoint: AnyEndpoint) => boolean): AnyEndpoint {
  const found = endpoints.find(matches);
  if (found === undefined) throw new Error('no such endpoint');
  return found;
}

describe('section 3', () => {
  test.each(Object.entries(section3))('%s', async (_row, act) => expect(act(world)).resolves.toBeUndefined());
  test.each(Object.entries(stateLists))('%s: every value is seen', async (_row, act) =>
    expect(act(world)).resolves.toBeUndefined(),
  );
});

describe.each(Object.entries(section7))('section 7, %s', (code, conditions) => {
  test.each(conditions)('$when', async ({ operation, input }: Condition) => {
    const fact = codeFacts.find((one) => one.code === code);
    const as = code === 'ACCOUNT_INACTIVE' ? 'inactive' : 'own';
    try {
      const {
        status,
        code: answered,
        body,
      } = await world.sendRaw(
        endpointOf(({ id }) => id === operation),
        await input(world),
        as,
      );
      expect({ status, code: answered }).toEqual({ status: fact?.status, code });
      if (fact?.type !== undefined) expect(typeOf(body)).toBe(fact.type);
    } finally {
      await world.control.act('setCredits', { credits: 1_000_000, onboardingCredits: 1_000_000 });
      await world.control.act('setQuestionGenerator', { state: 'works' });
    }
  });
});

/** Users and teams are flat (G4), all others stand in `error`. */
function typeOf(body: Json): unknown {
  return (body.error ?? body).type;
}

describe('section 8', () => {
  test.each(Object.entries(section8))('%s', async (_row, held) => {
    const acts = typeof held === 'function' ? [held] : held.map((fact) => () => holds(fact));
    for (const act of acts) await expect(act(world)).resolves.toBeUndefined();
  });
});

/**
 * What a fact takes is taken (ids it makes up may be nobody's: 404), what it refuses is 400, in a request that is good
 * otherwise.
 */
async function holds({ what, endpoint, part, accepts, refuses }: LimitFact): Promise<void> {
  const at = endpointOf(({ method, path }) => `${method} ${path}` === endpoint);
  const good = async (): Promise<Loose> => (await cases.get(at.id)?.success(world)) ?? {};
  for (const value of accepts) {
    const input = await good();
    const { status } = await world.sendRaw(at, { ...input, [part]: withOurs(value, input.body) });
    expect([what, value, status]).not.toEqual([what, value, 400]);
  }
  for (const value of refuses) {
    const { status } = await world.sendRaw(at, { ...(await good()), [part]: value });
    expect([what, value, status]).toEqual([what, value, 400]);
  }
}

/** A site and a number that are not the company's are 400 too, and no limit. */
function withOurs(value: unknown, ours: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const own = Object.entries((ours ?? {}) as object).filter(([key]) => ['companySiteId', 'phoneNumber'].includes(key));
  return { ...value, ...Object.fromEntries(own) };
}

describe('a record of another company', () => {
  const addressed = endpoints.filter(({ params }) => params !== undefined);
  test.each(addressed)('is out of reach of $id', async (endpoint) => {
    const input = await cases.get(endpoint.id)?.success(world);
    const { status, code } = await world.sendRaw(endpoint, input ?? {}, 'other');
    const listed = endpoint.errors.filter((error) => error.status === 403 || error.status === 404);
    expect(listed.map((error) => `${String(error.status)} ${error.code}`)).toContain(
      `${String(status)} ${String(code)}`,
    );
  });
});

describe('the names of these tests are the rows of the specification', () => {
  beforeEach(({ skip }) =>
    skip(spec === undefined, 'HIREBRIDGE_SPEC does not name a file with the text of the specification'),
  );
  const rows = (from: string, to: string): string[][] => {
    const text = readFileSync(spec ?? '', 'utf8');
    const lines = text.slice(text.indexOf(from), text.indexOf(to)).split('\n');
    const table = lines.filter((line) => line.startsWith('| ')).slice(1);
    return table.map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    );
  };

  test('of section 3', () => {
    const named = rows('## 3. ', '## 4. ').map((cells) => cells.slice(0, 3).join(' | '));
    expect(Object.keys(section3).toSorted()).toEqual(named.toSorted());
    const text = readFileSync(spec ?? '', 'utf8');
    for (const name of Object.keys(stateLists)) expect(text.slice(text.indexOf('## 3. '))).toContain(`- ${name}`);
  });

  test('of section 7', () => {
    const named = rows('## 7. ', '## 8. ').flatMap(([cell = '']) => cell.match(/[A-Z][A-Z_]{3,}/g) ?? []);
    expect(Object.keys(section7).toSorted()).toEqual([...new Set(named)].toSorted());
  });

  test('of section 8', () => {
    expect(Object.keys(section8).toSorted()).toEqual(
      rows('## 8. ', '## 9. ')
        .map(([cell]) => cell)
        .toSorted(),
    );
  });
});
