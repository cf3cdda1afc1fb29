import type { NeighbourOptions } from './neighbour.ts';
import {
  areEmployed,
  areEnrolled,
  breakDefinition,
  fillInbox,
  HIRES,
  hasBaseline,
  hireMany,
  hireOneMore,
  isRelayed,
  isRemoved,
  isTold,
  newcomerIsEnrolled,
  openHolds,
  type Scene,
  untilHiresAreUnderWay,
} from './trouble-steps.ts';

/** One tenant's worst day. */
export interface Trouble {
  options?: (scale: number) => Partial<NeighbourOptions>;
  /** The tenant is new: its trouble begins when it is applied. */
  early?: boolean;
  begin: (scene: Scene) => Promise<unknown>;
  /** What ends it. Without: it ends by itself, or not within a test. */
  end?: (scene: Scene) => Promise<unknown>;
  /** Whether the tenant is right again. Without: the trouble lasts longer than a test. */
  isRight?: (scene: Scene) => Promise<boolean>;
  /** Its notifications are sent to an address that takes what is sent and answers when the scene lets it. */
  notifies?: boolean;
  /** Its HR system is a Postgres with a password, behind a line; its people finish their onboarding. */
  asksHris?: boolean;
  /** Calls of the tenant's partner that are allowed beside the other's hires. */
  mostCalls?: number;
}

const silence = async ({ neighbour }: Scene) => neighbour.line.fallSilent();
const speech = async ({ neighbour }: Scene) => neighbour.line.speak();
const clearFaults = ({ neighbour }: Scene) => neighbour.control.act('clearFaults');

export const troubles: Record<string, Trouble> = {
  baseline: {
    options: (scale) => ({ candidates: 50_000 * scale, hired: 50_000 * scale }),
    early: true,
    begin: (scene) => scene.apply(),
    isRight: hasBaseline,
  },
  inbox: {
    begin: async (scene) => {
      await scene.tenant('pause');
      await fillInbox(scene.store, 10_000 * scene.scale);
      await scene.tenant('resume');
    },
    isRight: isRelayed,
  },
  'inbox-before-baseline': {
    early: true,
    begin: async (scene) => {
      await silence(scene);
      await scene.apply();
      await fillInbox(scene.store, 10_000 * scene.scale);
    },
    end: speech,
    isRight: isRelayed,
  },
  throttled: {
    begin: async ({ neighbour }) => {
      await neighbour.control.act('setFaults', { faults: [{ kind: 'throttle', retryAfter: 3_600 }] });
      await hireMany(neighbour);
    },
    mostCalls: HIRES,
  },
  'throttled-a-minute': {
    begin: async ({ neighbour }) => {
      await neighbour.control.act('setFaults', { faults: [{ kind: 'throttle', retryAfter: 60 }] });
      await hireMany(neighbour);
    },
    end: clearFaults,
    isRight: areEnrolled,
    mostCalls: HIRES,
  },
  silent: {
    begin: async (scene) => {
      await silence(scene);
      await hireMany(scene.neighbour);
    },
    end: speech,
    isRight: areEnrolled,
  },
  'silent-midway': {
    begin: async (scene) => {
      await hireMany(scene.neighbour);
      await untilHiresAreUnderWay(scene);
      await silence(scene);
    },
    end: speech,
    isRight: areEnrolled,
  },
  'hris-hangs': {
    asksHris: true,
    begin: async ({ neighbour, hris }) => {
      hris?.line.fallSilent();
      await hireMany(neighbour);
    },
    end: async ({ hris }) => hris?.line.speak(),
    isRight: areEmployed,
  },
  'notify-hangs': {
    notifies: true,
    begin: ({ store }) => openHolds(store, 50),
    end: async ({ notified }) => notified.speak(),
    isRight: isTold,
  },
  holds: {
    begin: ({ store, scale }) => openHolds(store, 5_000 * scale),
    end: hireOneMore,
    isRight: newcomerIsEnrolled,
  },
  'wrong-key': {
    begin: async ({ neighbour }) => {
      await neighbour.control.act('setFaults', { faults: [{ kind: 'revoked-key' }] });
      await hireMany(neighbour);
    },
    end: clearFaults,
    isRight: areEnrolled,
    mostCalls: HIRES,
  },
  'expired-password': {
    asksHris: true,
    begin: async ({ neighbour, hris }) => {
      await hris?.expirePassword();
      await hireMany(neighbour);
    },
    end: async ({ hris }) => hris?.renewPassword(),
    isRight: areEmployed,
  },
  unreadable: {
    begin: async ({ neighbour }) => {
      const faults = [{ kind: 'html-body' as const, on: 'jobCandidates.*' }];
      await neighbour.control.act('setFaults', { faults });
      await hireMany(neighbour);
    },
    end: clearFaults,
    isRight: areEnrolled,
  },
  'broken-file': {
    begin: async (scene) => {
      await breakDefinition(scene.store);
      await scene.restart();
      await hireMany(scene.neighbour);
    },
    end: (scene) => scene.apply(),
    isRight: areEnrolled,
  },
  removal: {
    begin: async (scene) => {
      await hireMany(scene.neighbour);
      await scene.tenant('remove');
    },
    isRight: isRemoved,
  },
};

/** Names of troubles, checked. */
export function namedTroubles(names: readonly string[]): [string, Trouble][] {
  return names.map((name) => {
    const trouble = troubles[name];
    if (trouble === undefined) throw new Error(`No case "${name}". Give one of ${Object.keys(troubles).join(', ')}.`);
    return [name, trouble];
  });
}
