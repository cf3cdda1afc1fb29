import { openHold } from '../../src/store/holds.ts';
import { insertDelivery } from '../../src/store/inbox.ts';
import type { Store } from '../../src/store/open-store.ts';
import { NEIGHBOUR, type Neighbour, type NeighbourOptions } from './neighbour.ts';

export interface Scene {
  neighbour: Neighbour;
  store: Store;
  /** How large the trouble is, from 0 to 1: a slice in CI plays a small one. */
  scale: number;
}

/** One tenant's worst day. */
export interface Trouble {
  options?: (scale: number) => Partial<NeighbourOptions>;
  /** Before its worker starts for the first time; for trouble that a new tenant brings. */
  early?: boolean;
  begin: (scene: Scene) => Promise<unknown>;
  /** What ends it. Without: it ends by itself, or not within a test. */
  end?: (scene: Scene) => Promise<unknown>;
  /** Whether the tenant is right again. */
  isRight?: (scene: Scene) => Promise<boolean>;
  /** Addresses that take what is sent and never answer. */
  hangs?: 'notify' | 'hris';
}

const HIRES = 50;

export const troubles: Record<string, Trouble> = {
  baseline: {
    options: (scale) => ({ candidates: 50_000 * scale, hired: 50_000 * scale }),
    early: true,
    begin: async () => undefined,
    isRight: hasBaseline,
  },
  inbox: {
    early: true,
    begin: async ({ neighbour, store, scale }) => {
      neighbour.line.fallSilent();
      await fillInbox(store, 10_000 * scale);
    },
    end: async ({ neighbour }) => neighbour.line.speak(),
    isRight: isRelayed,
  },
  throttled: {
    begin: async ({ neighbour }) => {
      await neighbour.control.act('setFaults', { faults: [{ kind: 'throttle', retryAfter: 3_600 }] });
      await hireMany(neighbour);
    },
  },
  silent: {
    begin: async ({ neighbour }) => {
      neighbour.line.fallSilent();
      await hireMany(neighbour);
    },
    end: async ({ neighbour }) => neighbour.line.speak(),
    isRight: areEnrolled,
  },
  'wrong-key': {
    begin: async ({ neighbour }) => {
      await neighbour.control.act('setFaults', { faults: [{ kind: 'revoked-key' }] });
      await hireMany(neighbour);
    },
    end: ({ neighbour }) => neighbour.control.act('clearFaults'),
    isRight: areEnrolled,
  },
  'hris-hangs': { hangs: 'hris', begin: ({ neighbour }) => hireMany(neighbour) },
  'notify-hangs': { hangs: 'notify', begin: ({ store }) => openHolds(store, 50) },
  holds: { begin: ({ store, scale }) => openHolds(store, 5_000 * scale) },
  unreadable: {
    begin: async ({ neighbour }) => {
      const faults = [{ kind: 'html-body' as const, on: 'jobCandidates.*' }];
      await neighbour.control.act('setFaults', { faults });
      await hireMany(neighbour);
    },
    end: ({ neighbour }) => neighbour.control.act('clearFaults'),
    isRight: areEnrolled,
  },
};

async function hireMany({ control, applicants }: Neighbour): Promise<void> {
  const jobCandidateIds = applicants.slice(0, HIRES).map((one) => one.jobCandidateId);
  await control.act('move', { jobCandidateIds, stageType: 'HIRED' });
}

async function fillInbox(store: Store, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1)
    await insertDelivery(store, {
      tenantId: NEIGHBOUR,
      bodyHash: `waiting-${n}`,
      event: 'candidate.updated',
      ids: {},
      body: '{}',
      state: 'waiting',
    });
}

async function openHolds(store: Store, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const hire = { tenantId: NEIGHBOUR, jobCandidateId: `${n}`, period: 1 };
    await openHold(store, { ...hire, code: 'TEST', message: 'A test.', answers: ['retry'] });
  }
}

async function hasBaseline({ store }: Scene): Promise<boolean> {
  const row = await store.kysely
    .selectFrom('tenants')
    .select('baseline_done_at')
    .where('tenant_id', '=', NEIGHBOUR)
    .executeTakeFirst();
  return typeof row?.baseline_done_at === 'number';
}

async function isRelayed({ store }: Scene): Promise<boolean> {
  const waiting = store.kysely.selectFrom('inbox').select('body_hash').where('tenant_id', '=', NEIGHBOUR);
  return (await waiting.where('state', '=', 'waiting').limit(1).execute()).length === 0;
}

async function areEnrolled({ neighbour }: Scene): Promise<boolean> {
  return (await neighbour.control.ledger({ kind: 'effect', name: 'enrolment', limit: 1_000 })).length >= HIRES;
}
