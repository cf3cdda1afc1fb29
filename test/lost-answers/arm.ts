import type { Fault } from '../../src/sandbox/faults.ts';
import type { Applicant, World } from '../harness/world.ts';
import type { TcpProxy, WireFault } from '../hris/tcp-proxy.ts';
import type { LostAnswer, Timing } from './cases.ts';

/** One person, hired for one case. */
export interface Hire {
  one: LostAnswer;
  applicant: Applicant;
  email: string;
  onboardingCandidateId?: string;
  onboarded?: boolean;
  /** What the other side made of the call that was struck; undefined until then. */
  struck?: string;
}

const kinds = {
  'before execution': 'reset-before',
  'executed, answer lost': 'answer-lost',
  'executed late': 'executed-late',
} as const satisfies Record<Timing, Fault['kind'] & WireFault['kind']>;

/** The partner call of each verb, and what names this hire in it. */
const calls = {
  enrol: ({ applicant }: Hire) => ({ on: 'onboarding.enrol', holding: `"hirebridge:${applicant.jobCandidateId}:1"` }),
  'external-status': ({ onboardingCandidateId }: Hire) => ({
    on: 'onboarding.setExternalStatus',
    holding: `/${onboardingCandidateId}/`,
  }),
  'custom field': ({ applicant }: Hire) => ({
    on: 'customFieldValues.upsertBulk',
    holding: `"entityId":"${applicant.candidateId}"`,
  }),
};

/**
 * Arms the hire's one fault. It must be called before the call leaves, and for external-status once the enrolment is
 * known.
 */
export async function arm(world: World, proxy: TcpProxy, hire: Hire): Promise<void> {
  const { verb, timing, ms, lastBytes } = hire.one;
  const late = ms === undefined ? {} : { ms };
  if (verb === 'create employee') {
    const part = lastBytes === undefined ? {} : { lastBytes };
    const holding = ['insert into', hire.email];
    void proxy.strike({ kind: kinds[timing], holding, ...late, ...part }).then((verdict) => (hire.struck = verdict));
    return;
  }
  await world.control.act('addFault', { kind: kinds[timing], times: 1, ...late, ...calls[verb](hire) });
}

/** Notes which partner faults struck, and for the late ones that they have been carried out since. */
export async function noteStrikes(world: World, hires: readonly Hire[]): Promise<void> {
  const answer = await fetch(`${world.sandbox.controlUrl}/faults`);
  const { faults } = (await answer.json()) as { faults: (Fault & { struck: number })[] };
  const late = await world.control.ledger({ kind: 'request', fault: 'executed-late' });
  for (const hire of hires) {
    const { verb, timing } = hire.one;
    if (verb === 'create employee' || hire.struck !== undefined) continue;
    const { on, holding } = calls[verb](hire);
    const fault = faults.find((armed) => armed.on === on && armed.holding === holding);
    if (fault?.struck !== 1) continue;
    // The ledger names no record, so one late call counts once all late calls of its kind are in.
    const expected = hires.filter((other) => other.one.verb === verb && other.one.timing === timing);
    const carriedOut = late.filter((row) => row.name === on);
    if (timing !== 'executed late') hire.struck = timing;
    else if (carriedOut.length === expected.length) hire.struck = carriedOut.map((row) => row.status).join(' ');
  }
}
