import { expect, vi } from 'vitest';
import { employ, type HrisCase, type HrisUnderTest, power, settled, shown } from '../hris-case.ts';
import { type HttpFault, type HttpProxy, startHttpProxy } from '../http-proxy.ts';
import { refusal, signal, write } from '../profile.ts';

/** The wire, the clock, the server and whoever stands before it. */
export const trouble: readonly HrisCase[] = [
  { name: 'answer lost after create', needs: ['wire', 'reference'], run: losesAnswer },
  { name: 'the connection dies before create arrives', needs: ['wire'], run: losesRequest },
  { name: 'executed late', needs: ['wire', 'reference'], run: executesLate },
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
  const { adapter, strike, close } = await power(hris, 'wire')();
  try {
    const before = await hris.count();
    const struck = strike('answer-lost');
    const fields = hris.profile.employee('lost');
    expect(await refusal(adapter.employees.create(fields, '27:lost', write))).toMatchObject({ action: 'unknown' });
    await struck;
    expect(await hris.count()).toBe(before + 1);
    await expect
      .poll(() => hris.second.employees.find({ by: 'reference', value: '27:lost' }, signal), shown(hris))
      .toMatchObject({ kind: 'one', by: 'reference' });
    const again = await refusal(adapter.employees.create(fields, '27:lost', write));
    expect(again).toMatchObject({ code: 'ALREADY_EXISTS', action: 'ignore' });
    expect(await hris.count()).toBe(before + 1);
  } finally {
    await close();
  }
}

async function losesRequest(hris: HrisUnderTest): Promise<void> {
  const { adapter, strike, close } = await power(hris, 'wire')();
  try {
    const before = await hris.count();
    const struck = strike('reset-before');
    const fields = hris.profile.employee('reset');
    expect(await refusal(adapter.employees.create(fields, '27:reset', write))).toMatchObject({ action: 'unknown' });
    await struck;
    expect(await hris.count()).toBe(before);
    await settled(hris, adapter, await adapter.employees.create(fields, '27:reset', write));
    expect(await hris.count()).toBe(before + 1);
  } finally {
    await close();
  }
}

async function executesLate(hris: HrisUnderTest): Promise<void> {
  const { adapter, strike, refusesLate, close } = await power(hris, 'wire')();
  try {
    const before = await hris.count();
    const struck = strike('executed-late');
    const soon = { ...write, remainingMs: () => 200 };
    const late = adapter.employees.create(hris.profile.employee('late'), '27:late', soon);
    expect(await refusal(late)).toMatchObject({ action: 'unknown' });
    await struck;
    await expect
      .poll(() => hris.second.employees.find({ by: 'reference', value: '27:late' }, signal), shown(hris))
      .toMatchObject({ kind: refusesLate ? 'none' : 'one' });
    expect(await hris.count()).toBe(before + (refusesLate ? 0 : 1));
  } finally {
    await close();
  }
}

async function isBusy(hris: HrisUnderTest): Promise<void> {
  const before = await hris.count();
  const { adapter, end } = await power(hris, 'busy')();
  const create = () => adapter.employees.create(hris.profile.employee('busy'), '27:busy', write);
  try {
    const error = await create().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ action: expect.stringMatching(/^(throttle|retry)$/) });
    // Who throttles says for how long.
    if ((error as { action: string }).action === 'throttle')
      expect(error).toMatchObject({ retryAfterMs: expect.any(Number) });
    expect(await hris.count()).toBe(before);
    await end();
    await settled(hris, adapter, await create());
    expect(await hris.count()).toBe(before + 1);
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
    // A connection that was open may have to end first.
    await expect.poll(() => adapter.probe(signal), shown(hris)).toMatchObject({ ok: false, error: refused });
    const create = adapter.employees.create(hris.profile.employee('revoked'), '27:revoked', write);
    expect(await refusal(create)).toMatchObject(refused);
  } finally {
    await end();
    await adapter.close();
  }
  expect(await hris.count()).toBe(before);
}

/** Our deadlines are durations, and what the HRIS stamps is compared with nothing of ours. */
async function skewsClock(hris: HrisUnderTest): Promise<void> {
  for (const [tag, minutes] of [
    ['ahead', 10],
    ['behind', -10],
  ] as const) {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minutes * 60_000 });
    try {
      const ref = await employ(hris, tag);
      await expect.poll(() => hris.adapter.employees.read(ref.id, signal), shown(hris)).toMatchObject({ ref });
      await hris.adapter.employees.update(ref.id, hris.profile.edit, write);
    } finally {
      vi.useRealTimers();
    }
  }
}

/** Creates go on until one is answered; whatever the killed server had done, the reference stands once. */
async function restarts(hris: HrisUnderTest): Promise<void> {
  const before = await hris.count();
  const fields = hris.profile.employee('restart');
  const create = () =>
    hris.adapter.employees.create(fields, '27:restart', write).then(
      // The customer's job may lose its connection as well.
      (result) =>
        settled(hris, hris.adapter, result).then(
          () => 'created',
          () => 'unknown',
        ),
      (error: { action: string }) => error.action,
    );
  const [first] = await Promise.all([create(), power(hris, 'restart')()]);
  expect(['created', 'retry', 'unknown']).toContain(first);
  await expect.poll(create, { interval: 200, timeout: 20_000 }).toMatch(/^(created|ignore)$/);
  const found = await hris.adapter.employees.find({ by: 'reference', value: '27:restart' }, signal);
  expect(found).toMatchObject({ kind: 'one' });
  expect(await hris.count()).toBe(before + 1);
}

async function refusesOtherName(hris: HrisUnderTest): Promise<void> {
  const { right, wrong, reached, close } = await power(hris, 'tls')();
  try {
    expect(await wrong.probe(signal)).toMatchObject({ ok: false, error: { code: 'HRIS_UNREACHABLE' } });
    expect(await reached()).toBe(0);
    expect(await right.probe(signal)).toMatchObject({ ok: true });
    expect(await reached()).toBeGreaterThan(0);
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

/** No employee is believed, nothing reaches the HRIS, and the reason is told. */
async function refusesStranger(hris: HrisUnderTest, answer: NonNullable<HttpFault['answer']>): Promise<void> {
  await overProxy(hris, async (proxy, { employees }) => {
    const before = await hris.count();
    const struck = proxy.strike({ kind: 'answer', on: () => true, answer });
    const refused = await refusal(employees.find({ by: 'email', value: 'nobody@example.org' }, signal));
    expect(await struck).toBe(0);
    expect(refused.code).toMatch(/^HRIS_/);
    expect(refused.message).toMatch(/hris\.url|base URL/);
    expect(await hris.count()).toBe(before);
  });
}

async function isOverloaded(hris: HrisUnderTest): Promise<void> {
  const answer = { status: 502, body: 'Bad gateway' };
  await overProxy(hris, async (proxy, { employees }) => {
    void proxy.strike({ kind: 'answer', on: () => true, answer });
    const read = await refusal(employees.find({ by: 'number', value: '1' }, signal));
    expect(read).toMatchObject({ action: 'retry' });
    void proxy.strike({ kind: 'answer', on: power(hris, 'http').isCreate, answer });
    const create = await refusal(employees.create(hris.profile.employee('overloaded'), '27:overloaded', write));
    expect(create).toMatchObject({ action: 'unknown' });
  });
}

/** Whatever the adapter does once, a login for example, is done before the work begins. */
async function overProxy(
  hris: HrisUnderTest,
  work: (proxy: HttpProxy, adapter: HrisUnderTest['adapter']) => Promise<void>,
): Promise<void> {
  const { url, open } = power(hris, 'http');
  const proxy = await startHttpProxy(url);
  const adapter = await open({ url: proxy.url });
  try {
    expect(await adapter.probe(signal)).toMatchObject({ ok: true });
    await work(proxy, adapter);
  } finally {
    await adapter.close();
    await proxy.close();
  }
}
