import { afterAll, beforeAll } from 'vitest';
import { bamboohrUnderTest } from './bamboohr-under-test.ts';
import { describeHris } from './conformance.ts';
import { type BambooDouble, startBambooDouble } from './counterparts/bamboohr-double.ts';

/** Without the vendor's document, which only `npm run test:hris` puts between. */
let double: BambooDouble;
beforeAll(async () => {
  double = await startBambooDouble();
});
afterAll(() => double?.close());

describeHris('bamboohr', () => bamboohrUnderTest(double, double.url));
