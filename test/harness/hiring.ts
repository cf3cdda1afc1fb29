import { readTenant, type TenantStatus } from './read-store.ts';
import { type Applicant, type TenantWorld, until, writtenBack } from './world.ts';

/** People to hire, each another person. Throws when the pool is too small. */
export async function takeApplicants(world: TenantWorld, count: number): Promise<Applicant[]> {
  const people = new Map((await world.applicants()).map((one) => [one.candidateId, one]));
  const taken = [...people.values()].slice(0, count);
  if (taken.length < count) throw new Error(`The sandbox has ${taken.length} people to hire, not ${count}`);
  return taken;
}

/** Moves people into HIRED while the partner has no webhook address: nobody is told. */
export async function hireSilently(world: TenantWorld, people: readonly Applicant[]): Promise<void> {
  await world.control.act('setWebhook', { url: null });
  await world.control.act('move', { jobCandidateIds: people.map((one) => one.jobCandidateId), stageType: 'HIRED' });
}

/** The partner delivers its own events again. */
export async function deliverEvents(world: TenantWorld): Promise<void> {
  await world.control.act('setWebhook', { url: world.webhookUrl });
}

/** No hire starts before the baseline: what is hired earlier would belong to it. */
export async function untilBaseline(world: TenantWorld): Promise<void> {
  await until('the baseline is complete', async () => (await readStatus(world)).baseline === 'done');
}

/** Where the world's tenant stands, by its store. Only for waiting: the judge is elsewhere. */
export function readStatus({ storeUrl, tenant }: TenantWorld): Promise<TenantStatus> {
  return readTenant(storeUrl, tenant);
}

/**
 * Plays the onboardings of whoever is enrolled until so many Employee IDs are back and every hire of the store is done.
 */
export async function untilHired(world: TenantWorld, count: number, { timeoutMs = 120_000 } = {}): Promise<void> {
  const whole = { timeoutMs, everyMs: 500 };
  await until(
    `${count} Employee IDs written back`,
    async () => {
      await world.finishOnboardings();
      return (await writtenBack(world)).size >= count;
    },
    { ...whole, instead: async () => ({ writtenBack: (await writtenBack(world)).size }) },
  );
  await until(
    'every hire done and the inbox empty',
    async () => {
      const { hires, inbox } = await readStatus(world);
      return (hires['open'] ?? 0) === 0 && (inbox['waiting'] ?? 0) === 0;
    },
    whole,
  );
}
