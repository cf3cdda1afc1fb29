import { expect, test } from 'vitest';
import { errorOf } from '../../http/servers.ts';
import { type Script, scriptedPartner } from './scripted-partner.ts';

async function refused(script: Script) {
  const { partner } = await scriptedPartner(script);
  const body = { firstName: 'Ada', lastName: 'Li', email: 'ada.li@example.com' };
  return errorOf(partner.onboarding.enrol({ params: { flowId: '1234' }, body }));
}

test('a refusal names its call and the ids in its path, whatever the body is', async () => {
  const json = { error: { code: 'INVALID_REQUEST', message: 'flow 1234 is not active' } };
  for (const script of [() => ({ status: 400, json }), () => ({ status: 404, text: '<h1>flow 1234 is gone</h1>' })]) {
    const { message } = await refused(script);
    expect(message).toContain('POST /onboarding/flows/:flowId/candidates for flow 1234 was answered');
    expect(message).not.toMatch(/active|gone/);
  }
});

test('an answer that cannot be read names the ids of its call, too', async () => {
  const { partner } = await scriptedPartner(() => ({ status: 200, json: {} }));
  const error = await errorOf(partner.onboarding.getCandidate({ params: { onboardingCandidateId: 'oc-1' } }));
  expect(error.message).toContain('for onboarding candidate oc-1 was answered 200');
});
