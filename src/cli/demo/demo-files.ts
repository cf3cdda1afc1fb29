import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What the demonstration pulls. */
export const demoStreams = ['candidates', 'jobs'] as const;

export interface DemoFacts {
  partnerUrl: string;
  apiKey: string;
  webhookKey: string;
  companyId: string;
  flowId: string;
  hrisFile: string;
}

/** Writes the demo's tenant: a tenant file, its mapping, and its secrets in files only this user can read. */
export async function writeDemoFiles(tenantsDir: string, facts: DemoFacts): Promise<void> {
  const secrets = join(tenantsDir, 'secrets');
  await mkdir(secrets, { recursive: true });
  await Promise.all([
    writeFile(join(secrets, 'partner.key'), `${facts.apiKey}\n`, { mode: 0o600 }),
    writeFile(join(secrets, 'webhook.key'), `${facts.webhookKey}\n`, { mode: 0o600 }),
    writeFile(join(tenantsDir, 'demo.yaml'), tenantFile(facts)),
    writeFile(join(tenantsDir, 'demo-mapping.yaml'), MAPPING_FILE),
  ]);
}

function tenantFile({ partnerUrl, companyId, flowId, hrisFile }: DemoFacts): string {
  return `# One customer: its key for the hiring platform, its HR system, and what happens when.
# Secrets are in files of their own.
tenant: demo
partner:
  baseUrl: ${partnerUrl}
  environment: sandbox
  apiKey: file:secrets/partner.key
  company: "${companyId}"
  webhookKeys: [file:secrets/webhook.key]
  allowPrivateAddress: true # the sandbox listens on this machine
hris:
  kind: sql
  connection: demo-hr
  url: ${JSON.stringify(`sqlite:${hrisFile}`)}
  createTable: true # for demonstrations; a customer's table belongs to the customer
mapping: demo-mapping.yaml
policies:
  onboarding: { flow: ${flowId}, readyAt: [final_handoff, completed], deadline: 1d }
  reconcile: { every: 15s }
streams: # each into a table of its own in the HR system: ${demoStreams.map((name) => `partner_${name}`).join(', ')}
${demoStreams.map((name) => `  ${name}: { every: 1h }`).join('\n')}
writeBack: { employeeId: number, status: hired }
`;
}

const MAPPING_FILE = `# Where this customer differs from the sql adapter's own mapping.
fields:
  # The partner has no department, so everyone starts in the same one.
  department: { constant: People }
  startDate: { from: "candidate.customFields[Start date]", transform: [date], required: true }
`;
