import { describe, expect, test } from 'vitest';
import type { ConnectorError } from '../../../src/errors.ts';
import { errorOf } from '../../http/servers.ts';
import { type Script, scriptedPartner } from './scripted-partner.ts';

/** Reads with GET /pipelines and writes with a call that costs a credit. */
async function read(script: Script): Promise<ConnectorError> {
  const { partner } = await scriptedPartner(script);
  return errorOf(partner.pipelines.list());
}
async function write(script: Script): Promise<ConnectorError> {
  const { partner } = await scriptedPartner(script);
  return errorOf(
    partner.onboarding.enrol({
      params: { flowId: 'f' },
      body: { firstName: 'A', lastName: 'B', email: 'a@example.com' },
    }),
  );
}

const canonical = (code: string, type = 'x', more = {}) => ({
  error: { code, type, message: 'said by the partner', ...more },
});

describe('every form of an error body is read', () => {
  test.each<[string, number, unknown, string, string]>([
    ['canonical', 404, canonical('PIPELINE_NOT_FOUND'), 'PIPELINE_NOT_FOUND', 'reject'],
    ['with errorMessage', 404, { error: { code: 'NOT_FOUND', type: 'x', errorMessage: 'no' } }, 'NOT_FOUND', 'reject'],
    [
      'flat, with statusCode',
      404,
      { statusCode: 404, code: 'NOT_FOUND', type: 'not_found', errorMessage: 'no' },
      'NOT_FOUND',
      'reject',
    ],
    ['with a code of its own for each record', 404, canonical('CANDIDATE_NOT_FOUND'), 'NOT_FOUND', 'reject'],
    ['inside, with statusCode beside', 404, { statusCode: 404, ...canonical('NOT_FOUND') }, 'NOT_FOUND', 'reject'],
    ['flat key, 401', 401, { message: 'Invalid API key' }, 'INVALID_API_KEY', 'reauthorize'],
    ['flat key, 403', 403, { message: 'Invalid API key' }, 'INVALID_API_KEY', 'reauthorize'],
    ['flat account', 403, { code: 'ACCOUNT_INACTIVE', message: 'inactive' }, 'ACCOUNT_INACTIVE', 'reauthorize'],
    ['canonical account', 403, canonical('ACCOUNT_INACTIVE'), 'ACCOUNT_INACTIVE', 'reauthorize'],
    [
      "of another company's record",
      403,
      canonical('PERMISSION_DENIED', 'authorization_error'),
      'PERMISSION_DENIED',
      'reject',
    ],
    ['of an assessment', 403, canonical('ACCESS_DENIED'), 'ACCESS_DENIED', 'reject'],
    [
      'of a permission whose code is not given',
      403,
      canonical('SOMETHING_ELSE', 'authorization_error'),
      'SOMETHING_ELSE',
      'reject',
    ],
    ['not ready yet', 409, canonical('REPORT_NOT_READY'), 'REPORT_NOT_READY', 'retry'],
    ['rate limited', 429, canonical('RATE_LIMITED'), 'RATE_LIMITED', 'throttle'],
    ['of a failure', 500, canonical('INTERNAL_ERROR'), 'INTERNAL_ERROR', 'retry'],
    ['of a failed generation', 500, canonical('AI_GENERATION_FAILED'), 'AI_GENERATION_FAILED', 'reject'],
    [
      'with messages in a list',
      409,
      { error: { code: 'REPORT_NOT_READY', message: ['not', 'yet'] } },
      'REPORT_NOT_READY',
      'retry',
    ],
    ['with a number as code', 404, { error: { code: 404, message: 'no' } }, 'NOT_FOUND', 'reject'],
    ['with the code beside', 409, { error: { message: 'no' }, code: 'REPORT_NOT_READY' }, 'REPORT_NOT_READY', 'retry'],
    [
      'with a word as error',
      404,
      { statusCode: 404, message: 'no such job', error: 'Not Found' },
      'NOT_FOUND',
      'reject',
    ],
    ['with a type that is no text', 403, canonical('ACCESS_DENIED', 7 as unknown as string), 'ACCESS_DENIED', 'reject'],
    ['with a code that is no code', 400, canonical('ada@example.com is bad'), 'INVALID_REQUEST', 'reject'],
  ])('%s', async (_name, status, json, code, action) => {
    expect(await read(() => ({ status, json }))).toMatchObject({ code, action, status });
  });
});

// Section 7 names each of them with its condition.
test.each([
  [400, 'DUPLICATE_INVITE', 'they were invited already'],
  [409, 'DUPLICATE_ENROLLMENT', 'an enrolment with this e-mail or externalRef is active in the flow'],
  [409, 'ALREADY_TERMINAL', 'the enrolment has ended already'],
  [409, 'REPORT_NOT_READY', 'the interview is not scored yet'],
  [409, 'NO_APPLICATION', 'they did not apply through the hosted page'],
  [409, 'NO_CONSENT_RECORD', 'there is no record of a consent'],
  [500, 'AI_GENERATION_FAILED', 'the questions could not be generated'],
  [500, 'AI_GENERATION_EMPTY', 'no questions were generated'],
])('a refusal %i %s says what it means', async (status, code, hint) => {
  const { message } = await write(() => ({ status, json: canonical(code) }));
  expect(message).toMatch(new RegExp(`${code} \\(request [^)]+\\): ${hint}\\.$`));
});

test('a write that the server failed at is not said to be tried again by itself', async () => {
  const failed: Script = () => ({ status: 500, json: canonical('INTERNAL_ERROR') });
  expect((await read(failed)).message).toContain('it is tried again by itself');
  expect((await write(failed)).message).toContain('check whether it was carried out before sending it again');
});

describe("a body that is not the partner's", () => {
  const html = { text: '<html><body>nginx</body></html>', headers: { 'content-type': 'text/html' } };
  test.each([
    [200, 'UNEXPECTED_ANSWER', 'retry', 'unknown'],
    [204, 'UNEXPECTED_ANSWER', 'retry', 'unknown'],
    [301, 'UNEXPECTED_REDIRECT', 'reject', 'reject'],
    [403, 'UNEXPECTED_ANSWER', 'retry', 'retry'],
    [404, 'UNEXPECTED_ANSWER', 'reject', 'reject'],
    [429, 'RATE_LIMITED', 'throttle', 'throttle'],
    [502, 'SERVER_ERROR', 'retry', 'unknown'],
    [503, 'SERVER_ERROR', 'retry', 'unknown'],
  ])(
    'with status %i is %s: %s for a read, %s for a write that costs',
    async (status, code, readAction, writeAction) => {
      const script: Script = () => ({ status, ...html });
      expect(await read(script)).toMatchObject({ code, action: readAction });
      expect(await write(script)).toMatchObject({ code, action: writeAction });
    },
  );

  test('never proves a record absent: a 404 page has not the code of a missing record', async () => {
    expect((await read(() => ({ status: 404, ...html }))).code).not.toBe('NOT_FOUND');
  });
});

describe('a success that does not fit the contract', () => {
  const script: Script = () => ({ status: 200, json: { status: 'success', data: { secret: 'ada@example.com' } } });
  test('is a matter for a person when it was a read', async () => {
    expect(await read(script)).toMatchObject({ code: 'UNREADABLE_ANSWER', action: 'reject' });
  });
  test('may have been carried out when it was a write', async () => {
    const error = await write(script);
    expect(error).toMatchObject({ code: 'UNREADABLE_ANSWER', action: 'unknown', status: 200 });
    expect(error.message).toContain('data.onboardingCandidateId');
  });
});

describe('a success that holds nothing of what was asked for', () => {
  test.each([
    ['an empty object', {}],
    ['null', null],
    ['data null', { data: null }],
    ['status and data null', { status: 'success', data: null }],
    ['empty data', { status: 'success', data: {} }],
    ['words alone', { status: 'error', message: 'Try again later' }],
    ['an error', { error: { code: 'BUSY', type: 'x', message: 'Try again later' } }],
  ])('%s is asked for again by itself, and no person is asked', async (_name, json) => {
    expect(await read(() => ({ status: 200, json }))).toMatchObject({ code: 'UNREADABLE_ANSWER', action: 'retry' });
    expect(await write(() => ({ status: 201, json }))).toMatchObject({ action: 'unknown' });
  });
  test('but a list elsewhere, or one record, is another form', async () => {
    for (const json of [
      { status: 'success', items: [{ id: 1 }] },
      { id: 1, stages: [{ id: 2 }] },
    ])
      expect(await read(() => ({ status: 200, json }))).toMatchObject({ action: 'reject' });
  });
});

test('details keep the numbers about credits and the names of fields, never a value', async () => {
  const details = {
    requiredCredits: 5,
    availableCredits: 2,
    usedCredits: 'by ada@example.com',
    email: 'ada@example.com is taken',
    'candidates[3].lastName': 'x',
    'ada@example.com': 'y',
  };
  const error = await write(() => ({
    status: 402,
    json: canonical('INSUFFICIENT_ONBOARDING_CREDITS', 'x', { details }),
  }));
  expect(error).toMatchObject({ code: 'INSUFFICIENT_ONBOARDING_CREDITS', action: 'reject' });
  expect(error.details).toEqual({
    requiredCredits: 5,
    availableCredits: 2,
    fields: ['email', 'lastName'],
  });
  expect(JSON.stringify(error.details) + error.message).not.toContain('ada@');
});

test("the message names call, status, code and request, and nothing of the partner's own words", async () => {
  const error = await read(() => ({
    status: 400,
    json: { error: { code: 'INVALID_REQUEST', type: 'x', message: 'page is too large' } },
  }));
  expect(error.message).toBe(
    `GET /pipelines was answered 400 INVALID_REQUEST (request ${error.requestId}): the data was refused.`,
  );
});

describe('an e-mail conflict on candidate update', () => {
  const update = async (script: Script, emailConflict: '400' | '409' | 'either'): Promise<ConnectorError> => {
    const { partner } = await scriptedPartner(script, { overrides: { emailConflict } });
    return errorOf(partner.candidates.update({ params: { candidateId: 1 }, body: { email: 'a@example.com' } }));
  };
  const as409: Script = () => ({ status: 409, json: canonical('CONFLICT') });
  const as400: Script = () => ({
    status: 400,
    json: canonical('INVALID_REQUEST', 'validation_error', { details: { email: 'taken' } }),
  });

  test('is read in either form, and by one reading alone where the tenant says so', async () => {
    expect(await update(as409, 'either')).toMatchObject({ code: 'EMAIL_CONFLICT', action: 'reject' });
    expect(await update(as400, 'either')).toMatchObject({ code: 'EMAIL_CONFLICT', action: 'reject' });
    expect(await update(as400, '409')).toMatchObject({ code: 'INVALID_REQUEST' });
    expect(await update(as409, '400')).toMatchObject({ code: 'CONFLICT' });
  });

  test('is a 400 that names no field if only the e-mail was sent', async () => {
    const bare: Script = () => ({ status: 400, json: canonical('INVALID_REQUEST') });
    expect(await update(bare, 'either')).toMatchObject({ code: 'EMAIL_CONFLICT' });
    expect(await update(bare, '409')).toMatchObject({ code: 'INVALID_REQUEST' });
    const { partner } = await scriptedPartner(bare);
    const body = { email: 'a@example.com', city: 'Rome' };
    const error = await errorOf(partner.candidates.update({ params: { candidateId: 1 }, body }));
    expect(error).toMatchObject({ code: 'INVALID_REQUEST' });
  });
});
