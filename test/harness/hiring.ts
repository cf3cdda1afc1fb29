import { type Applicant, until, type World, writtenBack } from './world.ts';

/** People to hire, each another person. Throws when the pool is too small. */
export async function takeApplicants(world: World, count: number): Promise<Applicant[]> {
  const people = new Map((await world.applicants()).map((one) => [one.candidateId, one]));
  const taken = [...people.values()].slice(0, count);
  if (taken.length < count) throw new Error(`The sandbox has ${taken.length} people to hire, not ${count}`);
  return taken;
}

/** Moves people into HIRED while the partner has no webhook address: nobody is told. */
export async function hireSilently(world: World, people: readonly Applicant[]): Promise<void> {
  await world.control.act('setWebhook', { url: null });
  await world.control.act('move', { jobCandidateIds: people.map((one) => one.jobCandidateId), stageType: 'HIRED' });
}

/** The partner delivers its own events again. */
export async function deliverEvents(world: World): Promise<void> {
  await world.control.act('setWebhook', { url: world.webhookUrl });
}

/** No hire starts before the baseline: what is hired earlier would belong to it. */
export async function untilBaseline(world: World): Promise<void> {
  await until('the baseline is complete', async () => (await readStatus(world)).baseline === 'done');
}

export interface TenantStatus {
  baseline: string;
  hires: Partial<Record<string, number>>;
  inbox: { counts: Partial<Record<string, number>> };
}

/** What `hirebridge status` shows of the world's tenant. Only for waiting: the judge is elsewhere. */
export async function readStatus(world: World): Promise<TenantStatus> {
  const { stdout, stderr } = await world.cli(['status', '--json']);
  const [tenant] = (JSON.parse(stdout === '' ? '{}' : stdout) as { tenants?: TenantStatus[] }).tenants ?? [];
  if (tenant === undefined) throw new Error(`status shows no tenant: ${stderr}`);
  return tenant;
}

/**
 * Plays the onboardings of whoever is enrolled until so many Employee IDs are back and every hire of the store is done.
 */
export async function untilHired(world: World, count: number, { timeoutMs = 60_000 } = {}): Promise<void> {
  const whole = { timeoutMs, everyMs: 500 };
  const seen = { written: 0 };
  await until(
    `${count} Employee IDs written back`,
    async () => {
      await world.finishOnboardings();
      seen.written = (await writtenBack(world)).size;
      return seen.written >= count;
    },
    whole,
  ).catch((error: Error) => {
    throw new Error(`${error.message}; ${seen.written} came back`);
  });
  await until(
    'every hire done and the inbox empty',
    async () => {
      const { hires, inbox } = await readStatus(world);
      return (hires['open'] ?? 0) === 0 && (inbox.counts['waiting'] ?? 0) === 0;
    },
    whole,
  );
}
