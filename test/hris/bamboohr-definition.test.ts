import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import { API_KEY, type BambooDouble, startBambooDouble } from '../../src/counterparts/bamboohr-double.ts';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import { bamboohrUnderTest } from './bamboohr-under-test.ts';
import { describeHris } from './conformance.ts';

const file = fileURLToPath(new URL('definitions/bamboohr.yaml', import.meta.url));
const text = await readFile(file, 'utf8');

function openDefined(url: string): Promise<HrisConnection> {
  return openHris('http', 'test-hr', { url, definition: { file, text }, apiKey: API_KEY, allowPrivateAddress: true });
}

let double: BambooDouble;
beforeAll(async () => {
  double = await startBambooDouble();
});
afterAll(() => double?.close());

describeHris('http: BambooHR', async () => {
  const hris = await bamboohrUnderTest(double, double.url, { open: openDefined, amends: /\/employees\/\d+$/ });
  const { custom: _custom, ...powers } = hris.powers ?? {};
  return {
    ...hris,
    powers,
    lacks: {
      ...hris.lacks,
      custom: 'the fields are those of the definition',
      rehire: 'active again takes the employee and a row of a table, and no row that ends them again',
    },
  };
});
