import { ConnectorError } from '../errors.ts';
import type { Context } from './context.ts';
import { searchIndex } from './records/candidate-search.ts';
import {
  type Company,
  companyById,
  companyByKey,
  createCompany,
  isRetiredKey,
  listCompanies,
  updateCompany,
} from './records/companies.ts';
import { createFlow } from './records/enrolments.ts';
import { createPipeline } from './records/pipelines.ts';
import { seedAssessments } from './seed/richness.ts';
import { type SeedOrder, seedBooking, seedCompany, seedWorkspace } from './seed/seed.ts';
import { SandboxState, type StateOptions } from './state.ts';

interface CompanyOptions extends SeedOrder {
  key?: string | undefined;
  otherKey?: string | undefined;
  webhookUrl?: string | undefined;
  webhookKey?: string | undefined;
}

export interface Prepared {
  key: string;
  companyId: number;
  otherKey: string | undefined;
  otherCompanyId: number | undefined;
}

/**
 * The platform without sockets: drive it with `handle` and `act`, send its webhooks with takeDueDeliveries and
 * settleDelivery.
 */
export function createSandboxState(options: StateOptions & CompanyOptions = {}): Prepared & { state: SandboxState } {
  const state = new SandboxState(options);
  const prepared = prepareCompanies(state, options);
  // Read now, so that no call has to wait until 100,000 people are.
  for (const company of listCompanies(state)) searchIndex(contextOf(state, company));
  return { state, ...prepared };
}

/** Section 5.2: keys of the sandbox address. */
export const TEST_KEY = /^sk_test_[0-9A-Za-z]{22}$/;

/**
 * The first company, and the second when it has a key. A state that already has companies keeps them and is not seeded
 * again; given keys and webhook settings replace the kept ones.
 */
function prepareCompanies(state: SandboxState, wanted: CompanyOptions): Prepared {
  checkOptions(wanted);
  return state.transaction(() => {
    const before = listCompanies(state);
    const first = before[0] ?? bornCompany(state, 'Northern Lights Staffing', wanted.key);
    if (before.length === 0) seedCompany(contextOf(state, first), wanted);
    const { webhookUrl, webhookKey } = wanted;
    const [key, otherKey] = [notRetired(state, wanted.key), notRetired(state, wanted.otherKey)];
    checkFree(state, '--key', key, first);
    const company = replaceKept(state, first, { apiKey: key, webhookUrl, webhookKey });
    checkFree(state, '--other-key', otherKey, before[1]);
    const second =
      before[1] ?? (otherKey === undefined ? undefined : bornCompany(state, 'Southern Cross Group', otherKey));
    const other = second === undefined ? undefined : replaceKept(state, second, { apiKey: otherKey });
    return {
      key: company.apiKey ?? '',
      companyId: company.id,
      otherKey: other?.apiKey ?? undefined,
      otherCompanyId: other?.id,
    };
  });
}

/** A key that was regenerated in the dashboard does not come back with a restart: the kept one stays (section 5.3). */
function notRetired(state: SandboxState, key: string | undefined): string | undefined {
  return key === undefined || isRetiredKey(state, key) ? undefined : key;
}

/** A key identifies the caller, so it belongs to one company. */
function checkFree(state: SandboxState, option: string, key: string | undefined, own: Company | undefined): void {
  const holder = key === undefined ? undefined : companyByKey(state, key);
  if (holder !== undefined && holder.id !== own?.id) throw refusedOption(option, 'is the key of another company');
}

function replaceKept(
  state: SandboxState,
  company: Company,
  wanted: Partial<Record<'apiKey' | 'webhookUrl' | 'webhookKey', string | undefined>>,
): Company {
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined);
  return updateCompany(state, company.id, Object.fromEntries(given));
}

/** Every company is born with a pipeline (P13) and an onboarding flow, so that a hire can begin at once. */
export function bornCompany(state: SandboxState, name: string, key?: string): Company {
  const company = createCompany(state, name, checkedKey('key', key));
  const ctx = { ...contextOf(state, company), origin: 'seed' as const };
  createPipeline(ctx, 'Default pipeline');
  createFlow(ctx, {
    name: 'Standard onboarding',
    steps: [{ stepKey: 'doc_collection' }, { stepKey: 'background_verification' }],
  });
  seedWorkspace(ctx);
  seedBooking(ctx);
  seedAssessments(ctx);
  return company;
}

/** The dashboard's view of a company, now. */
export function contextOf(state: SandboxState, company: Company): Context {
  return { state, company: companyById(state, company.id) ?? company, now: state.clock.now(), origin: 'dashboard' };
}

function checkOptions({ key, otherKey, webhookUrl }: CompanyOptions): void {
  checkedKey('--key', key);
  checkedKey('--other-key', otherKey);
  if (webhookUrl !== undefined && !/^https?:$/.test(URL.parse(webhookUrl)?.protocol ?? ''))
    throw refusedOption('--webhook-url', 'is no http or https URL');
}

function checkedKey(option: string, key: string | undefined): string | undefined {
  if (key === undefined || TEST_KEY.test(key)) return key;
  throw new ConnectorError({
    code: 'INVALID_KEY_FORMAT',
    action: 'reject',
    message: `${option} must be sk_test_ and 22 letters or digits (section 5.2); leave it out to have one made`,
  });
}

/** An invalid value on the command line. */
export function refusedOption(option: string, why: string): ConnectorError {
  return new ConnectorError({ code: 'INVALID_OPTION', action: 'reject', message: `${option} ${why}` });
}
