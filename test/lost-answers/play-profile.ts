import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { takeApplicants, untilBaseline } from '../harness/hiring.ts';
import { shortWaits } from '../harness/short-waits.ts';
import { startWorld, type World, writtenBack } from '../harness/world.ts';
import { startTcpProxy, type TcpProxy } from '../hris/tcp-proxy.ts';
import { arm, type Hire, noteStrikes } from './arm.ts';
import { casesOf, type LostAnswer, type Profile } from './cases.ts';
import { type Judged, judge } from './judge.ts';
import { answerHolds } from './person.ts';
import { openRecords, type Records } from './records.ts';

export interface Outcome {
  profile: string;
  one: LostAnswer;
  expected: Judged;
  seen: Judged;
  /** What the other side made of the struck call; undefined when the fault never struck, and then nothing was shown. */
  struck: string | undefined;
}

export interface Play {
  profile: Profile;
  temporalAddress: string;
  /** An empty Postgres database. */
  databaseUrl: string;
  /** How late "late" is at most. */
  lateMs: number;
  timeoutMs: number;
}

/** Plays every case of one profile at once, each on a person of its own, in one world of real processes. */
export async function playProfile(play: Play): Promise<Outcome[]> {
  const { profile, temporalAddress, databaseUrl, lateMs } = play;
  const cases = casesOf(profile, lateMs);
  const proxy = await startTcpProxy(databaseUrl);
  const world = await startWorld({
    temporalAddress,
    candidates: cases.length + 6,
    env: shortWaits,
    hris: profile.hris,
    hrisUrl: databaseUrl,
    hrisProxyUrl: proxy.url,
  });
  try {
    const customFieldId = await writeBackEmail(world, profile);
    await Promise.all([world.startReceiver(), world.startWorker()]);
    await untilBaseline(world);
    const hires = await hireAll(world, proxy, cases);
    const records = openRecords(world.storeUrl);
    const judged = await followToTheEnd(world, proxy, hires, records, play.timeoutMs)
      .then(() => judge(world, hires, customFieldId, records))
      .finally(() => records.close());
    return hires.map(({ one, struck }, place) => {
      const expected = { enrolments: 1, credits: 1, employees: 1, holds: profile.holds(one), verified: true };
      return { profile: profile.name, one, expected, seen: judged[place] ?? expected, struck };
    });
  } finally {
    await world.close();
    await proxy.close();
  }
}

export function isAsExpected({ expected, seen, struck }: Outcome): boolean {
  return struck !== undefined && JSON.stringify(expected) === JSON.stringify(seen);
}

/** The tenant also writes the employee's e-mail, as the HRIS has it, into a custom field. */
async function writeBackEmail(world: World, { mapping }: Profile): Promise<string> {
  const { data } = await world.partner.customFields.create({
    body: { entityType: 'candidate', fieldLabel: 'HR e-mail', fieldType: 'text', parentSection: 'Miscellaneous' },
  });
  const id = String(data.id);
  const file = join(world.tenantsDir, 'acme.yaml');
  let text = `${await readFile(file, 'utf8')}writeBack:\n  values: [{ customFieldId: "${id}", field: email }]\n`;
  if (mapping !== undefined) {
    await writeFile(join(world.tenantsDir, 'mapping.yaml'), mapping);
    text += 'mapping: mapping.yaml\n';
  }
  await writeFile(file, text);
  return id;
}

async function hireAll(world: World, proxy: TcpProxy, cases: readonly LostAnswer[]): Promise<Hire[]> {
  const people = await takeApplicants(world, cases.length);
  const hires = await Promise.all(
    people.map(async (applicant, place): Promise<Hire> => {
      const { data } = await world.partner.candidates.get({ params: { candidateId: applicant.candidateId } });
      return { one: cases[place]!, applicant, email: String(data.email) };
    }),
  );
  for (const hire of hires) if (hire.one.verb !== 'external-status') await arm(world, proxy, hire);
  const jobCandidateIds = people.map((applicant) => applicant.jobCandidateId);
  await world.control.act('move', { jobCandidateIds, stageType: 'HIRED' });
  return hires;
}

/** Plays the partner's and the customer's people until every hire is done and everything late has arrived. */
async function followToTheEnd(
  world: World,
  proxy: TcpProxy,
  hires: readonly Hire[],
  records: Records,
  timeoutMs: number,
): Promise<void> {
  const end = performance.now() + timeoutMs;
  const answered = new Set<string>();
  for (;;) {
    await onboard(world, proxy, hires);
    await noteStrikes(world, hires);
    await answerHolds(world, records, hires, answered);
    const written = await writtenBack(world);
    const missing = hires.filter(
      ({ applicant, struck }) => struck === undefined || !written.has(String(applicant.jobCandidateId)),
    );
    if (missing.length === 0 && (await records.openHires()) === 0) return;
    // The table says what is missing.
    if (performance.now() > end) return;
    await pause(250);
  }
}

/**
 * Finishes each onboarding once its faults are armed. A late enrolment is waited for: real onboardings last for days,
 * not seconds.
 */
async function onboard(world: World, proxy: TcpProxy, hires: readonly Hire[]): Promise<void> {
  const enrolments = new Map(
    (await world.effects('enrolment')).map((row) => [String(row.detail['externalRef']).split(':')[1], row.subject]),
  );
  for (const hire of hires) {
    const subject = enrolments.get(String(hire.applicant.jobCandidateId));
    if (subject === undefined || hire.onboarded === true) continue;
    const { verb, timing } = hire.one;
    const first = hire.onboardingCandidateId === undefined;
    hire.onboardingCandidateId = String(subject);
    if (first && verb === 'external-status') await arm(world, proxy, hire);
    if (verb === 'enrol' && timing === 'executed late' && hire.struck === undefined) continue;
    await world.control.act('finishOnboarding', { onboardingCandidateId: hire.onboardingCandidateId });
    hire.onboarded = true;
  }
}
