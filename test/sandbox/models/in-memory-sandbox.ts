import { ApiError } from '../../../src/sandbox/context.ts';
import { act } from '../../../src/sandbox/control/server.ts';
import { handle } from '../../../src/sandbox/handle.ts';
import { createSandboxState, type Prepared } from '../../../src/sandbox/prepare.ts';
import { readLedger } from '../../../src/sandbox/records/ledger.ts';
import type { SandboxState } from '../../../src/sandbox/state.ts';

/** Bodies of every shape, looked into freely. */
export type Json = ReturnType<typeof JSON.parse>;

export interface Answer {
  status: number;
  body: Json;
  /** Of a refusal: section 7. */
  code: string | undefined;
}

/** One company of a sandbox without sockets, and another beside it whose records must stay out of reach. */
export interface Company {
  api(method: string, path: string, body?: unknown): Answer;
  /** Something a person does in the dashboard; a refusal comes back as its code. */
  act(name: string, input?: object): Json;
  /** Events since the last question: name and data. */
  events(): Array<[name: string, data: Json]>;
  now(): number;
  advance(ms: number): void;
}

export interface InMemorySandbox {
  /** A company of its own for each run: born like any other, and empty. */
  newCompany(): Company;
  foreign: Company;
  close(): void;
}

const FOREIGN_KEY = `sk_test_${'F'.repeat(22)}`;

export function openInMemory(): InMemorySandbox {
  const prepared = createSandboxState({ file: ':memory:', clock: 'stepped', seed: 5, otherKey: FOREIGN_KEY });
  const { state } = prepared;
  return {
    newCompany() {
      const born = act(state, 'createCompany', { name: 'Model' }) as { id: number; apiKey: string };
      return companyOf(state, born.id, born.apiKey);
    },
    foreign: foreignOf(state, prepared),
    close: () => state.close(),
  };
}

function foreignOf(state: SandboxState, { otherCompanyId }: Prepared): Company {
  return companyOf(state, otherCompanyId ?? 0, FOREIGN_KEY);
}

function companyOf(state: SandboxState, companyId: number, key: string): Company {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  let seen = 0;
  return {
    api(method, path, body) {
      const sent = body === undefined ? undefined : JSON.stringify(body);
      const answer = handle(state, { method, url: `/v1/partner${path}`, headers, body: sent });
      const parsed = JSON.parse(answer.body) as Json;
      return { status: answer.status, body: parsed, code: answer.status < 400 ? undefined : parsed.error?.code };
    },
    act(name, input = {}) {
      try {
        return act(state, name, { companyId, ...input });
      } catch (error) {
        if (error instanceof ApiError) return { refused: error.code };
        throw error;
      }
    },
    events() {
      const rows = readLedger(state, { kind: 'event', companyId, afterSeq: seen });
      seen = rows.at(-1)?.seq ?? seen;
      return rows.map(({ name, detail }) => [name, detail]);
    },
    now: () => state.clock.now(),
    advance: (ms) => state.advance(ms),
  };
}
