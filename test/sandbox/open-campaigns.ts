import { openSandbox } from './open-sandbox.ts';

export const otherKey = `sk_test_${'c'.repeat(22)}`;

/** The stepped clock stands at Monday 5 January 2026, 09:00 UTC: 17:00 in Manila. */
export async function open() {
  const sandbox = await openSandbox({ clock: 'stepped', otherKey });
  const { sites } = (await sandbox.api('GET', '/company-sites')).body;
  const good = {
    title: 'Finish your interview',
    timezone: 'Asia/Manila',
    companySiteId: sites[0].id as number | string,
    phoneNumber: '+442079460000',
    openingMessage: 'Hello',
    closingMessage: 'Goodbye',
    purposeType: 'ASSESSMENT_REMINDER' as const,
  };
  const send = async (more: object = {}, key = sandbox.key) => {
    const { status, body } = await sandbox.api('POST', '/campaigns', { ...good, ...more }, { key });
    return { status, code: body.error?.code, details: Object.keys(body.error?.details ?? {}), campaign: body.campaign };
  };
  return { ...sandbox, good, send };
}
