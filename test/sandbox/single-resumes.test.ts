import { expect, test } from 'vitest';
import { readLedger } from '../../src/sandbox/records/ledger.ts';
import { openDashboard } from './open-dashboard.ts';
import type { Json } from './open-sandbox.ts';

const resume = (name: string) => `https://files.example.com/${name}`;

function open() {
  const sandbox = openDashboard();
  const add = (body: object): number => sandbox.api('POST', '/candidates', body).data.id;
  const told = () =>
    readLedger(sandbox.state, { kind: 'event' })
      .filter(({ name }) => name.startsWith('resume.') || name === 'candidate.updated')
      .map(({ name, detail }) => [name, detail]);
  const credits = (): number => sandbox.does('showCompany', {}).credits;
  return { ...sandbox, add, told, credits };
}

test('the resume of an added candidate is parsed by itself: completed, or failed when it is no document', () => {
  const { add, later, told, credits } = open();
  const before = credits();
  const good = add({ email: 'a@example.com', resume: resume('a.pdf') });
  const bad = add({ email: 'b@example.com', resume: resume('b.png') });
  later();
  expect(told()).toEqual([
    ['resume.single_parse.completed', { candidateId: good }],
    ['resume.single_parse.failed', { candidateId: bad, error: 'UNSUPPORTED_FILE_TYPE' }],
  ]);
  expect(credits()).toBe(before - 1);
});

test('a parsed resume fills education, work experience and skills, and leaves what was sent', () => {
  const { api, add, later, told } = open();
  const skills = ['Falconry'];
  const [sent, silent] = [{ email: 'a@example.com', skills }, { email: 'b@example.com' }].map((body) =>
    add({ ...body, resume: resume('ada-lovelace.pdf') }),
  );
  const { batchId } = api('POST', '/candidates/bulk/resume', { resumeURLs: [resume('ada-lovelace.pdf')] }).data;
  later();
  const whole = api('GET', `/candidates/batch/${batchId}`).data.candidates[0];
  const [first, second] = [sent, silent].map((id) => api('GET', `/candidates/${id}`).data);
  expect([first.skills, first.email, first.phone]).toEqual([skills, 'a@example.com', null]);
  expect([second.skills, second.currentJobTitle]).toEqual([whole.skills, whole.currentJobTitle]);
  const entries = (list: Json[]) => list.map(({ id: _own, ...entry }) => entry);
  for (const field of ['educations', 'workExperiences'])
    expect(entries(first[field]), field).toEqual(entries(whole[field]));
  expect(first.workExperiences[0].id).toEqual(expect.any(Number));
  expect(told().filter(([name]) => name === 'candidate.updated')).toEqual([]);
});

test('the resume of a hosted applicant is parsed for a credit; without one it fails, the application stands', () => {
  const { api, does, later, told } = open();
  const apply = (email: string): number => does('apply', { jobId: 50_001, candidate: { email } }).candidateId;
  const candidateId = apply('a@example.com');
  later();
  const read = api('GET', `/candidates/${candidateId}`).data;
  expect([read.educations.length, read.workExperiences.length > 0, read.skills.length > 0]).toEqual([1, true, true]);
  does('setCredits', { credits: 0 });
  const poor = apply('b@example.com');
  later();
  expect(told()).toEqual([
    ['resume.single_parse.completed', { candidateId }],
    ['resume.single_parse.failed', { candidateId: poor, error: 'INSUFFICIENT_CREDITS' }],
  ]);
  expect(api('GET', `/candidates/${poor}`).data.educations).toEqual([]);
});
