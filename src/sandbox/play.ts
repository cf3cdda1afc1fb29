import {
  AccountInactiveError,
  type ApiRequest,
  type ApiResponse,
  InvalidKeyError,
  serverError,
  tooManyRequests,
} from './errors.ts';
import { type Fault, surprised } from './faults.ts';
import { type Call, execute, noteFault, noteUnanswered, prepare, refuseCall } from './handle.ts';
import { contextOf } from './prepare.ts';
import type { RateLimit } from './rate-limit.ts';
import { candidateIds, deleteCandidates } from './records/candidates.ts';
import { createJob } from './records/jobs.ts';
import type { SandboxState } from './state.ts';
/** What goes back over the socket: an answer, the first half of one, or nothing. */
export type Outcome = { call: Call; fault?: string | undefined } & (
  | { kind: 'answer'; response: ApiResponse }
  | { kind: 'half'; response: ApiResponse }
  | { kind: 'reset' }
);

/** What became of the call under a fault. */
type Played = Outcome extends infer One ? (One extends unknown ? Omit<One, 'call' | 'fault'> : never) : never;

const HTML = '<!doctype html><html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>';

const FAULTS: Record<string, (state: SandboxState, call: Call, fault: Fault) => Played | Promise<Played>> = {
  throttle: (state, call, { kind, retryAfter }) =>
    answer(refuseCall(state, call, tooManyRequests(retryAfter === undefined ? undefined : String(retryAfter)), kind)),
  'server-error': (state, call, { kind }) => answer(refuseCall(state, call, serverError(), kind)),
  'server-error-after': (state, call, { kind }) => {
    const { headers } = execute(state, call, kind);
    return answer({ status: 500, headers, body: JSON.stringify(serverError()) });
  },
  'revoked-key': (state, call, { kind }) => answer(refuseCall(state, call, new InvalidKeyError(), kind)),
  'inactive-account': (state, call, { kind }) => answer(refuseCall(state, call, new AccountInactiveError(), kind)),
  'reset-before': (state, call, { kind }) => {
    noteUnanswered(state, call, kind);
    return { kind: 'reset' };
  },
  'answer-lost': (state, call, { kind }) => {
    execute(state, call, kind);
    return { kind: 'reset' };
  },
  'executed-late': async (state, call, { kind, ms = 10_000 }) => {
    await wait(state, ms);
    // Looked at again: key, account and company are those of the moment it is carried out.
    return answer(execute(state, prepare(state, call.request), kind));
  },
  'truncated-body': (state, call, { kind }) => ({ kind: 'half', response: execute(state, call, kind) }),
  'schema-surprise': (state, call, { kind, surprise = 'unknown-key', items = 1 }) => {
    const response = execute(state, call, kind);
    return answer({ ...response, body: surprised(response.body, call.route?.endpoint.list?.itemsAt, surprise, items) });
  },
  'page-drift': (state, call, { kind }) => {
    drift(state, call);
    return answer(execute(state, call, kind));
  },
  'html-body': (state, call, { kind }) => {
    const { status, headers } = execute(state, call, kind);
    return answer({ status, headers: { ...headers, 'content-type': 'text/html' }, body: HTML });
  },
};

/** Plays one call with the faults and limits in force. */
export async function play(state: SandboxState, request: ApiRequest, limit: RateLimit | undefined): Promise<Outcome> {
  const call = prepare(state, request);
  const { company } = call;
  if (company === undefined || call.refusal !== undefined)
    return { call, kind: 'answer', response: execute(state, call) };
  const entered = limit?.enter(company.id, state.clock.now());
  if (entered?.ok === false) {
    const seconds = String(Math.max(1, Math.ceil(entered.retryAfterMs / 1000)));
    return { call, kind: 'answer', response: refuseCall(state, call, tooManyRequests(seconds)) };
  }
  try {
    const { latencyMs, fault } = state.faults.forRequest(call.operation, company.id, request);
    if (latencyMs > 0) await wait(state, latencyMs);
    if (latencyMs > 0 && fault !== undefined) noteFault(state, call, 'latency');
    const played =
      fault === undefined
        ? answer(execute(state, call, latencyMs > 0 ? 'latency' : undefined))
        : await FAULTS[fault.kind]?.(state, call, fault);
    return { call, fault: fault?.kind, ...(played ?? { kind: 'reset' }) };
  } finally {
    limit?.leave(company.id);
  }
}

function answer(response: ApiResponse): Played {
  return { kind: 'answer', response };
}

async function wait(state: SandboxState, ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    state.clock.at(state.clock.now() + ms, () => {
      if (!state.closed) resolve();
    });
  });
}

/**
 * Somebody works in the dashboard while a list is being paged, so that the pages after this one shift by one record.
 */
function drift(state: SandboxState, call: Call): void {
  const { company } = call;
  if (company === undefined) return;
  state.transaction(() => {
    const ctx = contextOf(state, company);
    const [first] = candidateIds(ctx);
    // Jobs are listed newest first, so a new one shifts; the other lists begin with the oldest.
    if (call.operation === 'jobs.list') createJob(ctx, { title: 'Created while paging', status: 'ACTIVE' });
    else if (first !== undefined) deleteCandidates(ctx, [first]);
  });
}
