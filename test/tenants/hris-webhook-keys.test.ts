import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bamboohrWebhooks } from '../../src/hris/bamboohr/account.ts';
import { planApplication } from '../../src/tenants/plan-application.ts';
import { freshStore } from '../store/stores.ts';
import { ACME, makeTenantsFolder, removeTenantsFolder } from './acme.ts';

let dir: string;

beforeEach(async () => {
  dir = await makeTenantsFolder();
});

afterEach(() => removeTenantsFolder(dir));

const BAMBOOHR = `  kind: bamboohr
  url: https://acme.bamboohr.com
  apiKey: env:TEST_PARTNER_KEY
  referenceField: customReference
`;
const DEFINED = `  kind: http
  url: https://hr.acme.example/api
  definition: ./acme-hr.yaml
  user: hirebridge
  password: env:TEST_PARTNER_KEY
`;

/** What a receiver would know of a tenant whose BambooHR signs with these keys. */
async function planned(keys: string, secrets: 'check' | 'skip' = 'skip', kind = BAMBOOHR) {
  const hris = `hris:\n  connection: acme-hr\n${kind}  ${keys}\n`;
  await writeFile(join(dir, 'acme.yaml'), ACME.replace(/hris:[^]*(?=policies:)/, hris));
  const { applications } = await planApplication((await freshStore('sqlite')).store, dir, { secrets });
  return applications[0]?.receives.hris;
}

test("both keys of the HR system's webhooks are known by their references, wherever the file stands", async () => {
  const webhookKeys = [`file:${join(dir, 'hook.key')}`, 'env:TEST_WEBHOOK_KEY'];
  expect(await planned('webhookKeys: [file:hook.key, env:TEST_WEBHOOK_KEY]')).toEqual({
    kind: 'bamboohr',
    webhookKey: webhookKeys[0],
    webhookKeys,
    signing: bamboohrWebhooks,
  });
});

test('how the HR system of a definition signs is known without its file', async () => {
  const definition = await readFile(new URL('../hris/definitions/acme.yaml', import.meta.url), 'utf8');
  // Nothing of the default mapping fills the start date.
  await writeFile(join(dir, 'acme-hr.yaml'), definition.replace('type: date, required: true', 'type: date'));
  expect(await planned('webhookKeys: [env:TEST_WEBHOOK_KEY]', 'skip', DEFINED)).toMatchObject({
    kind: 'http',
    webhookKeys: ['env:TEST_WEBHOOK_KEY'],
    signing: {
      header: 'x-acme-signature',
      ids: [
        ['staff', 'id'],
        ['event', 'staffId'],
      ],
    },
  });
});

test('a tenant file of before there were several names one', async () => {
  const webhookKey = 'env:TEST_WEBHOOK_KEY';
  expect(await planned(`webhookKey: ${webhookKey}`)).toEqual({
    kind: 'bamboohr',
    webhookKey,
    webhookKeys: [webhookKey],
    signing: bamboohrWebhooks,
  });
});

test.each<[string, 'check' | 'skip', string]>([
  ['[env:TEST_WEBHOOK_KEY, sk-literal-9876]', 'skip', '"hris.webhookKeys.1" is a secret'],
  ['[env:A, env:B, env:C]', 'skip', '"hris.webhookKeys" is not right: expected at most two keys'],
  ['env:TEST_WEBHOOK_KEY', 'skip', 'expected a list such as'],
  ['[env:TEST_WEBHOOK_KEY, file:not-there.key]', 'check', 'not-there.key is missing or empty'],
])('webhookKeys: %s is refused (secrets: %s)', async (keys, secrets, why) => {
  const refused = planned(`webhookKeys: ${keys}`, secrets);
  await expect(refused).rejects.toThrow(why);
  await expect(refused).rejects.not.toThrow('sk-literal');
});
