import { expect, test } from 'vitest';
import { fieldTypes } from '../../src/partner/contract/custom-fields.ts';
import { openFile } from '../../src/sandbox/server.ts';
import { openDashboard } from './open-dashboard.ts';
import type { Json } from './open-sandbox.ts';
import { textOfPdf } from './read-pdf.ts';

const YEAR_MS = 365 * 86_400_000;
const busy = { jobs: 8, candidates: 200, hired: 5 };

/** How often each value of a field occurs. */
function countBy(list: readonly Json[], key: (one: Json) => unknown): Record<string, number> {
  const groups = Map.groupBy(list, (one) => String(key(one)));
  return Object.fromEntries([...groups].map(([name, all]) => [name, all.length]));
}

function open() {
  const sandbox = openDashboard(busy);
  const inStage = (type: string): Json[] =>
    sandbox.api('GET', `/job-candidates/stage?stageType=${type}&perPage=100`).data;
  const pdf = (url: string): string[] => {
    const { pathname, search } = new URL(url);
    const answered = openFile(sandbox.state, 'GET', pathname + search);
    expect(answered?.status).toBe(200);
    return textOfPdf(Buffer.from(answered?.body ?? '', 'latin1'));
  };
  return { ...sandbox, inStage, pdf };
}

test('most applicants of a busy company have an application with their consent, and many a score', () => {
  const { api, inStage } = open();
  const applied = inStage('APPLIED').map((one) => one.jobCandidateDetails.id);
  const records = applied.map((id) => api('GET', `/job-candidates/${id}/application`));
  const consents = records.filter((one) => one.data?.consent);
  expect(applied.length).toBeGreaterThan(20);
  expect(consents.length / applied.length).toBeGreaterThan(0.6);
  expect(countBy(records, (one) => one.error?.code)).toHaveProperty('NO_APPLICATION');
  expect(consents[0].data).toMatchObject({
    noticePeriod: expect.any(String),
    screeningQuestionAnswer: expect.any(Array),
  });
  const scored = inStage('SHORTLISTED').filter((one) => one.jobCandidateDetails.profileMatchScore !== null);
  expect(scored[0].jobCandidateDetails).toMatchObject({
    criteriaMatches: expect.any(Object),
    aiSummary: expect.any(String),
  });
});

test('resumes of a busy company are PDFs that tell what the profile does, of profile and application', () => {
  const { api, inStage, pdf } = open();
  const people: Json[] = api('GET', '/candidates/list?perPage=100').data;
  const own = people.filter(({ resume }) => resume !== null);
  expect([own.length > 50, own.length < 100]).toEqual([true, true]);
  const [first] = own;
  expect(pdf(first.resume)).toEqual(expect.arrayContaining([first.email, 'Experience', 'Education', 'Skills']));
  expect(pdf(api('GET', `/candidates/${first.id}`).data.resume)).toContain(first.summary);
  const urls = inStage('APPLIED')
    .map((one) => api('GET', `/job-candidates/${one.jobCandidateDetails.id}/application`).data?.resumeUrl)
    .filter((url) => typeof url === 'string');
  expect(pdf(urls.at(-1) ?? '')).toEqual(
    expect.arrayContaining([expect.stringContaining('Sent in for'), 'Experience']),
  );
});

test('an edited profile keeps the resume that the sandbox draws', () => {
  const { api, pdf } = open();
  const own = api('GET', '/candidates/list?perPage=100').data.find((one: Json) => one.resume !== null);
  const { data } = api('PATCH', `/candidates/${own.id}`, { summary: 'Now a baker.' });
  expect(pdf(data.resume)).toContain('Now a baker.');
  expect(api('POST', '/candidates/bulk-fetch', { candidateIds: [own.id] }).data[0].resume).toMatch(/^http.*signature=/);
});

test('a busy company has custom fields of every type with values, one of them on a work experience', () => {
  const { api } = open();
  const fields: Json[] = api('GET', '/custom-fields').data;
  for (const entityType of ['candidate', 'job'])
    expect(new Set(fields.filter((one) => one.entityType === entityType).map((one) => one.fieldType))).toEqual(
      new Set(fieldTypes),
    );
  const [person] = api('GET', '/candidates/list').data;
  const values: Json[] = api('GET', `/custom-field-values?entityType=candidate&entityId=${person.id}`).data;
  expect(values.length).toBeGreaterThan(3);
  const nested = values.find((one) => one.parentEntityType === 'work_experience');
  expect(nested.parentEntityId).toBe(String(person.workExperiences[0].id));
  const [job] = api('GET', '/jobs').jobs;
  expect(Object.values(job.customFields).filter((one: Json) => one.value !== '').length).toBeGreaterThan(3);
});

test('people and jobs of a busy company came over two years, and some jobs are drafts or closed', () => {
  const { api, state } = open();
  const { jobs } = api('GET', '/jobs');
  expect(Object.keys(countBy(jobs, (one) => one.status)).toSorted()).toEqual(['ACTIVE', 'DRAFT', 'INACTIVE']);
  const rows = state.all<Json>(
    'select j.created_at as opened, c.created_at as came, p.added_at as added from job_candidates p ' +
      'join jobs j on j.id = p.job_id join candidates c on c.id = p.candidate_id ' +
      "join stages s on s.id = p.stage_id where s.type <> 'HIRED'",
  );
  expect(rows.every(({ opened, added }) => opened <= added)).toBe(true);
  const came = rows.map((row) => row.came as number);
  expect((Math.max(...came) - Math.min(...came)) / YEAR_MS).toBeGreaterThan(1.9);
});

test('interviews, bookings, campaigns and offers of a busy company stand in every state', () => {
  const { api, state } = open();
  const submissions = state.all<Json>('select status, scored_at is not null as scored from submissions');
  expect(Object.keys(countBy(submissions, (one) => `${one.status} ${one.scored}`)).toSorted()).toEqual([
    'COMPLETED 0',
    'COMPLETED 1',
    'IN_PROGRESS 0',
    'PAUSED 0',
    'TIMED_OUT 0',
    'TIMED_OUT 1',
  ]);
  const bookings = api('GET', '/bookings').data;
  expect(Object.keys(countBy(bookings, (one) => one.attendance)).toSorted()).toEqual(['CHECKED_IN', 'NO_SHOW', 'null']);
  expect(bookings.some((one: Json) => Date.parse(one.scheduledStartAt) > state.clock.now())).toBe(true);
  const { campaigns } = api('GET', '/campaigns');
  expect(countBy(campaigns, (one) => one.status)).toEqual({ RUNNING: 1, COMPLETED: 1, PAUSED: 1, DRAFT: 1 });
  const running = campaigns.find((one: Json) => one.status === 'RUNNING');
  const { leads } = api('GET', `/campaigns/${running.id}/leads`);
  expect(Object.keys(countBy(leads, (one) => one.status))).toHaveLength(4);
  const { offers } = api('GET', '/onboarding/offers?limit=100').data;
  expect(Object.keys(countBy(offers, (one) => one.status)).toSorted()).toEqual(['completed', 'draft', 'in_progress']);
  expect(offers.some((one: Json) => one.signers[0].status === 'opened')).toBe(true);
});

test('the same seed makes the same company, without a ledger row or an event', () => {
  const shown = ({ api, state }: ReturnType<typeof openDashboard>) => [
    state.all('select id, created_at, body from candidates order by id'),
    state.all('select id, stage_id, score, application from job_candidates order by id'),
    state.all('select custom_field_id, entity_id, value from custom_field_values order by id'),
    api('GET', '/bookings').data,
    api('GET', '/campaigns').campaigns,
  ];
  const [one, other] = [openDashboard(busy), openDashboard(busy)];
  expect(shown(one)).toEqual(shown(other));
  expect(one.events()).toEqual({});
});

test('who there is, in which job and stage, does not depend on how much else there is', () => {
  const placed = (candidates: number) => {
    const { state } = openDashboard({ jobs: 3, candidates, hired: 4 });
    const rows = state.all<Json>(
      'select p.id, c.email, p.job_id as job, p.stage_id as stage from job_candidates p ' +
        'join candidates c on c.id = p.candidate_id order by p.id',
    );
    return rows.slice(0, 29);
  };
  expect(placed(30)).toEqual(placed(29).slice(0, 29));
});
