import type { HintAbout } from '../src/hire/hire-run.ts';
import type { Logger } from '../src/log.ts';
import type { Store } from '../src/store/open-store.ts';
import type { StreamName } from '../src/streams/streams.ts';
import type { Connections } from './connections.ts';
import type { LastReconcile } from './reconcile/last-reconcile.ts';

/** Everything activities need of the world; wired in one place. */
export interface ActivityDeps {
  store: Store;
  connections: Connections;
  signalHire: SignalHire;
  /** Job candidates of the tenant whose hire has a running workflow; one that began a moment ago may be missing. */
  followedHires: (tenantId: string) => Promise<ReadonlySet<string>>;
  lastReconcile: LastReconcile;
  /** Has records of a stream read again soon; absent in a command, whose hires the next pass finds. */
  hintStream?: (stream: { tenantId: string; stream: StreamName }, ids: readonly string[]) => Promise<void>;
  /** Told how long a hire took that ended well; absent in a command. */
  hired?: (ms: number) => void;
  /** Absent where nobody is erased: in a command. */
  forgetting?: Forgetting;
  /** What this process keeps beside the store; as `forgetting`. */
  dataDir?: string;
  log: Logger;
  limits: Limits;
  /** The person who applies a plan; absent where the product works by itself. */
  actor?: { runId: string; by: string };
  /** Tenants whose credit gate this process saw close: enrolments on their way to the socket turn back there. */
  closedGates: Set<string>;
  /** Tenants whose HR system this process saw fail: calls to it wait until its probe passes. */
  pausedHris: Set<string>;
}

/** What Temporal knows, and is to forget. */
export interface Forgetting {
  /** Ends a hire's workflow and its histories. */
  forgetHire: (hire: { tenantId: string; jobCandidateId: string }) => Promise<void>;
  /** Ends a tenant's schedules, workflows and their histories. Says how many of them the server still listed. */
  forgetTenant: (tenantId: string) => Promise<number>;
}

/** Reaches a hire's workflow. With `start` one is started where none runs; without, `false` says that none runs. */
export type SignalHire = (
  hire: { tenantId: string; jobCandidateId: string },
  about: HintAbout,
  options: { start: boolean; adopt?: boolean; watch?: boolean },
) => Promise<boolean>;

/** Milliseconds. */
export interface Limits {
  /** From an intent to the moment after which its request must not leave. */
  giveUpMs: number;
  /** How long after that the partner may still show a write late. */
  partnerLagMs: number;
  /** How long a paused tenant's work sleeps before it asks again. */
  pausedMs: number;
}
