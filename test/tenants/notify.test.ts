import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadTenants } from '../../src/tenants/load-tenants.ts';
import type { Notify } from '../../src/tenants/notify-section.ts';
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
