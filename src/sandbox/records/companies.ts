import { createHash } from 'node:crypto';
import type { SandboxState } from '../state.ts';

/** One customer of the platform: everything else belongs to one. */
export interface Company {
  id: number;
  name: string;
  /** Null when no key was ever made. */
  apiKey: string | null;
  keyActive: boolean;
  accountActive: boolean;
  webhookUrl: string | null;
  webhookKey: string | null;
  credits: number;
  onboardingCredits: number;
}

type Row = Omit<Company, 'keyActive' | 'accountActive'> & { keyActive: number; accountActive: number };

const SELECT = `select id, name, api_key as apiKey, key_active as keyActive, account_active as accountActive,
  webhook_url as webhookUrl,
  webhook_key as webhookKey, credits, onboarding_credits as onboardingCredits from companies`;

/** Enough for a demonstration, few enough to use up on purpose. */
const FIRST_CREDITS = 1000;

const COLUMN: Record<keyof Omit<Company, 'id'>, string> = {
  name: 'name',
  apiKey: 'api_key',
  keyActive: 'key_active',
  accountActive: 'account_active',
  webhookUrl: 'webhook_url',
  webhookKey: 'webhook_key',
  credits: 'credits',
  onboardingCredits: 'onboarding_credits',
};

function toCompany(row: Row | undefined): Company | undefined {
  return row === undefined
    ? undefined
    : { ...row, keyActive: row.keyActive === 1, accountActive: row.accountActive === 1 };
}

/** A new company with a key and some credits, and nothing else. */
export function createCompany(state: SandboxState, name: string, apiKey?: string): Company {
  const id = state.nextId('company', 7001);
  const key = apiKey ?? stableKey(state.seed, 'key', id);
  state.run(
    'insert into companies (id, name, api_key, credits, onboarding_credits) values (?, ?, ?, ?, ?)',
    id,
    name,
    key,
    FIRST_CREDITS,
    FIRST_CREDITS,
  );
  return companyById(state, id) as Company;
}

export function companyById(state: SandboxState, id: number): Company | undefined {
  return toCompany(state.one<Row>(`${SELECT} where id = ?`, id));
}

export function companyByKey(state: SandboxState, key: string): Company | undefined {
  return toCompany(state.one<Row>(`${SELECT} where api_key = ?`, key));
}

export function listCompanies(state: SandboxState): Company[] {
  return state.all<Row>(`${SELECT} order by id`).map((row) => toCompany(row) as Company);
}

/** Writes the given fields, leaves the others. */
export function updateCompany(state: SandboxState, id: number, fields: Partial<Omit<Company, 'id'>>): Company {
  for (const [field, value] of Object.entries(fields)) {
    state.run(
      `update companies set ${COLUMN[field as keyof typeof COLUMN]} = ? where id = ?`,
      typeof value === 'boolean' ? Number(value) : value,
      id,
    );
  }
  return companyById(state, id) as Company;
}

/** Whether a key was replaced by another: it stays invalid, even if it is asked for again. */
export function isRetiredKey(state: SandboxState, key: string): boolean {
  return state.setting(retirement(key)) !== undefined;
}

function retirement(key: string): string {
  return `retired-key ${key}`;
}

/** A new key; the old one is unknown from this moment (section 5.3). */
export function regenerateKey(state: SandboxState, id: number): Company {
  const old = companyById(state, id)?.apiKey;
  if (old !== undefined && old !== null) state.saveSetting(retirement(old), String(id));
  const apiKey = stableKey(state.seed, 'key', id, state.nextId('key', 2));
  return updateCompany(state, id, { apiKey, keyActive: true });
}

/** A test key of section 5.2: the prefix and 22 base62 characters, the same for the same words. */
function stableKey(...words: (string | number)[]): string {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const bytes = createHash('sha256').update(words.join('\u0000')).digest();
  return `sk_test_${Array.from(bytes.subarray(0, 22), (byte) => alphabet[byte % 62]).join('')}`;
}
