import type { Random } from '../../src/sandbox/random.ts';
import type { SandboxState } from '../../src/sandbox/state.ts';
import type { Store } from '../../src/store/open-store.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import type { HrisDouble, HrisWorld } from './hris-double.ts';
import type { WireRequest } from './network.ts';
import type { Process } from './processes.ts';
import type { Scenario } from './scenario.ts';
import type { StoreDouble } from './store-double.ts';
import type { TemporalDouble } from './temporal-double.ts';
import type { TenantFacts } from './tenants.ts';
import type { Timeline } from './timeline.ts';

/** One customer of the seed: its company with the partner, its key, its HRIS. */
export interface Customer {
  tenant: Tenant;
  companyId: number;
  /** Its right key. */
  key: string;
  /** What the secret holds now. */
  secret: string;
  flowId: string;
  startDateField: string;
  idField: string;
  hris: HrisDouble;
  /** Every HR system it ever had, the present one last. */
  systems: HrisDouble[];
  /** What its tenant file is made of. */
  facts: TenantFacts;
}

/** One answer somebody gave: what it allows is taken into account by the oracle. */
export interface Given {
  tenantId: string;
  jobCandidateId: string | null;
  period: number | null;
  code: string;
  answer: string;
  /** Whom the answer names, such as an employee. */
  named: readonly string[];
  human: string;
  at: number;
}

/** The partner, the HRIS, the store, Temporal and the product's processes of one seed, all in memory. */
export interface World {
  scenario: Scenario;
  timeline: Timeline;
  /** Decides what breaks and how long things take. */
  random: Random;
  /** Decides what people do, the same on a day when nothing breaks. */
  whims: Random;
  state: SandboxState;
  customers: Customer[];
  store: StoreDouble;
  /** For the oracle and for people; never for the product. */
  outside: Store;
  temporal: TemporalDouble;
  wire: WireRequest[];
  /** Deliveries answered 2xx: tenant and body hash. */
  acknowledged: Array<{ tenantId: string; bodyHash: string }>;
  workers: Process[];
  /** Tells each worker's relay of a delivery. */
  relays: Map<Process, () => void>;
  calm: boolean;
  /** When the last of what people have in mind is done. */
  lastDeedAt: number;
  /** A turn of the webhook sender is planned. */
  pumping: boolean;
  /** Points passed so far; kills and stops are drawn among them. */
  points: number;
  killAt: Set<number>;
  stopAt: Set<number>;
  /** So many stops strike between an intent and its request. */
  stopSends: number;
  storeLost: boolean;
  /** When it was, ms; 0 where it was not. */
  storeLostAt: number;
  /** When a backup was put back, ms; 0 where none was. */
  storeRestoredAt: number;
  /** When the backup was taken that was put back. */
  storeSavedAt: number;
  /**
   * Tenants of whose work no enrolment told when the store was lost, and the candidates of their employees who carried
   * our reference, each with the time from which the HR system shows them.
   */
  tracedBy: Map<string, ReadonlyArray<{ candidateId: string; shownAt: number }>>;
  /** Job candidate to candidate, also of those who are deleted later. */
  people: Map<string, string>;
  /** E-mail to candidate within a company, `<company> <e-mail>`; also of those who are deleted later. */
  emails: Map<string, string>;
  /** Job candidate to job, also of those who are deleted later. */
  jobs: Map<string, string>;
  /** Candidates that are somebody who was another candidate before, `<company>:<candidate>`. */
  aliases: Map<string, string>;
  /** Humans with two profiles, and when a recruiter merged them; infinite before that. */
  merged: Map<string, number>;
  /** Humans who left as their employee was made. */
  gone: Set<string>;
  /** Job candidates hired before go-live. */
  hiredBefore: Set<string>;
  /** Family names by candidate, as they were given. */
  names: Map<string, Array<{ at: number; familyName: string }>>;
  /** Questions that somebody answered with a wrong id. */
  answeredWrongly: Set<string>;
  /** Every answer somebody gave. */
  given: Given[];
  /** New colleagues hear of their enrolment. */
  onEnrolled: Array<() => void>;
  /** What was wrong the moment it happened. */
  violations: string[];
  hrisWorld: HrisWorld;
  pause(process: Process, point: string): Promise<void> | undefined;
  act(name: string, customer: Customer, input: object): unknown;
}

/** The tenants this installation serves; the second company may be nobody's. */
export function served(world: World): Customer[] {
  return world.customers.slice(0, world.scenario.tenants);
}

/** Whether a tenant takes this job of its company. */
export function takes({ facts }: Customer, jobId: number | string): boolean {
  return facts.jobs === undefined || facts.jobs.includes(String(jobId));
}

/** Who a candidate really is. */
export function humanOf({ aliases }: Pick<World, 'aliases'>, companyId: number | string, candidateId: string): string {
  const key = `${companyId}:${candidateId}`;
  return aliases.get(key) ?? key;
}

/** Whether the store was lost, or put back to a backup of before, after that moment: it knows nothing of it. */
export function isForgotten({ storeLostAt, storeSavedAt, storeRestoredAt }: World, at: number): boolean {
  return at <= storeLostAt || (storeSavedAt < at && at <= storeRestoredAt);
}

/** Starts a reconcile unless one runs. */
export function reconcile(world: World, tenantId: string): void {
  const id = reconcileId(tenantId);
  if (world.temporal.running().includes(id)) return;
  world.temporal.signalWithStart(id, 'reconcileTenant', { tenantId });
}

export function reconcileId(tenantId: string): string {
  return `hbsimulation/reconcile/${tenantId}`;
}
