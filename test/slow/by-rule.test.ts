import { DatabaseSync } from 'node:sqlite';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { contract } from '../../src/partner/contract/index.ts';
import { scratchDir, startCli } from '../cli/cli-process.ts';
import { changeTenant, joinFleet } from '../harness/fleet.ts';
import { temporalForTests } from '../harness/temporal.ts';
import { until } from '../harness/world.ts';
import { finishStep } from '../sandbox/open-flow.ts';

const PDF = 'https://files.example.com/one.pdf';

/** What a tenant's file has for the streams that this plays. */
function settings({ job, assessment, flow, campaign, field }: Record<string, string>): string {
  return `streams:
  applications: { every: 1h }
  invitations: { every: 3s }
  sourcing: { every: 3s }
  calendar: { every: 3s }
  resumes: { every: 3s }
  rescoring: { every: 1h }
invitations:
  rules:
    - { on: { stage: ASSESSMENT }, assessment: "${assessment}" }
    - { on: { stage: SCREEN }, flow: ${flow}, moveTo: SHORTLISTED }
sourcing: { rules: [{ on: { campaign: "${campaign}" }, job: "${job}" }], consent: { customField: "${field}" } }
`;
}

const isWhole = process.env['RECRUITING_SEEDS'] !== undefined;
beforeEach(({ skip }) => skip(!isWhole, 'it takes a while: npm run test:recruiting plays it'));

test('the story of one person ends with every judge of one mind', async () => {
  const { cliPath } = await temporalForTests();
  const data = await scratchDir();
  const demo = startCli(['demo', '--story', 'recruiting', '--data', data], { TEMPORAL_CLI_PATH: cliPath });
  await expect.poll(() => demo.out.stdout, { timeout: 500_000, interval: 200 }).toContain('Stays until Ctrl-C');
  demo.child.kill('SIGINT');
  expect(await demo.exited).toMatchObject({ code: 0 });
  expect(demo.out.stdout.match(/ yes +$/gm)).toHaveLength(11);
  expect(demo.out.stdout).not.toMatch(/ NO +$/m);
});

test('schedules, webhooks and commands of a fleet have each rule followed once', async () => {
  const world = await joinFleet({ jobs: 1, candidates: 10 });
  onTestFinished(world.close);
  const { control, partner, tenant } = world;
  const hris = new DatabaseSync(world.hrisUrl.slice('sqlite:'.length), { timeout: 10_000 });
  onTestFinished(() => hris.close());
  hris.exec('create table files (id text primary key, job text, url text)');
  const [job] = (await partner.readAll(contract.jobs.list)).items;
  const jobId = Number(job?.id);
  const { assessmentId } = (await control.act('createAssessment', { title: 'Interview' })) as { assessmentId: string };
  const [interview, screening] = [assessmentId, await newAssessment(world)];
  const steps = [{ assessmentId: screening }];
  const flow = Number((await partner.assessmentFlows.create({ body: { flowName: 'Screening', steps } })).data.id);
  const { campaignId, field } = await campaignOf(world);
  const about = { job: String(jobId), assessment: interview, flow: String(flow), campaign: String(campaignId), field };
  await changeTenant(world, (text) => {
    return `${text.replace('hris:\n', 'hris:\n  resumes: { table: files }\n')}${settings(about)}`;
  });
  const before = (await applicationsOf(world)).length;

  // Webhooks come twice and in any order.
  const faults = [{ kind: 'webhook-duplicated' as const }, { kind: 'webhook-reordered' as const, ms: 500 }];
  await control.act('setFaults', { faults });
  const people = (await world.applicants()).slice(0, 6).map(({ jobCandidateId }) => jobCandidateId);
  for (const [n, one] of people.entries())
    await control.act('move', { jobCandidateIds: [one], stageType: n % 2 === 0 ? 'ASSESSMENT' : 'SCREEN' });
  // With those who stood there before.
  const [invited, assigned] = [await standingIn(world, 'ASSESSMENT'), await standingIn(world, 'SCREEN')];
  const entries = async () => {
    const { items } = await partner.readAll(contract.assessmentFlows.listCandidates, { params: { id: flow } });
    return new Map(items.map((one) => [Number(one['jobCandidateId']), Number(one.flowCandidateId)]));
  };
  await until('they are in the flow', async () => (await entries()).size === assigned.length);
  for (const flowCandidateId of (await entries()).values()) await finishStep(control, flowCandidateId, 90);
  await partner.campaigns.addLeads({
    params: { campaignId },
    body: {
      leads: [
        { firstName: 'Lea', email: 'lea@example.com', phone: '+442079461111', consentAt: '2026-11-01T10:00:00Z' },
      ],
    },
  });
  hris.prepare('insert into files (id, job, url) values (?, ?, ?)').run('one', String(jobId), PDF);
  const { bookingScheduleId, startsAt } = await bookedSlot(world, people[0] ?? 0);

  const moves = async () =>
    (await control.ledger({ kind: 'effect', name: 'stage-move' })).filter(
      ({ detail }) => detail['type'] === 'SHORTLISTED',
    );
  await until('they went on to the next stage', async () => (await moves()).length === assigned.length);
  await until('the lead and the file are candidates of the job', async () => {
    return (await applicationsOf(world)).length === before + 2;
  });
  const invitations = async () =>
    (await control.ledger({ kind: 'effect', name: 'invite' })).filter(
      ({ detail }) => detail['assessmentId'] === interview,
    );
  await until('they are invited', async () => (await invitations()).length === invited.length);

  const made = await world.cli(['calendar', 'make', tenant, '--schedule', bookingScheduleId, '--json']);
  const { address } = JSON.parse(made.stdout) as { address: string };
  const feed = async () => (await fetch(new URL(new URL(address).pathname, world.webhookUrl))).text();
  const day = startsAt.replaceAll(/[-:]|\.\d+/g, '');
  await until('the calendar has the slot', async () => (await feed()).includes(`DTSTART:${day}`));

  await until('applications have landed', async () => landedScores(hris).size > 0);
  const asked = await world.cli(['sync', tenant, 'rescoring', '--one', String(jobId)]);
  expect(asked.code, asked.stderr).toBe(0);
  await until('new scores have landed', async () => {
    const { items } = await partner.readAll(contract.jobCandidates.listByJob, { params: { jobId } });
    const landed = landedScores(hris);
    return items.every((one) => landed.get(String(one['id'])) === Number(one['profileMatchScore'] ?? 0));
  });
  expect(await control.ledger({ kind: 'effect', name: 'rescore' })).toHaveLength(1);

  // Another pass of each, asked for by a person, does nothing more.
  for (const stream of ['invitations', 'sourcing', 'resumes', 'calendar'])
    expect((await world.cli(['sync', tenant, stream])).code, stream).toBe(0);
  expect((await moves()).map(({ subject }) => Number(subject)).toSorted()).toEqual(assigned.toSorted());
  expect(await invitations()).toHaveLength(invited.length);
  expect((await control.ledger({ kind: 'effect', name: 'flow-assignment' })).length).toBe(assigned.length);
  expect(await applicationsOf(world)).toHaveLength(before + 2);
  expect(await control.ledger({ kind: 'effect', name: 'resume-batch' })).toHaveLength(1);
});

async function standingIn({ partner }: World, stageType: 'ASSESSMENT' | 'SCREEN'): Promise<number[]> {
  const { items } = await partner.readAll(contract.jobCandidates.listByStageType, { query: { stageType } });
  return items.map(({ jobCandidateDetails }) => Number(jobCandidateDetails.id));
}

type World = Awaited<ReturnType<typeof joinFleet>>;

async function newAssessment({ control }: World): Promise<string> {
  return String(
    ((await control.act('createAssessment', { title: 'Screening' })) as { assessmentId: string }).assessmentId,
  );
}

async function campaignOf({ control, partner }: World): Promise<{ campaignId: number; field: string }> {
  const site = (await control.act('createSite', { name: 'London' })) as { id: number };
  const phoneNumber = '+442079460000';
  await control.act('verifyNumber', { phoneNumber });
  const { campaign } = await partner.campaigns.create({
    body: {
      title: 'Reminder',
      openingMessage: 'Hello',
      closingMessage: 'Bye',
      timezone: 'Europe/London',
      phoneNumber,
      companySiteId: site.id,
      purposeType: 'ASSESSMENT_REMINDER',
    },
  });
  const consent = { entityType: 'candidate', fieldLabel: 'Consent', fieldType: 'date' } as const;
  return {
    campaignId: Number(campaign.id),
    field: String((await partner.customFields.create({ body: consent })).data.id),
  };
}

async function bookedSlot({ control, partner }: World, jobCandidateId: number) {
  const { id } = await control.act('createBookingSchedule', { timezone: 'Europe/London' });
  const day = (n: number) => new Date(Date.now() + n * 86_400_000).toISOString().slice(0, 10);
  const input = { params: { bookingScheduleId: String(id) }, query: { from: day(1), to: day(15) } };
  const [slot] = (await partner.readAll(contract.bookingSchedules.listSlots, input)).items;
  const scheduledStartAt = String(slot?.startAt);
  await control.act('book', { bookingScheduleId: String(id), entityId: String(jobCandidateId), scheduledStartAt });
  return { bookingScheduleId: String(id), startsAt: scheduledStartAt };
}

async function applicationsOf({ partner }: World) {
  const [job] = (await partner.readAll(contract.jobs.list)).items;
  return (await partner.readAll(contract.jobCandidates.listByJob, { params: { jobId: Number(job?.id) } })).items;
}

function landedScores(hris: DatabaseSync): Map<string, number> {
  const rows = hris.prepare('select partner_id, profile_match_score from partner_applications').all();
  return new Map(rows.map((row) => [String(row['partner_id']), Number(row['profile_match_score'] ?? 0)]));
}
