import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BambooDouble, startBambooDouble } from '../../../src/counterparts/bamboohr-double.ts';
import type { HrisConnection } from '../../../src/hris/port.ts';
import { bamboohrUnderTest, openBamboohr, bamboohrProfile as profile } from '../bamboohr-under-test.ts';
import { describeHris } from '../conformance.ts';
import { created, refusal, signal, write } from '../profile.ts';
import { hasDocument, startPrism } from './start-prism.ts';

let double: BambooDouble;
let prism: Awaited<ReturnType<typeof startPrism>>;
beforeAll(async () => {
  if (!(await hasDocument()))
    throw new Error(
      "The vendor's document is missing: set HIREBRIDGE_BAMBOOHR_OPENAPI to BambooHR's specs/public.yaml.",
    );
  double = await startBambooDouble();
  prism = await startPrism(double.url);
});
afterAll(async () => {
  await prism?.stop();
  await double?.close();
});

const open = (changes: Record<string, unknown> = {}) => openBamboohr(prism.url, changes);

describeHris('bamboohr', () => bamboohrUnderTest(double, prism.url));

describe('BambooHR', () => {
  let adapter: HrisConnection;
  beforeAll(async () => {
    adapter = await open();
  });
  afterAll(() => adapter?.close());

  test('both shapes of Location give the id', async () => {
    const refs = [];
    for (const n of [1, 2])
      refs.push(created(await adapter.employees.create(profile.employee(`location-${n}`), `19:${n}`, write)));
    expect(refs.map(({ id }) => double.company.employees.get(id)?.['homeEmail'])).toEqual([
      'location-1@example.org',
      'location-2@example.org',
    ]);
  });

  test('a country goes over as its name, and comes back as its code', async () => {
    const ref = created(await adapter.employees.create(profile.employee('country'), '19:3', write));
    expect(double.company.employees.get(ref.id)).toMatchObject({ country: 'Australia' });
    expect((await adapter.employees.read(ref.id, signal))?.fields['country']).toBe('AU');
  });

  test('a second create of one reference gives back the first employee', async () => {
    const ref = created(await adapter.employees.create(profile.employee('once'), '19:4', write));
    expect(await refusal(adapter.employees.create(profile.employee('once'), '19:4', write))).toMatchObject({
      code: 'ALREADY_EXISTS',
      action: 'ignore',
      details: { ...ref },
    });
  });

  test('what BambooHR says in a header is told, without the values', async () => {
    const refused = await refusal(
      adapter.employees.update('40500', { email: 'someone@example.org' }, write).then(() =>
        open({ fields: { shirt: { name: 'shirtSize' } } }).then(async (other) => {
          await other.employees.update('40500', { shirt: 'XL' }, write).finally(() => other.close());
        }),
      ),
    );
    expect(refused).toMatchObject({ code: 'INVALID_VALUE', action: 'reject' });
    expect(refused.message).toContain('Invalid field: shirtSize');
  });

  test('a key that no longer works is trouble of the HR system', async () => {
    const revoked = await open({ apiKey: 'revoked' });
    expect(await revoked.probe(signal)).toMatchObject({
      ok: false,
      error: { code: 'HRIS_AUTH', action: 'reauthorize' },
    });
    await revoked.close();
  });

  test('a field that is not there is told by the probe', async () => {
    const other = await open({ referenceField: 'customNowhere' });
    const outcome = await other.probe(signal);
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: 'HRIS_MISCONFIGURED', details: { fields: ['customNowhere'] } },
    });
    await other.close();
  });
});
