import { createPartnerClient, type PartnerClient } from '../../src/partner/client/create-partner-client.ts';
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { type Json, type OpenSandbox, openSandbox } from './open-sandbox.ts';

const OTHER_KEY = `sk_test_${'o'.repeat(22)}`;

export interface OpenPartner extends OpenSandbox {
  /** The typed client of the first company, and that of another one. */
  partner: PartnerClient;
  other: PartnerClient;
  otherKey: string;
  otherCompanyId: number;
  /** Moves the clock past whatever the platform has under way. */
  later: (ms?: number) => Promise<unknown>;
  /** The data of every event of a name, in the order they happened. */
  told: (event: string) => Promise<Json[]>;
  credits: () => Promise<number>;
}

/** A sandbox with a stepped clock and two companies, and a typed client for each. */
export async function openPartner(options: SandboxOptions = {}): Promise<OpenPartner> {
  const sandbox = await openSandbox({ clock: 'stepped', otherKey: OTHER_KEY, ...options });
  const client = (apiKey: string) =>
    createPartnerClient({ baseUrl: sandbox.url, apiKey, environment: 'sandbox', allowPrivate: true });
  const [partner, other] = [client(sandbox.key), client(OTHER_KEY)];
  return {
    ...sandbox,
    partner,
    other,
    otherKey: OTHER_KEY,
    otherCompanyId: sandbox.otherCompanyId ?? 0,
    later: (ms = 1000) => sandbox.control.act('advanceClock', { ms }),
    told: async (event) => (await sandbox.control.ledger({ kind: 'event', name: event })).map(({ detail }) => detail),
    credits: async () => (await sandbox.control.act('showCompany')).credits,
    async [Symbol.asyncDispose]() {
      await Promise.all([partner.close(), other.close()]);
      await sandbox[Symbol.asyncDispose]();
    },
  };
}

/** An answer of the API in short. */
export function outcome({ status, body }: { status: number; body: Json }): [number, string | undefined] {
  return [status, body.error?.code];
}
