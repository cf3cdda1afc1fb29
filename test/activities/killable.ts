import { onTestFinished } from 'vitest';
import { ConnectorError } from '../../src/errors.ts';
import { createPartnerClient, type PartnerClient } from '../../src/partner/client/create-partner-client.ts';
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

/** What the partner refuses: the status and code of its answer; undefined if nothing. */
export type Refuses = (operation: string, input: unknown) => [status: number, code: string] | undefined;

/** A client whose calls are refused before anything is sent. */
export function refusing(partner: PartnerClient, refuses: Refuses): PartnerClient {
  const assertTaken = (operation: string, input: unknown): void => {
    const [status, code = ''] = refuses(operation, input) ?? [];
    if (status !== undefined) throw new ConnectorError({ code, status, action: 'reject', message: `refused: ${code}` });
  };
  type Call = (input: unknown, ...rest: unknown[]) => Promise<unknown>;
  const family = (name: string, calls: Record<string, Call>) =>
    Object.fromEntries(
      Object.entries(calls).map(([verb, call]) => [
        verb,
        async (...given: Parameters<Call>) => {
          assertTaken(`${name}.${verb}`, given[0]);
          return call(...given);
        },
      ]),
    );
  const families = Object.entries(partner).map(([name, calls]): [string, unknown] =>
    typeof calls === 'function' ? [name, calls] : [name, family(name, calls as unknown as Record<string, Call>)],
  );
  const readAll = async (...given: Parameters<PartnerClient['readAll']>) => {
    assertTaken(given[0].id, given[1]);
    return partner.readAll(...given);
  };
  return { ...Object.fromEntries(families), readAll } as unknown as PartnerClient;
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
