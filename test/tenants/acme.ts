import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';

/** A secret that must never be seen in a message. */
export const SECRET = 'sk-very-secret-1234';

/** A complete tenant file. */
export const ACME = `tenant: acme
partner:
  baseUrl: http://127.0.0.1:8811/v1/partner
  environment: sandbox
  apiKey: env:TEST_PARTNER_KEY
  company: "17"
  webhookKeys: [env:TEST_WEBHOOK_KEY]
  allowPrivateAddress: true
hris:
  kind: sql
  connection: acme-hr
  url: sqlite:./hr.sqlite
  createTable: true
policies:
  onboarding: { flow: flow-1, deadline: 30d }
`;

/** A folder for tenant files, and the secrets that they name in the environment. */
export async function makeTenantsFolder(): Promise<string> {
  vi.stubEnv('TEST_PARTNER_KEY', SECRET);
  vi.stubEnv('TEST_WEBHOOK_KEY', 'hook');
  return mkdtemp(join(tmpdir(), 'hirebridge-tenants-'));
}

export async function removeTenantsFolder(dir: string): Promise<void> {
  vi.unstubAllEnvs();
  await rm(dir, { recursive: true });
}
