/** Live requests (a hire's) go before bulk ones, inside one budget. */
export type Lane = 'live' | 'bulk';

export interface PaceAnswer {
  /** When the request left, in ms of the keeper's clock (Date.now for requests of this process). */
  sentAt: number;
  /** 0 where no answer came. */
  status: number;
  /** Requests under way at that moment, this one among them, of everybody who shares the pace. */
  inFlight?: number;
  retryAfterMs?: number | undefined;
  headers?: Record<string, unknown> | undefined;
}

/** One pace per (tenant, upstream). A room that sends asks here first, and tells each answer. */
export interface PaceKeeper {
  /** Resolves when one request may leave in this lane; rejects with the signal's reason, or when the keeper is closed. */
  acquire(lane: Lane, signal?: AbortSignal): Promise<void>;
  /** Once for each request that was let go, whatever became of it. */
  answered(answer: PaceAnswer): void;
}

/** No pace at all: for tests, and for upstreams without limits. */
export const unpaced: PaceKeeper = { acquire: () => Promise.resolve(), answered: () => undefined };
