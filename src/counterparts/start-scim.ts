import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { endChild } from '../temporal/dev-server/spawn-tied.ts';
import { installPython, serveUntilAnswers } from './install-once.ts';

export const SCIM_SERVER_TOKEN = 'scim-server-test-0123456789';

/** A user in the server's form. */
type ScimUser = Record<string, unknown> & { id: string; externalId?: string; emails?: { value?: string }[] };

/** scim2-server of PyPI: an independent SCIM server with users, filters and versions, in memory. */
export interface ScimServer {
  url: string;
  /** Calls it as any other client would. */
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
  users(): Promise<ScimUser[]>;
  stop(): Promise<void>;
}

/** Exact versions, so that a newer one cannot change a test. */
const REQUIREMENTS = [
  'scim2-server==0.8.3',
  'scim2-models==0.12.3',
  'pydantic==2.14.4',
  'pydantic_core==2.50.5',
  'annotated-types==0.8.0',
  'typing-inspection==0.4.5',
  'typing_extensions==4.16.0',
  'email-validator==2.4.0',
  'dnspython==2.9.2',
  'idna==3.20',
  'lark==1.3.1',
];

export async function startScim(): Promise<ScimServer> {
  const bin = await installPython('scim2-server-0.8.3', REQUIREMENTS);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/v2`;
  const args = ['--port', String(port), '--bearer-token', SCIM_SERVER_TOKEN];
  const child = await serveUntilAnswers(join(bin, 'scim2-server'), args, url);
  const call = createCall(url);
  return { url, call, users: () => readUsers(call), stop: () => endChild(child, 'SIGKILL') };
}

function createCall(url: string): ScimServer['call'] {
  return async <T>(method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${SCIM_SERVER_TOKEN}`, 'content-type': 'application/scim+json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}`);
    return (answer.status === 204 ? undefined : await answer.json()) as T;
  };
}

async function readUsers(call: ScimServer['call']): Promise<ScimUser[]> {
  const users: ScimUser[] = [];
  for (;;) {
    const page = await call<{ totalResults: number; Resources?: ScimUser[] }>(
      'GET',
      `/Users?startIndex=${users.length + 1}&count=500`,
    );
    users.push(...(page.Resources ?? []));
    if (users.length >= page.totalResults || page.Resources?.length === 0) return users;
  }
}
