import { expect, test } from 'vitest';
import { openWithFlow } from './open-flow.ts';
import { openSandbox } from './open-sandbox.ts';

const ada = { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' };

test.each([
  ['  ada@Example.COM ', 'ada@example.com'],
  ['josé@example.com', 'josé@example.com'],
  ['ada@münchen.example', 'ada@münchen.example'],
])('the e-mail %o is taken', async (email, kept) => {
  await using sandbox = await openSandbox();
  const { status, body } = await sandbox.api('POST', '/candidates', { ...ada, email });
  expect([status, body.data?.email]).toEqual([200, kept]);
});

test.each(['ada', 'ada@', '@example.com', 'ada@example', 'ada lovelace@example.com', 'ada@exam ple.com', 7])(
  'the e-mail %o is refused',
  async (email) => {
    await using sandbox = await openSandbox();
    const { status, body } = await sandbox.api('POST', '/candidates', { ...ada, email });
    expect([status, Object.keys(body.error.details)]).toEqual([400, ['email']]);
  },
);

test.each(['1815-12-10', '1815-12-10T00:00:00.000Z', '1815-12-10T23:30:00+05:30'])(
  'the date of birth %s is the day that is written in it',
  async (dateOfBirth) => {
    await using sandbox = await openSandbox();
    const { body } = await sandbox.api('POST', '/candidates', { ...ada, dateOfBirth });
    expect(body.data.dateOfBirth).toBe('1815-12-10');
  },
);

test('an instant of any ISO form is taken, in UTC if it names no zone', async () => {
  await using sandbox = await openSandbox({ candidates: 1 });
  const found = async (createdAtMin: string): Promise<number> => {
    const { status, body } = await sandbox.api(
      'GET',
      `/candidates/list?createdAtMin=${encodeURIComponent(createdAtMin)}`,
    );
    return status === 200 ? body.pagination.total : status;
  };
  const [{ createdAt }] = (await sandbox.api('GET', '/candidates/list')).body.data;
  const at = createdAt.replace('Z', '');
  for (const form of [
    `${at}Z`,
    at,
    `${at}000Z`,
    `${at}+0000`,
    `${at}+00`,
    `${at}+00:00`,
    `${at}z`,
    at.replace('T', 't'),
  ])
    expect([form, await found(form)]).toEqual([form, 1]);
  const next = new Date(Date.parse(createdAt) + 1).toISOString();
  for (const form of [next, next.replace('Z', ''), next.replace('Z', '+0000')])
    expect([form, await found(form)]).toEqual([form, 0]);
  for (const form of ['2026-02-30T08:00:00Z', '2026-13-01', 'yesterday', '12:00'])
    expect([form, await found(form)]).toEqual([form, 400]);
});

test('a flag of the query is read in any case', async () => {
  await using sandbox = await openSandbox({ jobs: 1, candidates: 1 });
  const details = async (flag: string) =>
    (await sandbox.api('GET', `/candidates/list?includeJobApplicationDetails=${flag}`)).body.data?.[0];
  expect(await details('True')).toHaveProperty('jobCandidateDetails');
  expect(await details('FALSE')).not.toHaveProperty('jobCandidateDetails');
  expect(await details('yes')).toBeUndefined();
});

test('the steps of a flow may be sent back as they were answered', async () => {
  await using sandbox = await openWithFlow();
  const made = await sandbox.api('POST', '/assessment-flows', {
    flowName: 'Plain',
    description: 'All of it',
    steps: [{ assessmentId: sandbox.first }],
  });
  const path = `/assessment-flows/${made.body.data.id}`;
  const read = async () => (await sandbox.api('GET', path)).body.data;
  const { steps } = await read();
  expect(steps[0]).toMatchObject({ name: null, instructions: null, passAction: null });
  const more = { assessmentId: sandbox.spare, name: null, passThreshold: null, type: null };
  const grown = await sandbox.api('PATCH', path, { steps: [...steps, more] });
  expect([grown.status, (await read()).steps.slice(0, 1)]).toEqual([200, steps]);
  expect((await read()).steps).toHaveLength(2);
  expect((await sandbox.api('PATCH', path, { description: null })).status).toBe(200);
  expect((await read()).description).toBeNull();
});

const interview = {
  title: 'Ward interview',
  hiringForRole: 'Nurse',
  purposeOfInterview: 'Find out who works well on a ward',
};

test('the job of an assessment may be sent as it is answered, as text', async () => {
  await using sandbox = await openSandbox({ jobs: 1 });
  const [{ id }] = (await sandbox.api('GET', '/jobs')).body.jobs;
  const made = async (body: object) => {
    const answered = await sandbox.api('POST', '/assessment/audio-interviews', { ...interview, ...body });
    return [answered.status, answered.body.data?.jobId];
  };
  expect(await made({ jobId: String(id) })).toEqual([201, String(id)]);
  expect(await made({ jobId: id })).toEqual([201, String(id)]);
  expect(await made({ jobId: '' })).toEqual([201, '']);
  expect(await made({ jobId: 'first' })).toEqual([400, undefined]);
  const generated = await sandbox.api('POST', '/assessment/auto-generate', { jobId: '' });
  expect([generated.status, generated.body.error?.details]).toEqual([400, { jobId: 'jobId or purpose is required' }]);
});

test('maxResumeCount is asked for only where resumes are allowed', async () => {
  await using sandbox = await openSandbox();
  const made = async (body: object) =>
    (await sandbox.api('POST', '/assessment/audio-interviews', { ...interview, ...body })).status;
  for (const maxResumeCount of [null, 0, 3]) expect(await made({ resumeAllowed: false, maxResumeCount })).toBe(201);
  for (const maxResumeCount of [null, 0, 6]) expect(await made({ resumeAllowed: true, maxResumeCount })).toBe(400);
  expect(await made({ resumeAllowed: true, maxResumeCount: 5 })).toBe(201);
});

test('a multi-select value may be set as it is answered, and null parents are none', async () => {
  await using sandbox = await openSandbox({ candidates: 1 });
  const [{ id: entityId }] = (await sandbox.api('GET', '/candidates/list')).body.data;
  const definition = { entityType: 'candidate', fieldLabel: 'Shifts', fieldType: 'multi-select', options: ['a', 'b'] };
  const { id: customFieldId } = (await sandbox.api('POST', '/custom-fields', { ...definition, description: 'When' }))
    .body.data;
  const set = async (value: unknown) => {
    const parents = { parentEntityType: null, parentEntityId: null };
    const body = { customFieldId, entityType: 'candidate', entityId, value, ...parents };
    const answered = await sandbox.api('POST', '/custom-field-values', body);
    return [answered.status, answered.body.data?.value];
  };
  expect(await set(['a', 'b'])).toEqual([200, '["a","b"]']);
  expect(await set('["b"]')).toEqual([200, '["b"]']);
  expect(await set('["c"]')).toEqual([400, undefined]);
  expect(await set('b')).toEqual([400, undefined]);
  const cleared = await sandbox.api('PUT', `/custom-fields/${customFieldId}`, { description: null });
  expect(cleared.body.data).toMatchObject({ fieldLabel: 'Shifts', description: null });
});

test('a change of custom fields alone names them in the event', async () => {
  await using sandbox = await openSandbox({ candidates: 1 });
  const [{ id }] = (await sandbox.api('GET', '/candidates/list')).body.data;
  const definition = { entityType: 'candidate', fieldLabel: 'Badge', fieldType: 'text' };
  const { id: field } = (await sandbox.api('POST', '/custom-fields', definition)).body.data;
  expect((await sandbox.api('PATCH', `/candidates/${id}`, { customFields: { [field]: 'X' } })).status).toBe(200);
  const [event] = await sandbox.control.ledger({ kind: 'event', name: 'candidate.updated' });
  expect(event?.detail).toMatchObject({ candidateId: id, updatedFields: ['customFields'] });
});

test('a created job shows what it was created with', async () => {
  await using sandbox = await openSandbox();
  const given = { contractType: 'Student', degreeLevel: 'Other', jobRole: 'Design' };
  const job = { title: 'Night Auditor', city: 'Kraków', state: '', country: 'Poland', ...given };
  expect((await sandbox.api('POST', '/jobs', job)).body).toMatchObject(job);
});

test('jobs and stages are asked for of one application (section 4.3)', async () => {
  await using sandbox = await openSandbox({ jobs: 2, candidates: 0 });
  const [one, two] = (await sandbox.api('GET', '/jobs')).body.jobs;
  for (const { id: jobId } of [one, two]) await sandbox.api('POST', '/candidates', { ...ada, jobId });
  const inJob = async (id: number) => (await sandbox.api('GET', `/job-candidates/job/${id}/candidates`)).body.data[0];
  const { stages } = (await sandbox.api('GET', `/pipelines/${one.pipelineId}`)).body.data;
  const [first, next] = stages;
  await sandbox.api('PUT', `/job-candidates/${(await inJob(two.id)).id}/stage`, { stageId: next.id });
  const found = async (query: string) => (await sandbox.api('GET', `/candidates/list?${query}`)).body.data.length;
  expect(await found(`jobIds=${one.id}&stageIds=${first.id}`)).toBe(1);
  expect(await found(`jobIds=${two.id}&stageIds=${next.id}`)).toBe(1);
  expect(await found(`jobIds=${one.id}&stageIds=${next.id}`)).toBe(0);
});
