import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readErrorBody } from '../../src/partner/contract/endpoint.ts';
import { type AnyEndpoint, allEndpoints } from '../../src/partner/contract/index.ts';
import { cases } from '../sandbox/cases/cases.ts';
import type { Loose } from '../sandbox/cases/loose.ts';
import { openWorld, type World } from '../sandbox/cases/world.ts';
import { asPlayed, empty, settings } from './literal-settings.ts';
import { type Literal, literals } from './literals.ts';
import { type Echoes, formDifferences } from './same-shape.ts';

/** Each pair's request sent to a sandbox process, the ids in it replaced by those of records made for it. */
const byId = new Map(allEndpoints().map((endpoint) => [endpoint.id, endpoint]));
const endpointOf = (literal: Literal) => byId.get(literal.operation) as AnyEndpoint;
let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** Names and addresses that belong to the records at hand. */
const OURS = new Set([
  'pipelineId',
  'stageId',
  'newStageId',
  'jobId',
  'candidateIds',
  'jobCandidateIds',
  'jobCandidateId',
  'customFieldId',
  'entityId',
  'parentEntityId',
  'assessmentId',
  'companySiteId',
  'phoneNumber',
  'email',
  'emailAddress',
  'externalRef',
  'from',
  'to',
  'skills',
]);

/** The pair's words, with what belongs to our records taken from them. */
function overlaid(shown: unknown, ours: unknown): unknown {
  if (Array.isArray(shown)) return shown.map((item, index) => overlaid(item, (ours as unknown[] | undefined)?.[index]));
  if (typeof shown !== 'object' || shown === null) return shown;
  const known = (ours ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(shown).map(([key, value]) => [
      key,
      OURS.has(key) && key in known ? known[key] : overlaid(value, known[key]),
    ]),
  );
}

async function inputOf(literal: Literal): Promise<Loose> {
  const one = cases.get(literal.operation);
  const code = readErrorBody(literal.response.body)?.code;
  const refusal = literal.badRequest === true || code === undefined ? undefined : one?.refusals[code];
  const ours = (await (settings[literal.id] ?? refusal ?? one?.success)?.(world)) ?? {};
  const { query, body } = literal.request;
  // What is wrong with a request stays wrong.
  if (literal.badRequest === true) return { params: ours.params ?? {}, query: query ?? {}, body };
  return {
    params: ours.params ?? {},
    query: (overlaid(query ?? {}, ours.query) ?? {}) as Record<string, unknown>,
    body: body === undefined ? undefined : overlaid(body, ours.body),
  };
}

/** Fields of the request that the pair's answer repeats. */
function echoesOf(literal: Literal, sent: unknown): Echoes {
  const body = sent as Record<string, unknown> | undefined;
  const answer = JSON.stringify(literal.response.body);
  const repeated = Object.entries((literal.request.body ?? {}) as object).filter(
    ([key, value]) => typeof value !== 'object' && answer.includes(JSON.stringify({ [key]: value }).slice(1, -1)),
  );
  return new Map(repeated.map(([key, shown]) => [key, { shown, sent: body?.[key] }]));
}

function whoIs({ response }: Literal): 'own' | 'stranger' | 'inactive' {
  if (response.status === 401) return 'stranger';
  return readErrorBody(response.body)?.code === 'ACCOUNT_INACTIVE' ? 'inactive' : 'own';
}

describe('a pair written from the specification is what the sandbox answers', () => {
  test.each(literals)('$id', async (literal) => {
    try {
      const input = await inputOf(literal);
      const { status, body } = await world.sendRaw(endpointOf(literal), input, whoIs(literal));
      expect({ status, code: readErrorBody(body)?.code }).toEqual({
        status: literal.response.status,
        code: readErrorBody(literal.response.body)?.code,
      });
      const shown = asPlayed[literal.id]?.(literal.response.body) ?? literal.response.body;
      const found = formDifferences(shown, body, status < 300 ? echoesOf(literal, input.body) : new Map());
      const allowed = (empty[literal.id] ?? []).map((list) => `body.data.${list} is empty`);
      expect(found.filter((one) => !allowed.includes(one))).toEqual([]);
    } finally {
      await world.control.act('setCredits', { credits: 1_000_000, onboardingCredits: 1_000_000 });
    }
  });
});

describe('the comparison of forms', () => {
  const shown = { status: 'success', data: [{ id: 7, name: 'Hiring', customFields: { cf_1: {} } }] };
  test.each([
    ['an envelope taken away', [{ id: 7, name: 'Hiring', customFields: {} }], ['body is array, not object']],
    ['a key missing', { status: 'success', data: [{ id: 7, customFields: {} }] }, ['body.data[0].name is missing']],
    [
      'an id as text',
      { status: 'success', data: [{ id: '7', name: 'A', customFields: {} }] },
      ['body.data[0].id is string, not number'],
    ],
    ['an empty list', { status: 'success', data: [] }, ['body.data is empty']],
    [
      'a name not repeated',
      { status: 'success', data: [{ id: 7, name: 'B', customFields: {} }] },
      ['body.data[0].name is not the name that was sent'],
    ],
  ])('notices %s', (_what, actual, expected) => {
    expect(formDifferences(shown, actual, new Map([['name', { shown: 'Hiring', sent: 'A' }]]))).toEqual(expected);
  });
});

test('every setting is that of a pair', () => {
  const ids = new Set(literals.map(({ id }) => id));
  expect([settings, empty, asPlayed].flatMap(Object.keys).filter((id) => !ids.has(id))).toEqual([]);
});
