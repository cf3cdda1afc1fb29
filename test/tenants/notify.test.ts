import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadTenants } from '../../src/tenants/load-tenants.ts';
import type { Notify } from '../../src/tenants/sections.ts';
import { ACME, makeTenantsFolder, removeTenantsFolder } from './acme.ts';

let dir: string;

beforeEach(async () => {
  dir = await makeTenantsFolder();
});

afterEach(() => removeTenantsFolder(dir));

async function load(notify: string): Promise<Notify | undefined> {
  await writeFile(join(dir, 'acme.yaml'), `${ACME}notify: ${notify}\n`);
  const [tenant] = await loadTenants(dir, { secrets: 'skip' });
  return tenant?.notify;
}

test('notify is an address, or an address with its secret and the time of the digest', async () => {
  const url = 'https://hooks.example/acme';
  expect(await load(url)).toEqual({ url, form: 'webhook', timezone: 'UTC' });
  const whole = `{ url: "${url}", secret: "file:n.secret", digest: "08:00", timezone: Europe/Berlin }`;
  expect(await load(whole)).toEqual({
    url,
    form: 'webhook',
    secret: `file:${join(dir, 'n.secret')}`,
    digest: '08:00',
    timezone: 'Europe/Berlin',
  });
});

test.each([
  'ftp://hooks.example',
  '{ url: "https://hooks.example", secret: a-literal-secret }',
  '{ url: "https://hooks.example", digest: "8 o\'clock" }',
  '{ url: "https://hooks.example", timezone: Berlin }',
  '{ url: "https://hooks.example", form: pigeon }',
  '{ url: "https://hooks.example", form: mail, from: a@acme.example, to: [b@acme.example] }',
  '{ url: env:ACME_SMTP, form: mail }',
])('notify: %s is rejected without being repeated', async (notify) => {
  const refused = load(notify);
  await expect(refused).rejects.toThrow(/acme\.yaml:\d+:\d+ "notify/);
  await expect(refused).rejects.not.toThrow('a-literal-secret');
});

const MAIL = 'form: mail, from: a@b.example, to: [c@d.example]';
test.each<[string, RegExp]>([
  ['notify: { form: slack, url: "https://hooks.slack.example/T0/hunter2" }', /address of a chat is a secret/],
  ['notify:\n  url: https://hooks.slack.com/services/T0/hunter2', /address of a chat is a secret/],
  ['notify: https://prod-1.westeurope.logic.azure.com/hunter2', /address of a chat is a secret/],
  ['notify: https://me:hunter2@hooks.acme.example/', /holds a user or a password/],
  ['notify: http://hooks.acme.example/a', /http would expose .*Write an https address/],
  ['notify: http://8.8.8.8/a', /http would expose/],
  ['notify: { url: env:CHAT, form: slack, secret: env:HUNTER2 }', /secret is never read .*webhook/],
  ['notify: { url: env:CHAT, from: a@b.example }', /notify\.from is never read .*mail/],
  [`notify: { url: env:SMTP, ${MAIL}, secret: env:HUNTER2 }`, /notify\.secret is never read with the form mail/],
  ['events: { url: "http://events.acme.example", secret: env:KEY }', /http would expose/],
  ['events: { url: "https://hunter2@events.acme.example", secret: env:KEY }', /a user or a password/],
])('%s is refused with its place and what would work', async (section, text) => {
  await writeFile(join(dir, 'acme.yaml'), `${ACME}${section}\n`);
  const refused = loadTenants(dir, { secrets: 'skip' });
  await expect(refused).rejects.toThrow(text);
  await expect(refused).rejects.toThrow(/acme\.yaml:\d+:\d+ /);
  await expect(refused).rejects.not.toThrow('hunter2');
});

test.each([
  'http://127.0.0.1:9/a',
  'http://hooks:8080/a',
  'http://hooks.acme.internal/',
  'https://hooks.acme.example/',
])('notify takes %s: nothing of it is a secret, and nobody outside reads along', async (url) =>
  expect((await load(url))?.url).toBe(url),
);
