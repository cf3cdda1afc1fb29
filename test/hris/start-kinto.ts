import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPython, serveUntilAnswers } from '../../src/counterparts/install-once.ts';
import { freePort } from '../../src/free-port.ts';
import { endChild } from '../../src/temporal/dev-server/spawn-tied.ts';

export const KINTO_PASSWORD = 'kinto-test-0123456789';

/** Kinto of PyPI, a record store with an OpenAPI document; one of its collections serves as a company's staff. */
export interface KintoServer {
  url: string;
  /** The server's own OpenAPI document. */
  document(): Promise<string>;
  count(): Promise<number>;
  stop(): Promise<void>;
}

const REQUIREMENTS = [
  'kinto==26.5.0',
  'attrs==26.1.0',
  'bcrypt==5.0.0',
  'certifi==2026.10.19.post1',
  'charset-normalizer==3.5.2',
  'colander==2.0',
  'colorama==0.4.6',
  'dockerflow==2026.3.4',
  'hupper==1.12.1',
  'idna==3.20',
  'iso8601==2.1.0',
  'jsonpatch==1.48',
  'jsonpointer==3.12',
  'jsonschema==4.26.0',
  'jsonschema-specifications==2025.9.1',
  'logging-color-formatter==1.1.0',
  'PasteDeploy==3.1.0',
  'plaster==1.1.2',
  'plaster-pastedeploy==1.0.1',
  'PyJWT==2.15.1',
  'pyramid==2.1',
  'pyramid_multiauth==1.1.0',
  'pyramid_tm==2.6',
  'python-dateutil==4.0.0',
  'python-rapidjson==1.25',
  'referencing==0.37.0',
  'requests==2.34.2',
  'rpds-py==2026.9.1',
  'transaction==5.1',
  'translationstring==1.4',
  'typing_extensions==4.16.0',
  'tzdata==2026.6',
  'urllib3==2.8.0',
  'venusian==3.1.1',
  'waitress==3.0.2',
  'WebOb==1.8.11',
  'zope.deprecation==6.0',
  'zope.interface==8.7',
];

export async function startKinto(): Promise<KintoServer> {
  const bin = await installPython('kinto-26.5.0', REQUIREMENTS);
  const folder = await mkdtemp(join(tmpdir(), 'hirebridge-kinto-'));
  const port = await freePort();
  const config = join(folder, 'kinto.ini');
  await writeFile(config, settings(port));
  const url = `http://127.0.0.1:${port}/v1`;
  const child = await serveUntilAnswers(join(bin, 'kinto'), ['start', '--ini', config], `${url}/`);
  const authorization = `Basic ${Buffer.from(`hr:${KINTO_PASSWORD}`).toString('base64')}`;
  const put = async (path: string, data: unknown): Promise<void> => {
    const headers = { authorization, 'content-type': 'application/json' };
    const answer = await fetch(`${url}${path}`, { method: 'PUT', headers, body: JSON.stringify({ data }) });
    if (!answer.ok) throw new Error(`PUT ${path} was answered ${answer.status}`);
  };
  await put('/accounts/hr', { password: KINTO_PASSWORD });
  await put('/buckets/acme', {});
  await put('/buckets/acme/collections/staff', {});
  return {
    url,
    document: async () => (await fetch(`${url}/__api__`)).text(),
    async count() {
      const answer = await fetch(`${url}/buckets/acme/collections/staff/records`, {
        method: 'HEAD',
        headers: { authorization },
      });
      return Number(answer.headers.get('total-records') ?? answer.headers.get('total-objects'));
    },
    async stop() {
      await endChild(child, 'SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function settings(port: number): string {
  const memory = ['storage', 'cache', 'permission'].map((name) => `kinto.${name}_backend = kinto.core.${name}.memory`);
  return `[server:main]
use = egg:waitress
host = 127.0.0.1
port = ${port}
[app:main]
use = egg:kinto
kinto.includes = kinto.plugins.accounts
multiauth.policies = account
multiauth.policy.account.use = kinto.plugins.accounts.authentication.AccountsAuthenticationPolicy
kinto.account_create_principals = system.Everyone
kinto.bucket_create_principals = system.Authenticated
${memory.join('\n')}
`;
}
