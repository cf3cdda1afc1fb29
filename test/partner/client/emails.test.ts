import { expect, test } from 'vitest';
import { errorOf } from '../../http/servers.ts';
import { scriptedPartner } from './scripted-partner.ts';

const ZERO_WIDTH = '\u200B';
const NO_BREAK = '\u00A0';

test.each([
  ['blanks', '  Ada@example.com '],
  ['a zero-width blank', `Ada@example.com${ZERO_WIDTH}`],
  ['a non-breaking blank', `${NO_BREAK}Ada@example.com`],
  ['capitals in the domain', 'Ada@EXAMPLE.com'],
])('an e-mail with %s is sent and read without them', async (_what, email) => {
  const { partner, seen } = await scriptedPartner(() => ({
    json: { status: 'success', data: { onboardingCandidateId: 'oc_1', email } },
  }));
  const body = { firstName: 'Ada', lastName: 'Lovelace', email };
  const { data } = await partner.onboarding.enrol({ params: { flowId: 'flow_1' }, body });
  expect(seen[0]?.body).toEqual({ ...body, email: 'Ada@example.com' });
  expect(data.email).toBe('Ada@example.com');
});

test('e-mails inside a list are cleaned too', async () => {
  const { partner, seen } = await scriptedPartner(() => ({ json: { status: 'success', data: { enrolled: [] } } }));
  const candidates = [{ firstName: 'Ada', lastName: 'Lovelace', email: ' ada@example.com' }];
  await partner.onboarding.enrolBulk({ params: { flowId: 'flow_1' }, body: { candidates } });
  expect(seen[0]?.body).toMatchObject({ candidates: [{ email: 'ada@example.com' }] });
});

test.each(['r&d@example.com', "o'brien'@example.com", 'a=b/c@example.com', '{ada}~1@example.com'])(
  'an e-mail with every sign that RFC 5322 allows before the @ is sent: %s',
  async (email) => {
    const { partner, seen } = await scriptedPartner(() => ({ json: { status: 'success', data: { id: 1, email } } }));
    await partner.candidates.add({ body: { email } });
    expect(seen[0]?.body).toEqual({ email });
  },
);

test.each([
  '.ada@example.com',
  'ada.@example.com',
  'a..b@example.com',
  'a b@example.com',
  'a,b@example.com',
  '@example.com',
])('what is no e-mail is not sent: %s', async (email) => {
  const { partner, seen } = await scriptedPartner(() => ({ json: {} }));
  expect(await errorOf(partner.candidates.add({ body: { email } }))).toMatchObject({ code: 'INVALID_INPUT' });
  expect(seen).toEqual([]);
});

test('a request refused before it leaves names record, field and fault, never the value', async () => {
  const { partner, seen } = await scriptedPartner(() => ({ json: {} }));
  const body = { firstName: 'Ada', lastName: 'Lovelace', email: 'ada at example.com', externalRef: 'hirebridge:12:1' };
  const { message } = await errorOf(partner.onboarding.enrol({ params: { flowId: 'flow_1' }, body }));
  expect(message).toContain('body.email: is not a valid e-mail address (flowId flow_1, externalRef hirebridge:12:1)');
  expect(message).not.toMatch(/ada|Lovelace/i);
  expect(seen).toEqual([]);
});
