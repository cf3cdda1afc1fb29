import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isConnectorError } from '../../../src/errors.ts';
import { createPartnerClient, type PartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import { readRefusal } from '../../../src/partner/client/read-answer.ts';
import { type AnyEndpoint, defaultOverrides } from '../../../src/partner/contract/index.ts';
import { type ControlClient, createControlClient } from '../../../src/sandbox/control/client.ts';
import { type Json, openReceiver, type ReceivedWebhook } from '../open-sandbox.ts';
import type { Loose } from './loose.ts';

const MAIN = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));
const LETTERS = { own: 'a', other: 'o', stranger: 'z', inactive: 'i', throttled: 't', failing: 'f' } as const;
type Who = keyof typeof LETTERS;

/** How a call ended, whoever sent it. */
export interface Ending {
  by: 'client' | 'raw request';
  status: number;
  /** Undefined for a success. */
  code: string | undefined;
  body: Json;
}

/** One sandbox process, its companies, and a receiver of the first company's events; the tests are a process apart. */
export interface World extends AsyncDisposable {
  partner: PartnerClient;
  other: PartnerClient;
  control: ControlClient;
  /** Addresses and the first company's key, for tools of their own. */
  baseUrl: string;
  controlUrl: string;
  key: string;
  companyId: number;
  otherCompanyId: number;
  received: readonly ReceivedWebhook[];
  /** A number that was never given before. */
  next(): number;
  /** By the typed client where it lets the request out, otherwise as a raw request. */
  send(endpoint: AnyEndpoint, input: Loose, as?: Who): Promise<Ending>;
  /** As it stands, whatever the client would say. */
  sendRaw(endpoint: AnyEndpoint, input: Loose, as?: Who): Promise<Ending>;
}

/** `more` are further flags of `hirebridge sandbox`. */
export async function openWorld(more: Record<string, string> = {}): Promise<World> {
  const receiver = await openReceiver();
  const flags = { port: 0, 'control-port': 0, key: keyOf('own'), 'other-key': keyOf('other'), seed: 3 };
  const { child, facts } = await startSandboxProcess({
    ...flags,
    jobs: 2,
    candidates: 12,
    'webhook-url': receiver.url,
    ...more,
  });
  const control = createControlClient(facts['control'] ?? '');
  const baseUrl = facts['partner'] ?? '';
  const clients = Object.fromEntries(
    Object.keys(LETTERS).map((who) => [who, clientOf(baseUrl, keyOf(who as Who))]),
  ) as Record<Who, PartnerClient>;
  const otherCompanyId = await prepareCompanies(control, Number(facts['company']));
  let counter = 0;
  const raw: World['sendRaw'] = (endpoint, input, as = 'own') => sendRaw(baseUrl, endpoint, input, keyOf(as));
  return {
    partner: clients.own,
    other: clients.other,
    control,
    baseUrl,
    controlUrl: facts['control'] ?? '',
    key: keyOf('own'),
    companyId: Number(facts['company']),
    otherCompanyId,
    received: receiver.received,
    next: () => (counter += 1),
    sendRaw: raw,
    async send(endpoint, input, as = 'own') {
      return (await sendTyped(clients[as], endpoint, input)) ?? raw(endpoint, input, as);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(Object.values(clients).map((client) => client.close()));
      child.kill('SIGKILL');
      await receiver[Symbol.asyncDispose]();
    },
  };
}

/** The sandbox as anybody starts it, its addresses read from what it announces. */
export async function startSandboxProcess(
  flags: Record<string, string | number>,
): Promise<{ child: ChildProcess; facts: Record<string, string> }> {
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(process.execPath, [MAIN, 'sandbox', ...args], {
    env: { ...process.env, LOG_LEVEL: 'error' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`the sandbox ended with ${String(code)}`)),
  );
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [{ facts: Record<string, string> }];
  ended.catch(() => undefined);
  return { child, facts: message.facts };
}

function keyOf(who: Who): string {
  return `sk_test_${LETTERS[who].repeat(22)}`;
}

/** The status of each client's last call, as its report has it: a call gives back only the body. */
const statusSeen = new WeakMap<PartnerClient, number | undefined>();

function clientOf(baseUrl: string, apiKey: string): PartnerClient {
  const client: PartnerClient = createPartnerClient({
    baseUrl,
    apiKey,
    environment: 'sandbox',
    allowPrivate: true,
    onCall: ({ status }) => statusSeen.set(client, status),
  });
  return client;
}

/** Plenty of credits for the first; one company for each refusal that comes before everything else. */
async function prepareCompanies(control: ControlClient, companyId: number): Promise<number> {
  await control.act('setCredits', { credits: 1_000_000, onboardingCredits: 1_000_000 });
  const inactive = await control.act('createCompany', { name: 'Inactive', key: keyOf('inactive') });
  await control.act('deactivateAccount', { companyId: inactive.id });
  for (const [who, kind] of [
    ['throttled', 'throttle'],
    ['failing', 'server-error'],
  ] as const) {
    const company = await control.act('createCompany', { name: who, key: keyOf(who) });
    await control.act('addFault', { kind, companyId: company.id });
  }
  // Made directly after the first by --other-key.
  return companyId + 1;
}

/** Undefined when the client refuses to send it. */
async function sendTyped(client: PartnerClient, endpoint: AnyEndpoint, input: Loose): Promise<Ending | undefined> {
  const [section = '', name = ''] = endpoint.id.split('.');
  const tree = client as unknown as Record<string, Record<string, (input: Loose) => Promise<unknown>>>;
  try {
    const body = await tree[section]?.[name]?.(input);
    return { by: 'client', status: statusSeen.get(client) ?? 0, code: undefined, body };
  } catch (error) {
    if (!isConnectorError(error)) throw error;
    if (error.code === 'INVALID_INPUT') return undefined;
    if (error.status === undefined) throw error;
    return { by: 'client', status: error.status, code: error.code, body: undefined };
  }
}

async function sendRaw(baseUrl: string, endpoint: AnyEndpoint, input: Loose, key: string): Promise<Ending> {
  const body = endpoint.body === undefined ? undefined : input.body;
  const response = await fetch(baseUrl + pathOf(endpoint, input), {
    method: endpoint.method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const answered: Json = JSON.parse(text);
  const { status } = response;
  const times = { sentAt: 0, endedAt: 0, requestId: 'raw' };
  const answer = { status, headers: Object.fromEntries(response.headers), body: Buffer.from(text), ...times };
  const call = { overrides: defaultOverrides, endpoint, input };
  const code = response.ok ? undefined : readRefusal(call, answer, answered).code;
  return { by: 'raw request', status, code, body: answered };
}

/** Path and query of a call, whatever stands in them. */
export function pathOf(endpoint: AnyEndpoint, input: Loose): string {
  const path = endpoint.path.replaceAll(/:(\w+)/g, (_all, name: string) =>
    encodeURIComponent(String(input.params?.[name] ?? '')),
  );
  const query = new URLSearchParams(
    Object.entries(input.query ?? {}).map(([name, value]): [string, string] => [name, asText(value)]),
  );
  return `${path}${query.size === 0 ? '' : `?${query.toString()}`}`;
}

/** Lists as comma lists, as section 4.3 has them; objects only fuzzing puts there. */
function asText(value: unknown): string {
  if (Array.isArray(value)) return value.map(asText).join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
