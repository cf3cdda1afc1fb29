import type { SignalHire } from '../src/hire/hire-run.ts';
import type { Logger } from '../src/log.ts';
import type { Store } from '../src/store/open-store.ts';
import type { StreamName } from '../src/streams/streams.ts';
import type { Connections } from './connections.ts';
import type { LastReconcile } from './reconcile/last-reconcile.ts';

/** Everything that activities need from outside; wired in one place. */
export interface ActivityDeps {
  store: Store;
  connections: Connections;
  signalHire: SignalHire;
  /**
   * The tenant's job candidates whose hire has a running workflow; a workflow that started a moment ago may be missing.
   */
  followedHires: (tenantId: string) => Promise<ReadonlySet<string>>;
  lastReconcile: LastReconcile;
  /** Has records of a stream read again soon. Absent in a command: the next pass finds its hires. */
  hintStream?: (stream: { tenantId: string; stream: StreamName }, ids: readonly string[]) => Promise<void>;
  /** Called with the duration of each hire that ended well. Absent in a command. */
  hired?: (ms: number) => void;
  /** Absent in a command, because a command erases nobody. */
  forgetting?: Forgetting;
  /** Folder of the files that this process keeps next to the store. Absent in a command. */
  dataDir?: string;
  log: Logger;
  limits: Limits;
  /** The person who applies a plan; absent if the product works by itself. */
  actor?: { runId: string; by: string };
  /** Tenants whose credit gate this process saw close: enrolments about to be sent turn back. */
  closedGates: Set<string>;
  /** Tenants whose HR system this process saw fail: calls to it wait until its probe passes. */
  pausedHris: Set<string>;
}

/** What Temporal holds and must forget. */
export interface Forgetting {
  /** Ends a hire's workflow and deletes its histories. */
  forgetHire: (hire: { tenantId: string; jobCandidateId: string }) => Promise<void>;
  /** Ends a tenant's schedules and workflows and deletes their histories. Returns how many the server still listed. */
  forgetTenant: (tenantId: string) => Promise<number>;
}

/** Limits in milliseconds. */
export interface Limits {
  /** Time from an intent until its request must no longer be sent. */
  giveUpMs: number;
  /** How long after that the partner may still take to show a write. */
  partnerLagMs: number;
  /** How long a paused tenant's work sleeps before it asks again. */
  pausedMs: number;
}
