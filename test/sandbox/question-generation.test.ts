import { expect, test } from 'vitest';
import { errorOf } from '../http/servers.ts';
import { openPartner, outcome } from './open-partner.ts';

const interview = {
  title: 'Ward interview',
  hiringForRole: 'Nurse',
  purposeOfInterview: 'Find out who works well on a ward',
};

test('without credits, or with a generator that fails or is empty, nothing is made and nothing taken', async () => {
  await using sandbox = await openPartner();
  const { data } = await sandbox.partner.assessments.createAudioInterview({ body: interview });
  const params = { assessmentId: data.assessmentId };
  const generating = () => [
    sandbox.partner.assessments.autoGenerate({ body: { purpose: 'Find a nurse for the ward' } }),
    sandbox.partner.assessments.generateQuestions({ params, body: { skills: ['care'] } }),
  ];
  await sandbox.control.act('setCredits', { credits: 0 });
  for (const error of await Promise.all(
    [sandbox.partner.assessments.createAudioInterview({ body: interview }), ...generating()].map(errorOf),
  ))
    expect(error).toMatchObject({ status: 402, code: 'INSUFFICIENT_CREDITS' });
  await sandbox.control.act('setCredits', { credits: 5 });
  for (const [state, code] of [
    ['fails', 'AI_GENERATION_FAILED'],
    ['empty', 'AI_GENERATION_EMPTY'],
  ] as const) {
    await sandbox.control.act('setQuestionGenerator', { state });
    for (const error of await Promise.all(generating().map(errorOf)))
      expect(error).toMatchObject({ status: 500, code });
  }
  await sandbox.later();
  expect([await sandbox.credits(), await sandbox.told('assessment.ready')]).toEqual([5, []]);
  expect((await sandbox.control.counts({ kind: 'effect' })).effect).toEqual({ assessment: 1, credit: 1 });
  await sandbox.control.act('setQuestionGenerator', { state: 'works' });
  await Promise.all(generating());
  expect(await sandbox.credits()).toBe(3);
});

test('auto-generated questions come in the background: round(duration / 3 or 5), at least one', async () => {
  await using sandbox = await openPartner();
  for (const [role, duration, count] of [
    ['Nurse', 20, 7],
    ['Nurse', 5, 2],
    ['Nurse', 60, 20],
    ['Head of nursing', 20, 4],
    ['Senior nurse', 5, 1],
    ['VP Care', 6, 1],
    ['Leadership trainer', 60, 20],
  ] as const) {
    const body = { role, duration, purpose: 'Find somebody for the ward' };
    const { data } = await sandbox.partner.assessments.autoGenerate({ body });
    expect(data).toMatchObject({ questionCount: 0, duration, hiringForRole: role });
    const { assessmentId } = data;
    await sandbox.later();
    const ready = { assessmentId, message: expect.any(String), questionCount: count };
    expect((await sandbox.told('assessment.ready')).at(-1)).toEqual(ready);
    const read = (await sandbox.partner.assessments.get({ params: { assessmentId } })).data;
    expect([role, read.questionCount, read.questions?.length]).toEqual([role, count, count]);
  }
});

test('auto-generation derives the rest from role, purpose and job, and takes no title', async () => {
  await using sandbox = await openPartner({ jobs: 1 });
  const [job] = (await sandbox.api('GET', '/jobs')).body.jobs;
  const ofJob = (await sandbox.partner.assessments.autoGenerate({ body: { jobId: job.id } })).data;
  expect(ofJob).toMatchObject({ hiringForRole: job.title, jobId: String(job.id), duration: 20, aiLanguage: 'english' });
  expect([ofJob.assessmentType, ofJob.buckets?.length]).toEqual(['AI_AUDIO_INTERVIEW', 4]);
  const { body } = await sandbox.api('POST', '/assessment/auto-generate', {
    purpose: 'Interviews in Spanish for the ward',
    role: 'Nurse',
    title: 'Mine',
  });
  expect(body.data).toMatchObject({ aiLanguage: 'spanish', shouldEvaluateCEFR: true });
  expect(body.data.testName).not.toBe('Mine');
  for (const wrong of [
    {},
    { role: 'Nurse' },
    { jobId: job.id, duration: 4 },
    { jobId: job.id, duration: 61 },
    { purpose: 'short' },
  ])
    expect(outcome(await sandbox.api('POST', '/assessment/auto-generate', wrong))).toEqual([400, 'INVALID_REQUEST']);
});

test('generated questions are appended for one credit, and told with the new count', async () => {
  await using sandbox = await openPartner();
  const { assessmentId } = (
    await sandbox.partner.assessments.createAudioInterview({ body: { ...interview, duration: 9 } })
  ).data;
  await sandbox.partner.assessments.addQuestion({ params: { assessmentId }, body: { question: 'Mine first?' } });
  const before = await sandbox.credits();
  const answered = await sandbox.api('POST', `/assessment/${assessmentId}/generate-questions`, {
    jobDescription: 'Ward',
  });
  expect([answered.status, answered.body.status, await sandbox.credits()]).toEqual([200, 'success', before - 1]);
  await sandbox.later();
  expect(await sandbox.told('assessment.ready')).toMatchObject([{ assessmentId, questionCount: 4 }]);
  const { questions } = (await sandbox.partner.assessments.get({ params: { assessmentId } })).data;
  expect(questions?.[0]?.question).toBe('Mine first?');
  for (const body of [{}, { skills: [] }, { jobDescription: ' ' }])
    expect((await sandbox.api('POST', `/assessment/${assessmentId}/generate-questions`, body)).status).toBe(400);
});
