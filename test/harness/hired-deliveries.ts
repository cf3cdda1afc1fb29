import { pick, type Random } from '../../src/sandbox/random.ts';
import type { SentDelivery } from './send-delivery.ts';
import type { Applicant, World } from './world.ts';

/** The body of one `candidate.hired`: one person or several of one job. */
export function hiredBody(
  people: readonly Applicant[],
  { company, at = new Date() }: { company?: number | string; at?: Date } = {},
): string {
  return JSON.stringify({
    event: 'candidate.hired',
    timestamp: at.toISOString(),
    ...(company === undefined ? {} : { companyId: company }),
    data: {
      jobId: people[0]?.jobId,
      jobCandidateIds: people.map((person) => person.jobCandidateId),
      candidateIds: people.map((person) => person.candidateId),
    },
  });
}

/** How a delivery is spoilt, and the answer it must get. */
const spoilt = {
  'wrong-key': [401, (sent: SentDelivery): SentDelivery => ({ ...sent, key: `${sent.key}x` })],
  truncated: [400, (sent: SentDelivery): SentDelivery => ({ ...sent, body: sent.body.slice(0, -7) })],
  cut: [400, (sent: SentDelivery): SentDelivery => ({ ...sent, framing: 'cut' })],
  oversized: [413, (sent: SentDelivery): SentDelivery => ({ ...sent, body: padded(sent.body) })],
  'oversized, undeclared': [
    413,
    (sent: SentDelivery): SentDelivery => ({ ...sent, body: padded(sent.body), framing: 'chunked' }),
  ],
} as const;

export type Spoilt = keyof typeof spoilt;

export interface ExpectedDelivery extends SentDelivery {
  kind: 'right' | Spoilt;
  expected: number;
}

/**
 * Deliveries of these people in the forms that the partner may send: companyId as number, text or absent; repeated byte
 * by byte or with another timestamp.
 */
export function rightDeliveries(
  world: World,
  random: Random,
  people: readonly Applicant[],
  count: number,
): ExpectedDelivery[] {
  const companies = [Number(world.company), world.company, undefined];
  const begin = Date.now();
  return Array.from({ length: count }, (_, n) => {
    const person = people[n % people.length] as Applicant;
    const company = pick(random, companies);
    const at = new Date(begin + Math.floor(random() * 2));
    const body = hiredBody([person], { at, ...(company === undefined ? {} : { company }) });
    return { kind: 'right', body, key: world.webhookKey, expected: 200 };
  });
}

/** A delivery that would be right, spoilt in this way. */
export function spoil(kind: Spoilt, world: World, person: Applicant): ExpectedDelivery {
  const [expected, change] = spoilt[kind];
  return { kind, expected, ...change({ body: hiredBody([person]), key: world.webhookKey }) };
}

/** Still valid JSON about a real person, only longer than any receiver should read. */
function padded(body: string): string {
  return `${body.slice(0, -1)},"padding":"${'x'.repeat(1_000_000)}"}`;
}
