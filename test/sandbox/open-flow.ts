import { contract } from '../../src/partner/contract/index.ts';
import type { ControlClient } from '../../src/sandbox/control/client.ts';
import { openPartner } from './open-partner.ts';
import type { Json } from './open-sandbox.ts';

/** A flow through two assessments of its own, with thresholds of 50 and 70. */
export async function openWithFlow(options: Parameters<typeof openPartner>[0] = {}) {
  const sandbox = await openPartner(options);
  const make = async (title: string) =>
    String((await sandbox.control.act('createAssessment', { title }))['assessmentId']);
  const [first, second, spare] = [await make('First'), await make('Second'), await make('Spare')];
  const steps = [
    { assessmentId: first, passThreshold: 50, name: 'One', instructions: 'Be calm', passAction: 'NEXT' },
    { assessmentId: second, passThreshold: 70 },
  ];
  const { id } = (
    await sandbox.partner.assessmentFlows.create({ body: { flowName: 'Ward', description: 'Two', steps } })
  ).data;
  const params = { id };
  return {
    ...sandbox,
    first,
    second,
    spare,
    steps,
    params,
    path: `/assessment-flows/${id}`,
    assign: (body: Json) => sandbox.partner.assessmentFlows.assign({ params, body }),
    candidates: async () => (await sandbox.partner.readAll(contract.assessmentFlows.listCandidates, { params })).items,
    take: async (flowCandidateId: unknown, score: number) => {
      await sandbox.control.act('finishFlowStep', { flowCandidateId: Number(flowCandidateId), score });
      await sandbox.later();
    },
  };
}

/** A step is taken first and scored afterwards, as the platform does it. */
export async function finishStep(control: ControlClient, flowCandidateId: number, score: number): Promise<void> {
  const { submission } = await control.act('finishFlowStep', { flowCandidateId, scored: false });
  const { submissionId } = submission as { submissionId: string };
  await control.act('scoreInterview', { submissionId, score });
}
