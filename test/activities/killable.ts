import { onTestFinished } from 'vitest';
import { createPartnerClient } from '../../src/partner/client/create-partner-client.ts';
import { type RateLimitKeeper, unlimited } from '../../src/rate-limit/rate-limit.ts';

/** What may become of a request that changes something at the partner, as the sandbox's faults have it. */
export const REQUEST_FAULTS = [
  'answer-lost',
  'server-error-after',
  'truncated-body',
  'html-body',
  'reset-before',
  'server-error',
] as const;

/** A process that "died". */
export class Killed extends Error {}

/** A client of a sandbox with a point before and after each call; `seen` may change what an answer holds. */
export function killablePartner(
  { url, key }: { url: string; key: string },
  points: { pass(name: string): void | Promise<void> },
  seen: (operation: string, answer: unknown) => void | Promise<void> = () => undefined,
  rateLimit: RateLimitKeeper = unlimited,
) {
  const partner = createPartnerClient({
    baseUrl: url,
    apiKey: key,
    environment: 'sandbox',
    allowPrivate: true,
    rateLimit,
    around: async (operation, run) => {
      await points.pass(`${operation}/before`);
      const answer = await run();
      await points.pass(`${operation}/after`);
      await seen(operation, answer);
      return answer;
    },
  });
  onTestFinished(() => partner.close());
  return partner;
}

/** Places around each call and each store write; the process "dies" at one by throwing. */
export function failpoints() {
  let passed: string[] = [];
  let killAt = 0;
  let killIn = '';
  let how: Error | undefined;
  return {
    pass(name: string): void {
      passed.push(name);
      if (name === killIn) {
        killIn = '';
        throw how ?? new Killed(name);
      }
      if (passed.length !== killAt) return;
      killAt = 0;
      throw new Killed(name);
    },
    /** Dies at the next point of this name, or goes on with what a part says that fails there. */
    die(name: string, failing?: Error): void {
      killIn = name;
      how = failing;
    },
    /** Dies at the nth point from now; 0 lives. Returns what was passed before. */
    arm(nth: number): string[] {
      const before = passed;
      [passed, killAt] = [[], nth];
      return before;
    },
  };
}
