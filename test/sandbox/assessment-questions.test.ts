import { expect, test } from 'vitest';
import { contract } from '../../src/partner/contract/index.ts';
import { errorOf } from '../http/servers.ts';
import { openPartner } from './open-partner.ts';

const interview = {
  title: 'Ward interview',
  hiringForRole: 'Nurse',
  purposeOfInterview: 'Find out who works well on a ward',
};

test('questions are added at the end, changed in part, deleted, and counted', async () => {
  await using sandbox = await openPartner();
  const { assessmentId } = (await sandbox.partner.assessments.createAudioInterview({ body: interview })).data;
  const params = { assessmentId };
  const first = (await sandbox.partner.assessments.addQuestion({ params, body: { question: ' Why? ' } })).data;
  expect(first).toMatchObject({
    question: 'Why?',
    type: 'SUBJECTIVE',
    contextForAI: null,
    idealAnswer: null,
    createdByCompanyId: String(sandbox.companyId),
  });
  const second = (
    await sandbox.partner.assessments.addQuestion({
      params,
      body: { question: 'How?', type: 'OBJECTIVE', systemInstruction: 'Listen', idealAnswer: 'Slowly' },
    })
  ).data;
  expect(second).toMatchObject({ type: 'OBJECTIVE', contextForAI: 'Listen', idealAnswer: 'Slowly' });
  const changed = await sandbox.partner.assessments.updateQuestion({
    params: { assessmentId, questionId: second.id },
    body: { systemInstruction: 'Listen twice' },
  });
  expect(changed.data).toMatchObject({ question: 'How?', contextForAI: 'Listen twice', idealAnswer: 'Slowly' });
  const read = (await sandbox.partner.assessments.get({ params })).data;
  expect([read.questionCount, read.questions?.map(({ question }) => question)]).toEqual([2, ['Why?', 'How?']]);
  await sandbox.partner.assessments.removeQuestion({ params: { assessmentId, questionId: first.id } });
  expect((await sandbox.partner.assessments.get({ params })).data.questions?.map(({ id }) => id)).toEqual([second.id]);
  for (const body of [{}, { question: ' ' }, { type: '' }])
    expect((await sandbox.api('PUT', `/assessment/${assessmentId}/questions/${second.id}`, body)).status).toBe(400);
  expect((await sandbox.api('POST', `/assessment/${assessmentId}/questions`, {})).status).toBe(400);
});

test('a question that is gone, or of another assessment, is 404', async () => {
  await using sandbox = await openPartner();
  const [one, two] = (await sandbox.partner.readAll(contract.assessments.list)).items.map((item) => item.assessmentId);
  const { data } = await sandbox.partner.assessments.addQuestion({
    params: { assessmentId: one ?? '' },
    body: { question: 'Why?' },
  });
  for (const [assessmentId, questionId] of [
    [one ?? '', 'gone'],
    [two ?? '', data.id],
  ] as const) {
    const params = { assessmentId, questionId };
    for (const error of await Promise.all(
      [
        sandbox.partner.assessments.updateQuestion({ params, body: { question: 'What?' } }),
        sandbox.partner.assessments.removeQuestion({ params }),
      ].map(errorOf),
    ))
      expect(error).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  }
});
