import { describe, expect, test } from 'vitest';
import { checkWebhookKey, readWebhookEnvelope } from '../../src/partner/webhook.ts';
import { webhookHeaders } from '../harness/send-delivery.ts';

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

  // Section 5.3: a key that was replaced is invalid at once, also where the caller changes one list for ever.
  test('is wrong once it is taken from the list, and right once it is added', () => {
    const keys = ['current'];
    expect(checkWebhookKey('current', keys)).toBe(true);
    keys.push('next');
    expect(checkWebhookKey('next', keys)).toBe(true);
    keys.shift();
    expect(checkWebhookKey('current', keys)).toBe(false);
  });
});

describe('an envelope', () => {
  const event = { event: 'candidate.hired', timestamp: '2030-01-01T00:00:00Z', companyId: 5, data: {} };
  const read = (change: object) => readWebhookEnvelope(JSON.stringify({ ...event, ...change }));

  test.each([
    [5, '5'],
    ['c_5', 'c_5'],
    [undefined, undefined],
    [null, undefined],
    [{}, undefined],
  ])('with companyId %j has %j', (companyId, expected) => {
    expect(read({ companyId })).toMatchObject({ event: 'candidate.hired' });
    expect(read({ companyId })?.companyId).toBe(expected);
  });

  test('carries ids from single and array forms, as text, each once, by kind', () => {
    const data = {
      jobId: 9,
      jobCandidateIds: [1, '2', 2],
      candidateIds: ['c'],
      jobCandidateId: 3,
      candidateId: null,
      onboardingCandidateId: 'oc',
    };
    expect(read({ data })?.ids).toEqual({
      jobId: ['9'],
      jobCandidateId: ['3', '1', '2'],
      candidateId: ['c'],
      onboardingCandidateId: ['oc'],
    });
  });

  test('names the stages of a move', () => {
    const data = { currentStageId: 1, nextStageId: 2 };
    expect(read({ data })?.ids).toEqual({ currentStageId: ['1'], nextStageId: ['2'] });
  });

  test('of an unknown event, without data, is read all the same', () => {
    expect(readWebhookEnvelope('{"event":"moon.landed"}')).toEqual({ event: 'moon.landed', ids: {} });
  });

  test.each<[unknown, object]>([
    [[{ jobCandidateId: 1 }, { jobCandidateId: 2, job: { jobId: 9 } }], { jobCandidateId: ['1', '2'], jobId: ['9'] }],
    [[], {}],
    [[1], {}],
    ['text', {}],
    [false, {}],
  ])('whose data is no object but %j is an event, marked as not read', (data, ids) => {
    expect(read({ data })).toEqual({ event: 'candidate.hired', companyId: '5', ids, isUnread: true });
  });

  test.each(['', 'null', '[]', '"text"', '{"event":""}', '{"event":5}', '{"event":"x","da'])(
    '%j is no event',
    (body) => {
      expect(readWebhookEnvelope(body)).toBeUndefined();
    },
  );
});

/** A text that counts how often one of its characters is looked at. */
class CountedText extends String {
  looks = 0;
  override charCodeAt(at: number): number {
    this.looks += 1;
    return super.charCodeAt(at);
  }
}

test('a long row of digits in a body is looked through once, not once for each sixteen of them', () => {
  const text = JSON.stringify({ event: 'candidate.hired', data: { jobCandidateId: 'a', note: '1'.repeat(20_000) } });
  const counted = new CountedText(text);
  expect(readWebhookEnvelope(counted as unknown as string)?.ids).toEqual({ jobCandidateId: ['a'] });
  expect(counted.looks).toBeLessThan(2 * text.length);
});
