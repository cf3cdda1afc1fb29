import { expect } from 'vitest';
import { createControlClient } from '../../../src/sandbox/control/client.ts';
import type { LimitFact } from '../../contract/facts/limit-fact.ts';
import { limitFacts } from '../../contract/facts.ts';
import { newSchedule } from './booking.ts';
import { newEnrolment } from './records.ts';
import { startSandboxProcess, type World } from './world.ts';

/** Section 8: the first cell of a row to the facts that hold it, or to a test of its own where no request body does. */
export const section8: Record<string, readonly LimitFact[] | ((world: World) => Promise<void>)> = {
  'perPage options': facts('perPage options', 'stage candidates perPage'),
  'Users perPage': facts('users perPage'),
  'Onboarding flows limit': facts('onboarding flows limit'),
  'Campaigns limit': facts('campaigns limit'),
  'Flow candidates pageSize': facts('flow candidates page size'),
  'Candidates list page index': facts('candidates list page index'),
  'Resume URLs per request': facts('resume URLs per request', 'resume URLs per request of a job'),
  'Bulk fetch ids': facts('bulk fetch ids of candidates', 'bulk fetch ids of job candidates'),
  Rescore: facts('rescore'),
  'Bulk assessment invites': facts('bulk assessment invites'),
  'Bulk onboarding enrollment': facts('bulk onboarding enrollment'),
  externalRef: facts('externalRef of an invite', 'externalRef of an enrollment'),
  'Job title': facts('job title and places'),
  'Screening questions': facts('screening questions'),
  Salary: facts('salary'),
  Assessment: facts('audio interview', 'auto-generate'),
  'Flow step passThreshold': facts('flow step passThreshold'),
  'Location photos': fivePhotos,
  'Journey uploads': journeyUploads,
  'Campaign title': facts('campaign title and keys'),
  'Rate limiting': rateOfACompany,
};

function facts(...whats: string[]): LimitFact[] {
  const found = limitFacts.filter(({ what }) => whats.includes(what));
  if (new Set(found.map(({ what }) => what)).size !== whats.length) throw new Error(`no fact ${whats.join(', ')}`);
  return found;
}

async function fivePhotos(world: World): Promise<void> {
  const photos = (count: number) =>
    Array.from({ length: count }, (_, n) => `https://files.example.com/${String(n)}.jpg`);
  const place = (count: number) => ({
    scheduleProfile: 'EVENT' as const,
    locations: [{ type: 'in_person' as const, label: 'Clinic', photoUrls: photos(count) }],
  });
  await expect(newSchedule(world, place(6))).rejects.toMatchObject({ status: 400 });
  const params = await newSchedule(world, place(5));
  const { data } = await world.partner.bookingSchedules.listLocations({ params });
  expect(data).toMatchObject([{ photoUrls: photos(5) }]);
}

/** The candidate's side, which only the control plane plays. */
async function journeyUploads(world: World): Promise<void> {
  const { onboardingCandidateId } = await newEnrolment(world);
  const files = (count: number, bytes: number) =>
    Array.from({ length: count }, (_, n) => ({ name: `${String(n)}.pdf`, bytes }));
  const upload = (count: number, bytes: number) =>
    world.control.act('uploadDocuments', { onboardingCandidateId, files: files(count, bytes) });
  const TEN_MB = 10 * 1024 * 1024;
  await expect(upload(31, 1)).rejects.toMatchObject({ status: 400 });
  await expect(upload(1, TEN_MB + 1)).rejects.toMatchObject({ status: 400 });
  expect((await upload(30, TEN_MB)).documents).toHaveLength(30);
}

/** Numbers are not shown; that the limit is the company's is: a second company is served meanwhile. */
async function rateOfACompany(): Promise<void> {
  const [own, other] = ['a', 'b'].map((letter) => `sk_test_${letter.repeat(22)}`) as [string, string];
  const flags = { port: 0, 'control-port': 0, key: own, 'other-key': other, limit: 'token:1:3' };
  const { child, facts: at } = await startSandboxProcess(flags);
  try {
    const ask = async (key: string) =>
      (await fetch(`${at['partner'] ?? ''}/teams`, { headers: { authorization: `Bearer ${key}` } })).status;
    const statuses = await Promise.all(Array.from({ length: 8 }, () => ask(own)));
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(3);
    expect(statuses).toContain(429);
    expect(await ask(other)).toBe(200);
    const counts = await createControlClient(at['control'] ?? '').ledger({ kind: 'request', status: 429 });
    expect(counts.length).toBe(statuses.filter((status) => status === 429).length);
  } finally {
    child.kill('SIGKILL');
  }
}
