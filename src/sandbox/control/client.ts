import { request } from 'undici';
import type { z } from 'zod';
import { ConnectorError } from '../../errors.ts';
import type { LedgerCounts, LedgerFilter, LedgerRow } from '../records/ledger.ts';
import type { ActionName, Actions } from './server.ts';

type Fields<Name extends ActionName> = z.input<Actions[Name]['input']>;
type Given<Name extends ActionName> = (Fields<Name> extends Record<string, never> ? unknown : Fields<Name>) & {
  companyId?: number;
};
type Result<Name extends ActionName> = ReturnType<Actions[Name]['run']>;

/** The control plane of a running sandbox, for demos and tests: a person's acts, and the ledger. */
export interface ControlClient {
  act<Name extends ActionName>(name: Name, input?: Given<Name>): Promise<Result<Name>>;
  ledger(filter?: LedgerFilter): Promise<LedgerRow[]>;
  /** By kind, then by name: `counts.effect.enrolment`. */
  counts(filter?: LedgerFilter): Promise<LedgerCounts>;
  deliveries(filter?: {
    event?: string;
    status?: number;
    companyId?: number;
    from?: string;
    to?: string;
    last?: number;
  }): Promise<DeliveryRow[]>;
  /** A page of a list, as the page for people shows it. */
  browse(list: string, asked?: { search?: string; status?: string }): Promise<{ rows: { id: string | number }[] }>;
  health(): Promise<{ ok: boolean; baseUrl: string; clock: string; now: number; pendingDeliveries: number }>;
}

export interface DeliveryRow {
  at: string;
  event: string;
  deliveryId: number;
  status: number | null;
  attempt: number;
  outcome: 'delivered' | 'waiting' | 'dropped';
  error?: string;
}

/** A client of the control plane at `controlUrl`. Throws a ConnectorError with the refusal's words. */
export function createControlClient(controlUrl: string): ControlClient {
  async function call(method: 'GET' | 'POST', path: string, input?: unknown): Promise<never> {
    const sent =
      input === undefined ? {} : { body: JSON.stringify(input), headers: { 'content-type': 'application/json' } };
    const { statusCode, body } = await request(controlUrl + path, { method, ...sent });
    const answer = (await body.json()) as {
      error?: { code?: string; message?: string; details?: Record<string, unknown> };
    };
    if (statusCode < 400) return answer as never;
    throw new ConnectorError({
      code: answer.error?.code ?? 'SANDBOX_CONTROL',
      action: 'reject',
      status: statusCode,
      message: `sandbox control plane refused ${method} ${path}: ${answer.error?.message ?? String(statusCode)}`,
      details: answer.error?.details,
    });
  }

  return {
    act: (name, input) => call('POST', `/actions/${name}`, input ?? {}),
    ledger: async (filter) => ((await call('GET', `/ledger${search(filter)}`)) as { entries: LedgerRow[] }).entries,
    counts: (filter) => call('GET', `/ledger/counts${search(filter)}`),
    deliveries: async (filter) =>
      ((await call('GET', `/deliveries${search(filter)}`)) as { deliveries: DeliveryRow[] }).deliveries,
    browse: (list, asked) => call('GET', `/browse/${list}${search(asked)}`),
    health: () => call('GET', '/healthz'),
  };
}

function search(filter: object | undefined): string {
  const used = Object.entries(filter ?? {}).filter(([, value]) => value !== undefined);
  return used.length === 0
    ? ''
    : `?${new URLSearchParams(used.map(([key, value]): [string, string] => [key, String(value)])).toString()}`;
}
