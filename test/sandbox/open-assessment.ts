import { contract } from '../../src/partner/contract/index.ts';
import { type OpenPartner, openPartner } from './open-partner.ts';
import type { Json } from './open-sandbox.ts';

export const ada = { firstName: 'Ada', lastName: 'Lovelace', emailAddress: 'ada@example.com' };

/** With an assessment that nobody has been invited to. */
export async function openWithAssessment(
  options: Parameters<typeof openPartner>[0] = {},
  settings: { maxResumeCount?: number } = {},
) {
  const sandbox = await openPartner(options);
  const made = await sandbox.control.act('createAssessment', { title: 'Ward interview', ...settings });
  const assessmentId = String(made['assessmentId']);
  const params = { assessmentId };
  return {
    ...sandbox,
    assessmentId,
    params,
    invite: (body: Json) => sandbox.partner.assessments.invite({ params, body }),
    submitted: async () => (await sandbox.partner.readAll(contract.assessments.listCandidates, { params })).items,
  };
}

/** Ada, invited, in the middle of her interview. */
export async function begun(sandbox: {
  control: OpenPartner['control'];
  invite: (body: Json) => Promise<unknown>;
  assessmentId: string;
}) {
  await sandbox.invite(ada);
  const who = { assessmentId: sandbox.assessmentId, emailAddress: ada.emailAddress };
  return String(((await sandbox.control.act('startInterview', who)) as Json).submissionId);
}
