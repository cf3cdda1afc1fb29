import { describe, expect, test } from 'vitest';
import { checkWebhookKey, readWebhookEnvelope, webhookHeaders } from '../../src/partner/webhook.ts';

describe('a webhook key', () => {
  const headers = webhookHeaders('candidate.hired', 'current');
  test('is right when it is one of the two valid in a rotation', () => {
    expect(checkWebhookKey(headers['x-webhook-key'], ['current'])).toBe(true);
    expect(checkWebhookKey(headers['x-webhook-key'], ['next', 'current'])).toBe(true);
  });
  test.each<[string, string | string[] | undefined, string[]]>([
    ['missing', undefined, ['current']],
    ['empty', '', ['current']],
    ['empty, and so is ours', '', ['']],
    ['sent twice', ['current', 'current'], ['current']],
    ['of another length', 'current2', ['current']],
    ['in another case', 'Current', ['current']],
    ['right, but the tenant has none', 'current', []],
  ])('is wrong when it is %s', (_name, header, keys) => expect(checkWebhookKey(header, keys)).toBe(false));
});

describe('an envelope', () => {
  const event = { event: 'candidate.hired', timestamp: '2030-01-01T00:00:00Z', companyId: 5, data: {} };

  test.each([
    [5, '5'],
    ['c_5', 'c_5'],
    [undefined, undefined],
    [null, undefined],
    [{}, undefined],
  ])('with companyId %j has %j', (companyId, expected) => {
    expect(readWebhookEnvelope(JSON.stringify({ ...event, companyId })).companyId).toBe(expected);
  });

  test('carries ids from single and array forms, as text, each once', () => {
    const data = {
      jobId: 9,
      jobCandidateIds: [1, '2', 2],
      candidateIds: ['c'],
      jobCandidateId: 3,
      candidateId: null,
      onboardingCandidateId: 'oc',
    };
    expect(readWebhookEnvelope(JSON.stringify({ ...event, data })).ids).toEqual({
      jobId: '9',
      jobCandidateIds: expect.arrayContaining(['1', '2', '3']),
      candidateIds: ['c'],
      onboardingCandidateIds: ['oc'],
    });
    expect(readWebhookEnvelope(JSON.stringify({ ...event, data })).ids.jobCandidateIds).toHaveLength(3);
  });

  test('names the stages of a move', () => {
    const data = { currentStageId: 1, nextStageId: 2 };
    expect(readWebhookEnvelope(JSON.stringify({ ...event, data })).ids).toMatchObject({
      currentStageId: '1',
      nextStageId: '2',
    });
  });

  test('of an unknown event, without data, is read all the same', () => {
    expect(readWebhookEnvelope('{"event":"moon.landed"}')).toMatchObject({
      event: 'moon.landed',
      data: {},
      ids: { jobCandidateIds: [] },
    });
  });

  test('is read from bytes', () => {
    expect(readWebhookEnvelope(Buffer.from(JSON.stringify(event))).timestamp).toBe(event.timestamp);
  });

  test.each([
    '',
    'null',
    '[]',
    '"text"',
    '{"event":""}',
    '{"event":5}',
    '{"event":"x","data":[1]}',
    '{"event":"x","da',
  ])('%j is malformed', (body) => {
    expect(() => readWebhookEnvelope(body)).toThrowError(
      expect.objectContaining({ code: 'MALFORMED_WEBHOOK', action: 'reject' }),
    );
  });

  test('that is malformed is not repeated in the error', () => {
    expect(() => readWebhookEnvelope('{"event":5,"mail":"ada@example.com"}')).toThrowError(/^(?!.*ada).*wrong: event/s);
  });
});
