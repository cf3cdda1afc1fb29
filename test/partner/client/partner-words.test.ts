import { describe, expect, test } from 'vitest';
import type { ConnectorError } from '../../../src/errors.ts';
import { errorOf } from '../../http/servers.ts';
import { scriptedPartner } from './scripted-partner.ts';

const person = {
  firstName: 'Ada Maria',
  lastName: 'Li',
  email: 'ada.li@example.com',
  phoneNumber: '+4712345678',
  externalRef: 'hb-5012000-1',
};

/** What is said of an enrolment into flow 1234, whose message is this. */
async function refused(message: unknown): Promise<ConnectorError> {
  const json = { error: { code: 'INVALID_REQUEST', type: 'validation_error', message } };
  const { partner } = await scriptedPartner(() => ({ status: 400, json }));
  return errorOf(partner.onboarding.enrol({ params: { flowId: '1234' }, body: person }));
}

async function wordsOf(message: string): Promise<string | undefined> {
  return /: "(.*)"; the data was refused\.$/.exec((await refused(message)).message)?.[1];
}

describe("the partner's words are kept without anybody's data", () => {
  test.each([
    ['plain words', 'flow 1234 is not active', 'flow 1234 is not active'],
    ['a name', 'LI, Ada Maria is enrolled', '[lastName], [firstName] is enrolled'],
    ['a part of a name', 'ada is enrolled', '[firstName] is enrolled'],
    ['a short name inside a word', 'the list is invalid', 'the list is invalid'],
    ['a name split by an invisible character', 'A\u200bda is enrolled', '[firstName] is enrolled'],
    ['our e-mail', 'ADA.LI@example.com is taken', '[email] is taken'],
    ["somebody else's e-mail", 'ada@other.example has it', '[email] has it'],
    ['our phone', 'phone +4712345678 is bad', 'phone [phoneNumber] is bad'],
    ['a phone without its country', 'phone 12345678 is bad', 'phone [number] is bad'],
    ['a phone with blanks', 'phone 12 34 56 78 is bad', 'phone [number] is bad'],
    ['a short number', 'line 123456 is bad', 'line 123456 is bad'],
    ['an id of ours', 'hb-5012000-1 stands twice', 'hb-5012000-1 stands twice'],
    ['a person whom we did not send', 'held by Grace Hopper', 'held by [name]'],
    ['a single name after what it is of', 'candidate Hopper is in use', 'candidate [name] is in use'],
    ['a single name after a colon', 'Duplicate firstName: "Grace"', 'Duplicate firstName: "[name]"'],
    [
      'no word of the API after such a word',
      'candidate has no job; Candidate Not found',
      'candidate has no job; Candidate Not found',
    ],
    ['a title', 'Onboarding Flow Not Found', 'Onboarding Flow Not Found'],
    ['a link', 'see https://journey.example/t/secret', 'see [link]'],
    ['half of a sign', 'flow \ud83d is gone', 'flow \ufffd is gone'],
    ['a key', 'key sk_test_abc123 is bad', 'key [key] is bad'],
    ['line breaks and control characters', 'one\r\n\u0000two\u2028three\u001b[31m', 'one two three [31m'],
  ])('%s', async (_name, message, shown) => {
    expect(await wordsOf(message)).toBe(shown);
  });

  test('at most 200 characters', async () => {
    const words = (await wordsOf('no '.repeat(300))) ?? '';
    expect(words).toHaveLength(200);
    expect(words.endsWith('…')).toBe(true);
  });
});

test.each([
  ['HTML', '<html><body>flow gone</body></html>'],
  ['a dump', 'x '.repeat(3000)],
  ['empty', ''],
  ['signs alone', '!?'],
  ['no text', { reason: 'x' }],
])('a message that is %s is left out, and the call is still named', async (_name, message) => {
  const error = await refused(message);
  expect(error.message).toMatch(
    /^POST \/onboarding\/flows\/:flowId\/candidates for flow 1234 was answered 400 INVALID_REQUEST/,
  );
  expect(error.message).toMatch(/\(request [\w-]+\): the data was refused\.$/);
});

test('an HTML body gives no words', async () => {
  const { partner } = await scriptedPartner(() => ({ status: 404, text: '<h1>flow 1234 is gone</h1>' }));
  const error = await errorOf(partner.onboarding.enrol({ params: { flowId: '1234' }, body: person }));
  expect(error.message).toContain('for flow 1234 was answered 404');
  expect(error.message).not.toContain('gone');
});

test('an answer that cannot be read names the ids of its call, too', async () => {
  const { partner } = await scriptedPartner(() => ({ status: 200, json: {} }));
  const error = await errorOf(partner.onboarding.getCandidate({ params: { onboardingCandidateId: 'oc-1' } }));
  expect(error.message).toContain('for onboarding candidate oc-1 was answered 200');
});

test('ids are named where the words do not show them, and not twice', async () => {
  expect((await refused('the flow is not active')).message).toContain(' for flow 1234 was answered');
  expect((await refused('at most 12345 people')).message).toContain(' for flow 1234 was answered');
  expect((await refused('flow 1234 is not active')).message).not.toContain('for flow');
});

test('what was asked for by query is masked, codes and ids are not', async () => {
  const message = 'status hired of job 5012345: nobody called ada@example.com';
  const json = { error: { code: 'NOT_FOUND', type: 'not_found', message } };
  const { partner } = await scriptedPartner(() => ({ status: 404, json }));
  const error = await errorOf(
    partner.onboarding.listCandidates({ query: { externalRef: 'hb-5012345', status: 'in_progress' } }),
  );
  expect(error.message).toContain('"status hired of job [number]: nobody called [email]"');
});
