import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DemoHris } from './demo-hris.ts';

/** What the demonstration pulls. */
export const demoStreams = ['candidates', 'jobs'] as const;

/** The second tenant: its HR system tells, and the partner listens. */
export interface SecondFacts extends Pick<DemoFacts, 'partnerUrl' | 'apiKey'> {
  hrisFile: string;
  /** Job custom field that carries the requisition's id. */
  referenceField: string;
  /** Candidate custom field that takes the Employee ID: there is no onboarding here. */
  employeeIdField: string;
}

export interface DemoFacts {
  partnerUrl: string;
  apiKey: string;
  webhookKey: string;
  companyId: string;
  flowId: string;
  hris: DemoHris;
}

/** Writes the tenants: a file each, a mapping each, and their secrets in files only this user can read. */
export async function writeDemoFiles(tenantsDir: string, facts: DemoFacts, second: SecondFacts): Promise<void> {
  const secrets = join(tenantsDir, 'secrets');
  await mkdir(secrets, { recursive: true, mode: 0o700 });
  await Promise.all([
    writeFile(join(secrets, 'partner.key'), `${facts.apiKey}\n`, { mode: 0o600 }),
    writeFile(join(secrets, 'webhook.key'), `${facts.webhookKey}\n`, { mode: 0o600 }),
    writeFile(join(secrets, 'second.key'), `${second.apiKey}\n`, { mode: 0o600 }),
    writeFile(join(tenantsDir, 'demo.yaml'), tenantFile(facts)),
    writeFile(join(tenantsDir, 'demo-mapping.yaml'), MAPPING_FILE),
    writeFile(join(tenantsDir, 'demo-employees.yaml'), EMPLOYEES_FILE),
    writeFile(join(tenantsDir, 'second.yaml'), secondFile(second)),
    writeFile(join(tenantsDir, 'second-requisitions.yaml'), REQUISITIONS_FILE),
  ]);
}

function tenantFile({ partnerUrl, companyId, flowId, hris }: DemoFacts): string {
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
  connection: demo-hr
${hris.settings}${hris.tables === undefined ? '' : 'mapping: demo-mapping.yaml\n'}policies:
  onboarding: { flow: ${flowId}, readyAt: [final_handoff, completed], deadline: 1d }
  reconcile: { every: 15s }
${hris.tables === undefined ? '' : STREAMS}writeBack: { employeeId: ${hris.employeeId}, status: hired }
`;
}

const tables = demoStreams.map((name) => `partner_${name}`).join(', ');

const STREAMS = `streams: # each into a table of its own in the HR system: ${tables}
${demoStreams.map((name) => `  ${name}: { every: 1h }`).join('\n')}
  employees: { every: 5s, mapping: demo-employees.yaml } # fields that both sides edit
  employment: { every: 5s } # a number corrected in the HR system reaches the partner
`;

const MAPPING_FILE = `# Where this customer differs from the sql adapter's own mapping.
fields:
  # The partner has no department, so everyone starts in the same one.
  department: { constant: People }
  startDate: { from: "candidate.customFields[Start date]", transform: [date], required: true }
`;

const EMPLOYEES_FILE = `# What both sides may edit, and whose value stays where both did.
fields:
  city: { from: candidate.city, direction: both, owner: either, conflict: hris }
`;

function secondFile({ partnerUrl, hrisFile, referenceField, employeeIdField }: SecondFacts): string {
  return `# Another customer, another direction: positions of its HR system become jobs of the hiring platform.
tenant: second
partner:
  baseUrl: ${partnerUrl}
  environment: sandbox
  apiKey: file:secrets/second.key
  webhooks: off
  allowPrivateAddress: true # the sandbox listens on this machine
hris:
  kind: sql
  connection: second-hr
  url: ${JSON.stringify(`sqlite:${hrisFile}`)}
  createTable: true # for demonstrations; a customer's table belongs to the customer
  requisitions: { fields: { costCentre: { column: cost_centre } } }
policies: { onboarding: skip, reconcile: { every: 1h } }
streams:
  requisitions: { every: 5s, mapping: second-requisitions.yaml }
requisitions: { reference: "${referenceField}" }
writeBack: { customField: "${employeeIdField}" }
`;
}

const REQUISITIONS_FILE = `# Where this customer differs from the sql adapter's own mapping.
fields:
  # Its positions name no region, and every job needs one.
  state: { from: requisition.city, required: true }
  description: { template: "Cost centre {requisition.costCentre}" }
`;
