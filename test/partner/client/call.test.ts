import { describe, expect, test } from 'vitest';
import { createPartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import { unlimited } from '../../../src/rate-limit/rate-limit.ts';
import { errorOf, serveBytes } from '../../http/servers.ts';
import { scriptedPartner, testKey } from './scripted-partner.ts';

const person = { firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com' };
const enrolled = { onboardingCandidateId: 'oc_1', flowId: 'flow_1', overallStatus: 'not_started' };

test('a call sends what the contract says, and gives the whole success body', async () => {
  const { partner, seen, reports } = await scriptedPartner(() => ({
    status: 201,
    json: { status: 'success', data: enrolled },
  }));
  const body = await partner.onboarding.enrol({ params: { flowId: 'flow/1' }, body: person }, { priority: 'live' });
  expect(body.data.onboardingCandidateId).toBe('oc_1');
  expect(seen[0]).toMatchObject({ method: 'POST', path: '/onboarding/flows/flow%2F1/candidates', body: person });
  expect(seen[0]?.headers).toMatchObject({ authorization: `Bearer ${testKey}`, 'content-type': 'application/json' });
  expect(reports).toMatchObject([{ operation: 'onboarding.enrol', status: 201, priority: 'live' }]);
  expect(seen[0]?.headers['x-request-id']).toBe(reports[0]?.requestId);
});

test('unknown keys of an answer are kept, and ids are read as text', async () => {
  const { partner } = await scriptedPartner(() => ({
    json: { status: 'success', data: { id: '7', name: 'Main', stages: [], colour: 'blue' } },
  }));
  const { data } = await partner.pipelines.get({ params: { pipelineId: 7 } });
  expect(data).toMatchObject({ id: '7', colour: 'blue' });
});

test('arrays in the query travel as a comma list, and nothing is added that was not given', async () => {
  const { partner, seen } = await scriptedPartner(() => ({
    json: { status: 'success', data: [], pagination: { total: 0 } },
  }));
  await partner.candidates.list({ query: { skills: ['sql', 'c++'], jobIds: [1, 2] } });
  expect(seen[0]?.query).toEqual({ skills: 'sql,c++', jobIds: '1,2' });
});

describe('input that is against the contract is refused before it leaves, naming the field and never a value', () => {
  test.each<[string, (partner: Awaited<ReturnType<typeof scriptedPartner>>['partner']) => Promise<unknown>, string]>([
    [
      'a bad e-mail',
      (p) => p.onboarding.enrol({ params: { flowId: 'f' }, body: { ...person, email: 'ada at home' } }),
      'body.email',
    ],
    [
      'a long reference',
      (p) => p.onboarding.enrol({ params: { flowId: 'f' }, body: { ...person, externalRef: 'r'.repeat(256) } }),
      'body.externalRef',
    ],
    [
      'a misspelt key',
      (p) => p.onboarding.enrol({ params: { flowId: 'f' }, body: { ...person, extrenalRef: 'x' } as typeof person }),
      'extrenalRef',
    ],
    [
      '101 enrolments',
      (p) =>
        p.onboarding.enrolBulk({
          params: { flowId: 'f' },
          body: { candidates: Array.from({ length: 101 }, () => person) },
        }),
      'body.candidates: at most 100',
    ],
    [
      'a misspelt key deep inside',
      (p) =>
        p.onboarding.enrolBulk({
          params: { flowId: 'f' },
          body: { candidates: [{ ...person, phone: '1' } as typeof person] },
        }),
      'body.candidates.0',
    ],
    [
      '251 candidates to rescore',
      (p) =>
        p.jobCandidates.rescore({ body: { jobId: 1, jobCandidateIds: Array.from({ length: 251 }, (_, id) => id) } }),
      'body.jobCandidateIds: at most 250',
    ],
    [
      '101 ids at once',
      (p) => p.jobCandidates.bulkFetch({ body: { jobCandidateIds: Array.from({ length: 101 }, (_, id) => id) } }),
      'body.jobCandidateIds: at most 100',
    ],
    ['a page size outside the set', (p) => p.jobs.list({ query: { perPage: 50 } }), 'query.perPage'],
    ['an id that is none', (p) => p.candidates.get({ params: { candidateId: 'ada' } }), 'params.candidateId'],
    [
      'an id that climbs the path',
      (p) => p.onboarding.getCandidate({ params: { onboardingCandidateId: '..' } }),
      'params.onboardingCandidateId',
    ],
    [
      'no body where one is due',
      (p) => p.candidates.update({ params: { candidateId: 1 }, body: {} }),
      'At least one field',
    ],
    [
      'a body where none is taken',
      (p) => p.jobCandidates.remove({ params: { jobCandidateId: 1 }, body: { a: 1 } } as never),
      'body',
    ],
  ])('%s', async (_name, call, field) => {
    const { partner, seen } = await scriptedPartner(() => ({ json: {} }));
    const error = await errorOf(call(partner));
    expect(error).toMatchObject({ code: 'INVALID_INPUT', action: 'reject' });
    expect(error.message).toContain(field);
    expect(error.message).not.toMatch(/ada at home|Lovelace|example\.com/);
    expect(seen).toEqual([]);
  });
});

describe('a key', () => {
  const open = async (apiKey: string, environment: 'production' | 'sandbox'): Promise<unknown> =>
    createPartnerClient({ baseUrl: 'https://partner.example/v1/partner', apiKey, environment });

  test.each([
    ['too short', 'sk_test_abc', 'sandbox', 'KEY_FORMAT'],
    ['too long', `${testKey}x`, 'sandbox', 'KEY_FORMAT'],
    ['of another alphabet', `sk_test_${'-'.repeat(22)}`, 'sandbox', 'KEY_FORMAT'],
    ['with a line break that would forge a header', `${testKey}\n`, 'sandbox', 'KEY_FORMAT'],
    ['for tests, used in production', testKey, 'production', 'KEY_ENVIRONMENT'],
    ['for production, used on the sandbox', `sk_live_${'k'.repeat(22)}`, 'sandbox', 'KEY_ENVIRONMENT'],
  ] as const)('%s is refused before any call, and not shown', async (_name, key, environment, code) => {
    const error = await errorOf(open(key, environment));
    expect(error).toMatchObject({ code, action: 'reauthorize' });
    expect(error.message).not.toContain(key.trim());
  });

  test('that fits is taken', async () => {
    await expect(open(`sk_live_${'aZ9'.repeat(7)}b`, 'production')).resolves.toBeDefined();
  });
});

describe('exactly one request', () => {
  test.each([500, 502, 503, 429])('when a call that costs a credit is answered %i', async (status) => {
    const { partner, seen } = await scriptedPartner(() => ({ status, json: { error: { code: 'X', message: 'x' } } }));
    await errorOf(partner.onboarding.enrol({ params: { flowId: 'f' }, body: person }));
    expect(seen).toHaveLength(1);
  });

  test('when its connection is reset', async () => {
    const { url, requests } = await serveBytes((socket) => socket.resetAndDestroy());
    const partner = createPartnerClient({
      baseUrl: `${url}/v1/partner`,
      apiKey: testKey,
      environment: 'sandbox',
      allowPrivate: true,
    });
    const error = await errorOf(partner.onboarding.enrol({ params: { flowId: 'f' }, body: person }));
    expect(error).toMatchObject({ code: 'NO_ANSWER', action: 'unknown' });
    await partner.close();
    expect(requests).toHaveLength(1);
  });
});

test('beforeSend that throws keeps a call from leaving', async () => {
  const { partner, seen } = await scriptedPartner(() => ({ json: {} }));
  const refuse = (): never => {
    throw new Error('too late');
  };
  const error = await errorOf(
    partner.onboarding.enrol({ params: { flowId: 'f' }, body: person }, { beforeSend: refuse }),
  );
  expect(error.message).toBe('too late');
  expect(seen).toEqual([]);
});

test('a call cancelled while it waits for the rate limit is not sent', async () => {
  const cancel = new AbortController();
  const rateLimit = {
    ...unlimited,
    acquire: (_lane: string, signal?: AbortSignal) =>
      new Promise<void>((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
        cancel.abort();
      }),
  };
  const { partner, seen } = await scriptedPartner(() => ({ json: {} }), { rateLimit });
  const error = await errorOf(partner.pipelines.list({}, { signal: cancel.signal }));
  expect(error).toMatchObject({ code: 'ABORTED', action: 'retry' });
  expect(seen).toEqual([]);
});

test('the rate limit hears of each answer, with the wait it asks for', async () => {
  const heard: unknown[] = [];
  const rateLimit = {
    ...unlimited,
    answered: (answer: unknown) => void heard.push(answer),
  };
  const { partner } = await scriptedPartner(
    () => ({ status: 429, headers: { 'retry-after': '2' }, text: '<html>busy</html>' }),
    { rateLimit },
  );
  const error = await errorOf(partner.pipelines.list());
  expect(error).toMatchObject({ action: 'throttle', retryAfterMs: 2000, status: 429 });
  expect(heard).toMatchObject([{ status: 429, retryAfterMs: 2000 }]);
});

test('a live call does not wait behind bulk calls that fill their queue', async () => {
  let releaseBulk: () => void = () => undefined;
  const bulkTurn = new Promise<void>((resolve) => {
    releaseBulk = resolve;
  });
  const rateLimit = {
    ...unlimited,
    acquire: (priority: string) => (priority === 'bulk' ? bulkTurn : Promise.resolve()),
  };
  const { partner, seen } = await scriptedPartner(() => ({ json: { status: 'success', data: [] } }), {
    rateLimit,
    concurrency: 2,
  });
  const bulk = Array.from({ length: 10 }, () => partner.pipelines.list());
  await expect(partner.pipelines.list({}, { priority: 'live' })).resolves.toMatchObject({ status: 'success' });
  expect(seen).toHaveLength(1);
  releaseBulk();
  await Promise.all(bulk);
});

test('no more calls are in flight than allowed', async () => {
  let inFlight = 0;
  let most = 0;
  const rateLimit = {
    ...unlimited,
    acquire: async () => {
      inFlight += 1;
      most = Math.max(most, inFlight);
    },
    answered: () => void (inFlight -= 1),
  };
  const { partner } = await scriptedPartner(() => ({ json: { status: 'success', data: [] } }), {
    rateLimit,
    concurrency: 3,
  });
  await Promise.all(Array.from({ length: 20 }, () => partner.pipelines.list()));
  expect(most).toBe(3);
});

test.each([
  ['jobs.get', '4.2', (p: Awaited<ReturnType<typeof scriptedPartner>>['partner']) => p.jobs.get()],
  ['bookings.cancel', '4.8', (p: Awaited<ReturnType<typeof scriptedPartner>>['partner']) => p.bookings.cancel()],
  ['campaigns.update', '4.10', (p: Awaited<ReturnType<typeof scriptedPartner>>['partner']) => p.campaigns.update()],
])('%s is refused with the section %s that leaves it open', async (id, section, call) => {
  const { partner, seen } = await scriptedPartner(() => ({ json: {} }));
  const error = await errorOf(call(partner));
  expect(error).toMatchObject({ code: 'NOT_IN_SPECIFICATION', action: 'reject', details: { operation: id, section } });
  expect(error.message).toContain(`section ${section} `);
  expect(seen).toEqual([]);
});
