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
