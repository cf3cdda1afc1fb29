import type { Found } from '../../hire/hire.ts';
import { readSigned } from '../../http/signed-delivery.ts';
import {
  create,
  employ,
  eventually,
  expectFit,
  type HrisCase,
  type HrisUnderTest,
  keyOf,
  offers,
  overWire,
  power,
  referenceOf,
  refusal,
  settled,
  shown,
  signal,
  write,
} from '../hris-under-test.ts';
import { type HttpFault, type HttpProxy, startHttpProxy } from '../http-proxy.ts';

/** Trouble of the connection, the clock, the server and what is in front of it. */
export const trouble: readonly HrisCase[] = [
  { name: 'answer lost after create', needs: ['wire'], run: losesAnswer },
  { name: 'the connection dies before create arrives', needs: ['wire'], run: losesRequest },
  { name: 'executed late', needs: ['wire'], run: executesLate },
  { name: 'throttled or busy: the caller is told to come back', needs: ['busy'], run: isBusy },
  { name: 'credentials expired or revoked', needs: ['revoke'], run: isRevoked },
  { name: 'clocks ten minutes apart', needs: ['ownClock'], run: skewsClock },
  { name: 'the server is killed and restarted in the middle', needs: ['restart', 'reference'], run: restarts },
  { name: 'TLS: a trusted certificate of another name', needs: ['tls'], run: refusesOtherName },
  { name: 'a redirect elsewhere', needs: ['http'], run: refusesRedirect },
  { name: 'a 200 with an HTML login page', needs: ['http'], run: refusesLoginPage },
  { name: 'a proxy answers 502: a read is repeated, a create is unknown', needs: ['http'], run: isOverloaded },
];

async function losesAnswer(hris: HrisUnderTest): Promise<void> {
  await overWire(hris, async ({ adapter, strike }) => {
    const before = await hris.count();
    const struck = strike('answer-lost');
    const lost = await refusal(create(hris, 'lost', { on: adapter }));
    expectFit(lost, { action: 'unknown' }, 'the refusal');
    await struck;
    const since = performance.now();
    const key = keyOf(hris, 'lost');
    // Then a person is asked.
    if (key === undefined) return;
    let missedAt = since;
    const find = async (): Promise<Found> => {
      const began = performance.now();
      const found = await hris.second.employees.find(key, signal);
      if (found.kind === 'none') missedAt = began;
      return found;
    };
    await eventually(find, { kind: 'one', by: key.by }, shown(hris), 'who is found');
    assertWithinLag(hris, missedAt - since);
    expectFit(await hris.count(), before + 1, 'the number of employees');
    if (!offers(hris, 'reference')) return;
    const again = await refusal(create(hris, 'lost', { on: adapter }));
    expectFit(again, { code: 'ALREADY_EXISTS', action: 'ignore' }, 'the second create');
    expectFit(await hris.count(), before + 1, 'the number of employees');
  });
}

/** The answer is lost a little before this side knows. */
const SLACK_MS = 2_000;

/** A create whose answer was lost is made again if a search that begins after `readLag` does not find its employee. */
function assertWithinLag({ adapter }: HrisUnderTest, missedMs: number): void {
  const { readLagMs } = adapter.capabilities;
  if (missedMs <= readLagMs + SLACK_MS) return;
  throw new Error(
    `Who was made is not found ${(missedMs / 1_000).toFixed(1)} s later, and "readLag" is ${readLagMs / 1_000} s: a ` +
      'create whose answer is lost would be made twice. Set a longer readLag.',
  );
}

async function losesRequest(hris: HrisUnderTest): Promise<void> {
  await overWire(hris, async ({ adapter, strike }) => {
    const before = await hris.count();
    const struck = strike('reset-before');
    const lost = await refusal(create(hris, 'reset', { on: adapter }));
    expectFit(lost, { action: 'unknown' }, 'the refusal');
    await struck;
    expectFit(await hris.count(), before, 'the number of employees');
    await settled(hris, adapter, await create(hris, 'reset', { on: adapter }));
    expectFit(await hris.count(), before + 1, 'the number of employees');
  });
}

async function executesLate(hris: HrisUnderTest): Promise<void> {
  await overWire(hris, async ({ adapter, strike, refusesLate }) => {
    const before = await hris.count();
    const struck = strike('executed-late');
    const late = create(hris, 'late', { on: adapter, options: { remainingMs: () => 200 } });
    expectFit(await refusal(late), { action: 'unknown' }, 'the refusal');
    await struck;
    const key = keyOf(hris, 'late');
    if (key === undefined) return;
    const find = () => hris.second.employees.find(key, signal);
    await eventually(find, { kind: refusesLate ? 'none' : 'one' }, shown(hris), 'who is found');
    expectFit(await hris.count(), before + (refusesLate ? 0 : 1), 'the number of employees');
  });
}

async function isBusy(hris: HrisUnderTest): Promise<void> {
  const before = await hris.count();
  const { adapter, end } = await power(hris, 'busy')();
  try {
    const error: unknown = await create(hris, 'busy', { on: adapter }).catch((reason: unknown) => reason);
    expectFit(error, { action: /^(throttle|retry)$/ }, 'the refusal');
    // A throttling system says how long to wait.
    const { action, retryAfterMs } = error as { action: string; retryAfterMs?: number };
    if (action === 'throttle') expectFit(typeof retryAfterMs, 'number', 'the type of retryAfterMs');
    expectFit(await hris.count(), before, 'the number of employees');
    await end();
    await settled(hris, adapter, await create(hris, 'busy', { on: adapter }));
    expectFit(await hris.count(), before + 1, 'the number of employees');
  } finally {
    await end();
    await adapter.close();
  }
}

async function isRevoked(hris: HrisUnderTest): Promise<void> {
  const before = await hris.count();
  const { adapter, end } = await power(hris, 'revoke')();
  try {
    const refused = { code: 'HRIS_AUTH', action: 'reauthorize' };
    // An open connection may have to end first.
    await eventually(() => adapter.probe(signal), { ok: false, error: refused }, shown(hris), 'the probe');
    expectFit(await refusal(create(hris, 'revoked', { on: adapter })), refused, 'the refusal');
  } finally {
    await end();
    await adapter.close();
  }
  expectFit(await hris.count(), before, 'the number of employees');
}

/** Our deadlines are durations, and the HRIS's times are never compared with ours. */
async function skewsClock(hris: HrisUnderTest): Promise<void> {
  for (const [tag, minutes] of [
    ['ahead', 10],
    ['behind', -10],
  ] as const) {
    const setRight = power(hris, 'ownClock')(minutes);
    try {
      const ref = await employ(hris, tag);
      await eventually(() => hris.adapter.employees.read(ref.id, signal), { ref }, shown(hris), 'the employee');
      await hris.adapter.employees.update(ref.id, hris.profile.edit, write);
    } finally {
      setRight();
    }
  }
}

/** Repeats the create until one is answered; whatever the killed server did, the reference must exist once. */
async function restarts(hris: HrisUnderTest): Promise<void> {
  const before = await hris.count();
  const begin = () =>
    create(hris, 'restart').then(
      // The customer's job may lose its connection as well.
      (result) =>
        settled(hris, hris.adapter, result).then(
          () => 'created',
          () => 'unknown',
        ),
      (error: { action: string }) => error.action,
    );
  const [first] = await Promise.all([begin(), power(hris, 'restart')()]);
  expectFit(first, /^(created|retry|unknown)$/, 'what became of it');
  await eventually(begin, /^(created|ignore)$/, { interval: 200, timeout: 20_000 }, 'what became of it');
  const key = { by: 'reference', value: referenceOf(hris, 'restart') } as const;
  expectFit(await hris.adapter.employees.find(key, signal), { kind: 'one' }, 'who is found');
  expectFit(await hris.count(), before + 1, 'the number of employees');
}

async function refusesOtherName(hris: HrisUnderTest): Promise<void> {
  const { right, wrong, reached, close } = await power(hris, 'tls')();
  try {
    const refused = { ok: false, error: { code: 'HRIS_UNREACHABLE' } };
    expectFit(await wrong.probe(signal), refused, 'the probe at another name');
    expectFit(await reached(), 0, 'what reached the server');
    expectFit(await right.probe(signal), { ok: true }, 'the probe at the right name');
    expectFit((await reached()) > 0, true, 'that something reached the server');
  } finally {
    await Promise.all([right.close(), wrong.close()]);
    await close();
  }
}

function refusesRedirect(hris: HrisUnderTest): Promise<void> {
  return refusesStranger(hris, { status: 302, headers: { location: 'https://elsewhere.example/login' } });
}

function refusesLoginPage(hris: HrisUnderTest): Promise<void> {
  return refusesStranger(hris, {
    status: 200,
    headers: { 'content-type': 'text/html' },
    body: '<html>Log in</html>',
  });
}

/** No employee is accepted, nothing reaches the HRIS, and the error names the reason. */
async function refusesStranger(hris: HrisUnderTest, answer: NonNullable<HttpFault['answer']>): Promise<void> {
  await overProxy(hris, async (proxy, { employees }) => {
    const before = await hris.count();
    const struck = proxy.strike({ kind: 'answer', on: () => true, answer });
    const refused = await refusal(employees.find({ by: 'email', value: 'nobody@example.org' }, signal));
    expectFit(await struck, 0, 'the status that the server gave');
    expectFit(refused, { code: /^HRIS_/, message: /hris\.url|base URL/ }, 'the refusal');
    expectFit(await hris.count(), before, 'the number of employees');
  });
}

async function isOverloaded(hris: HrisUnderTest): Promise<void> {
  const answer = { status: 502, body: 'Bad gateway' };
  await overProxy(hris, async (proxy, adapter) => {
    void proxy.strike({ kind: 'answer', on: () => true, answer });
    const read = await refusal(adapter.employees.find({ by: 'email', value: 'nobody@example.org' }, signal));
    expectFit(read, { action: 'retry' }, 'the refusal of a read');
    void proxy.strike({ kind: 'answer', on: power(hris, 'http').isCreate, answer });
    const made = await refusal(create(hris, 'overloaded', { on: adapter }));
    expectFit(made, { action: 'unknown' }, 'the refusal of a create');
  });
}

/** First lets the adapter do its one-time work, such as a login. */
async function overProxy(
  hris: HrisUnderTest,
  work: (proxy: HttpProxy, adapter: HrisUnderTest['adapter']) => Promise<void>,
): Promise<void> {
  const { url, open } = power(hris, 'http');
  const proxy = await startHttpProxy(url);
  const adapter = await open({ url: proxy.url });
  try {
    expectFit(await adapter.probe(signal), { ok: true }, 'the probe');
    await work(proxy, adapter);
  } finally {
    await adapter.close();
    await proxy.close();
  }
}

/** What the HRIS sends on its own. */
export const webhooks: readonly HrisCase[] = [
  { name: 'a webhook names who changed', needs: ['webhooks'], run: namesWhoChanged },
  { name: 'forged webhook', needs: ['webhooks'], run: refusesForged },
];

const KEY = 'webhook-test-0123456789';
const NOW = Date.parse('2026-11-22T12:00:00Z');
const MINUTE = 60_000;

async function namesWhoChanged(hris: HrisUnderTest): Promise<void> {
  const { sign, payloads, signing } = power(hris, 'webhooks');
  for (const body of payloads(['40500'])) {
    for (const skew of [0, -14 * MINUTE, 14 * MINUTE]) {
      const delivery = { headers: sign(body, KEY, NOW + skew), body, at: NOW };
      expectFit(readSigned(signing, delivery, KEY), { ids: ['40500'] }, 'what was read');
    }
  }
  for (const body of [Buffer.from('{}'), Buffer.from('not JSON'), Buffer.from([0xff, 0xfe])])
    expectFit(readSigned(signing, { headers: sign(body, KEY, NOW), body, at: NOW }, KEY), { ids: [] }, 'what was read');
}

async function refusesForged(hris: HrisUnderTest): Promise<void> {
  const { sign, payloads, signing } = power(hris, 'webhooks');
  const [body = Buffer.alloc(0)] = payloads(['40500']);
  const [other = Buffer.alloc(0)] = payloads(['40501']);
  const right = sign(body, KEY, NOW);
  const refused = (headers: typeof right, { sent = body, at = NOW } = {}) =>
    expectFit(readSigned(signing, { headers, body: sent, at }, KEY), undefined, 'what was read of a forged webhook');
  expectFit(readSigned(signing, { headers: right, body, at: NOW }, KEY), {}, 'what was read');
  refused(sign(body, 'another key', NOW));
  refused(sign(body, '', NOW));
  refused(right, { sent: other });
  // A signature without a time stays valid; that is harmless, because the named records are read again.
  if (JSON.stringify(sign(body, KEY, NOW)) !== JSON.stringify(sign(body, KEY, NOW + MINUTE))) {
    refused(right, { at: NOW + 20 * MINUTE });
    refused(right, { at: NOW - 20 * MINUTE });
  }
  for (const name of Object.keys(right)) {
    refused({ ...right, [name]: undefined });
    refused({ ...right, [name]: '' });
    refused({ ...right, [name]: [String(right[name]), String(right[name])] });
    refused({ ...right, [name]: `${String(right[name])}0` });
    refused({ ...right, [name]: sign(other, KEY, NOW + MINUTE)[name] });
  }
}
